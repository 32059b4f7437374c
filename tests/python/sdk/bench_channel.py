"""By hand: how long a program of an SDK waits for the binary, ours beside another.

    WINDLASS=target/release/windlass python bench_channel.py [--other CLI] [--sessions 200]

Start-up is measured from the spawn of the process: to the first `init` frame and to the first
request that reaches the model. A turn is measured from the user's line to the result, with a model
that answers at once; the time of the model alone is measured too. At the end, many sessions at
once from this one process, with the SDK. The model server is always Windlass.
"""

import argparse
import os
import resource
import statistics
import tempfile
import time
import urllib.request
from pathlib import Path

import anyio
from claude_agent_sdk import ResultMessage, query
from harness import MODEL, Agent
from raw_channel import RawChannel, control, is_result, user

SCRIPT = 'when any\n  say "ok"\n'
STARTS = 15
TURNS = 60
WARM_UP_TURNS = 5


def is_init(frame):
    return frame.get("subtype") == "init"


def milliseconds(samples):
    """Median and worst of a list of seconds."""
    return f"{statistics.median(samples) * 1000:8.1f} ms   (worst {max(samples) * 1000:.1f})"


def measure_start(agent):
    """Seconds from spawn to init and to the first request."""
    before = len(agent.requests)
    spawned = time.monotonic()
    with RawChannel(agent) as channel:
        channel.send(control("1", subtype="initialize"), user("go"))
        channel.receive(is_init)
        init = time.monotonic() - spawned
        channel.receive(is_result)
        channel.finish()
    return init, agent.requests[before].arrived - spawned


def measure_turns(agent):
    """Seconds of each turn of one session, without the first ones."""
    turns = []
    with RawChannel(agent) as channel:
        channel.watchdog.cancel()
        channel.send(control("1", subtype="initialize"))
        for _ in range(TURNS):
            started = time.monotonic()
            channel.send(user("go"))
            channel.receive(is_result)
            turns.append(time.monotonic() - started)
        channel.finish()
    return turns[WARM_UP_TURNS:]


def measure_model(address):
    """Seconds of one answer of the model alone."""
    body = b'{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"go"}]}'
    request = urllib.request.Request(f"{address}/v1/messages", data=body)
    samples = []
    for _ in range(TURNS):
        started = time.monotonic()
        urllib.request.urlopen(request).read()
        samples.append(time.monotonic() - started)
    return samples[WARM_UP_TURNS:]


async def run_sessions(agent, count):
    """Runs sessions at once; returns the seconds of each and how many failed."""
    durations, failures = [], []

    async def run_one():
        started = time.monotonic()
        try:
            results = [m async for m in query(prompt="go", options=agent.options())]
            assert isinstance(results[-1], ResultMessage) and results[-1].result == "ok"
            durations.append(time.monotonic() - started)
        except Exception as error:
            failures.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(run_one)
    return durations, failures


def report(name, cli, sessions):
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(Path(folder), cli)
        os.environ.update(agent.environment())
        agent.serve(SCRIPT)
        try:
            print(f"{name} ({MODEL}, model on loopback)")
            starts = [measure_start(agent) for _ in range(STARTS)]
            print(f"  spawn to init frame      {milliseconds([init for init, _ in starts])}")
            print(f"  spawn to first request   {milliseconds([first for _, first in starts])}")
            print(f"  one turn                 {milliseconds(measure_turns(agent))}")
            print(f"  the model alone          {milliseconds(measure_model(agent.servers[-1].address))}")
            report_sessions(agent, sessions)
        finally:
            agent.stop()


def report_sessions(agent, count):
    if count == 0:
        return
    started = time.monotonic()
    durations, failures = anyio.run(run_sessions, agent, count)
    total = time.monotonic() - started
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"  {count} sessions at once: {len(durations)} answered in {total:.1f} s, {len(failures)} failed")
    print(f"  largest process          {largest:8.1f} MB")
    for error in failures[:3]:
        print(f"    {type(error).__name__}: {error}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--other", help="another CLI to measure beside Windlass")
    parser.add_argument("--only-other", action="store_true", help="leave Windlass out")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--other-sessions", type=int, default=0)
    arguments = parser.parse_args()
    windlass = os.path.abspath(os.environ["WINDLASS"])
    os.environ["WINDLASS"] = windlass
    if not arguments.only_other:
        report("windlass", windlass, arguments.sessions)
    if arguments.other:
        report("other", os.path.abspath(arguments.other), arguments.other_sessions)


if __name__ == "__main__":
    main()
