"""What Windlass promises beyond the reference: a killed binary loses and repeats nothing."""

import os
import signal

import anyio
import pytest
from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    get_session_messages,
    query,
    tool,
)

SIDE_EFFECT = """
when results 0 and ask 1
  call Bash as toolu_pay {"command": "echo paid >> ledger.txt; touch started; sleep 60"}

when results 1+
  say "After the call: ${result}"

when any
  say "I go on."
"""


async def exists(path):
    while not path.exists():
        await anyio.sleep(0.02)


async def kill_when(agent, prompt, condition, **options):
    """Runs until a condition holds and the session's id is known, then kills the binary; returns
    the id."""
    session = None
    named = anyio.Event()
    options = agent.options(cli_path=agent.wrapped_cli(), **options)

    async def kill():
        await condition()
        await named.wait()
        os.kill(agent.last_process_id(), signal.SIGKILL)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kill)
        try:
            async for message in query(prompt=prompt, options=options):
                session = getattr(message, "data", {}).get("session_id") or session
                if session:
                    named.set()
        except Exception as error:
            assert session, error
        tasks.cancel_scope.cancel()
    return session


class Callback:
    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def __call__(self, name, tool_input, context):
        self.asked.append((name, tool_input, context))
        return self.answer


async def killed_in_a_side_effect(agent):
    agent.serve(SIDE_EFFECT)
    started = agent.project / "started"
    session = await kill_when(agent, "pay", lambda: exists(started), allowed_tools=["Bash"])
    assert agent.read("ledger.txt") == "paid\n"
    return session


@pytest.mark.windlass_only
async def test_an_interrupted_call_is_a_question(agent):
    session = await killed_in_a_side_effect(agent)
    callback = Callback(PermissionResultDeny(message="it was paid, I looked"))
    run = await agent.query("go on", resume=session, can_use_tool=callback, allowed_tools=["Bash(ls:*)"])
    [(name, tool_input, context)] = callback.asked
    assert (name, context.tool_use_id) == ("Bash", "toolu_pay")
    assert "ledger.txt" in tool_input["command"]
    assert context.decision_reason
    assert agent.read("ledger.txt") == "paid\n"
    assert run.result.session_id == session
    assert not run.result.is_error


@pytest.mark.windlass_only
async def test_an_interrupted_call_runs_again_only_if_allowed(agent):
    session = await killed_in_a_side_effect(agent)
    agent.serve(SIDE_EFFECT.replace("; touch started; sleep 60", ""))
    short = {"command": "echo paid >> ledger.txt"}
    callback = Callback(PermissionResultAllow(updated_input=short))
    run = await agent.query("go on", resume=session, can_use_tool=callback)
    assert [context.tool_use_id for _, _, context in callback.asked] == ["toolu_pay"]
    assert agent.read("ledger.txt") == "paid\npaid\n"
    assert not run.result.is_error


@pytest.mark.windlass_only
async def test_without_a_callback_the_interrupted_call_is_denied_with_an_explanation(agent):
    session = await killed_in_a_side_effect(agent)
    run = await agent.query("go on", resume=session, allowed_tools=["Bash"])
    assert agent.read("ledger.txt") == "paid\n"
    history = agent.requests[-1].messages_text()
    assert "toolu_pay" in history
    assert not run.result.is_error


@pytest.mark.windlass_only
async def test_an_interrupted_tool_of_the_program_is_not_called_again(agent):
    called = anyio.Event()
    calls = []

    @tool("pay", "Pays", {"amount": int})
    async def pay(arguments):
        calls.append(arguments)
        called.set()
        await anyio.sleep(3600)

    agent.serve(
        """
        when results 0 and ask 1
          call mcp__bank__pay as toolu_pay {"amount": 7}

        when any
          say "I go on."
        """
    )
    servers = {"bank": create_sdk_mcp_server("bank", tools=[pay])}
    options = {"mcp_servers": servers, "allowed_tools": ["mcp__bank"]}
    with anyio.move_on_after(30):
        session = await kill_when(agent, "pay", called.wait, **options)
    callback = Callback(PermissionResultDeny(message="it was paid"))
    run = await agent.query("go on", resume=session, mcp_servers=servers, can_use_tool=callback)
    assert [context.tool_use_id for _, _, context in callback.asked] == ["toolu_pay"]
    assert len(calls) == 1
    assert not run.result.is_error


async def test_a_finished_call_is_not_repeated(agent):
    agent.serve(
        """
        when results 0 and ask 1
          call Bash as toolu_pay {"command": "echo paid >> ledger.txt"}

        when user contains "go on"
          say "I go on."

        when any
          once
          delay 30s
          say "too late"

        when any
          say "Where was I."
        """
    )

    async def second_request():
        while len(agent.requests) < 2:
            await anyio.sleep(0.02)

    session = await kill_when(agent, "pay", second_request, allowed_tools=["Bash"])
    run = await agent.query("go on", resume=session, allowed_tools=["Bash"])
    assert agent.read("ledger.txt") == "paid\n"
    assert "toolu_pay" in agent.requests[-1].messages_text()
    assert run.text.endswith("I go on.")


@pytest.mark.windlass_only
async def test_a_prompt_survives_a_kill(agent):
    agent.serve(
        """
        when user contains "go on"
          say "I go on."

        when any
          once
          delay 30s
          say "too late"

        when any
          say "Where was I."
        """
    )

    async def first_request():
        while not agent.requests:
            await anyio.sleep(0.02)

    session = await kill_when(agent, "remember the milk", first_request)
    run = await agent.query("go on", resume=session)
    assert run.text.endswith("I go on.")
    assert "remember the milk" in agent.requests[-1].messages_text()
    stored = get_session_messages(session, directory=str(agent.project))
    assert "remember the milk" in str(stored[0].message)


@pytest.mark.windlass_only
async def test_a_session_survives_many_kills(agent):
    """Each call writes its own number; a number that stands there twice ran twice."""
    agent.serve(
        """
        when user contains "pay" and results 0
          call Bash {"command": "echo ${ask} >> ledger.txt"}

        when any
          say "done"
        """
    )
    session = await pay_and_kill(agent, None)
    for _ in range(3):
        await pay_and_kill(agent, session)
    deny = Callback(PermissionResultDeny(message="look at the ledger"))
    run = await agent.query("finish", resume=session, can_use_tool=deny)
    assert not run.result.is_error
    lines = agent.read("ledger.txt").splitlines()
    assert len(lines) >= 2
    assert len(set(lines)) == len(lines), lines


async def pay_and_kill(agent, session):
    """One prompt, and a kill as soon as the ledger has a new line."""
    ledger = agent.project / "ledger.txt"
    before = len(ledger.read_text()) if ledger.exists() else 0

    async def has_grown():
        while not ledger.exists() or len(ledger.read_text()) == before:
            await anyio.sleep(0.002)

    return await kill_when(agent, "pay", has_grown, allowed_tools=["Bash"], resume=session)
