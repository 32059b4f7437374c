"""Many sessions at once from one process: they share a store, and each of them is answered."""

import os

import pytest
from bench_channel import SCRIPT, run_sessions

# 200 by hand: SESSIONS=200 pytest test_many_sessions.py
SESSIONS = int(os.environ.get("SESSIONS", "40"))


@pytest.mark.windlass_only
async def test_sessions_at_once_are_all_answered(agent):
    agent.serve(SCRIPT)
    durations, failures = await run_sessions(agent, SESSIONS)
    assert failures == []
    assert len(durations) == SESSIONS
