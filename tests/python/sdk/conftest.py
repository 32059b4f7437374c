"""Runs the cases: the binary under test, isolation, and a time limit for each."""

import inspect
import os

import anyio
import pytest
from harness import Agent

TIME_LIMIT_SECONDS = 60
FOREIGN_PREFIXES = ("ANTHROPIC_", "CLAUDE", "WINDLASS_")


def pytest_configure():
    if "WINDLASS" not in os.environ:
        raise pytest.UsageError("set WINDLASS to the path of the windlass binary")


def reference_cli():
    """Another CLI to run the cases with, to prove the cases themselves."""
    return os.environ.get("WINDLASS_SDK_CLI")


def pytest_collection_modifyitems(items):
    if reference_cli() is None:
        return
    skip = pytest.mark.skip(reason="only Windlass promises this")
    for item in items:
        if item.get_closest_marker("windlass_only"):
            item.add_marker(skip)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a coroutine case; one that hangs is a failure and not a hang of the suite."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    anyio.run(run_within_limit, pyfuncitem.obj, arguments)
    return True


async def run_within_limit(case, arguments):
    with anyio.fail_after(TIME_LIMIT_SECONDS):
        await case(**arguments)


@pytest.fixture
def agent(tmp_path, monkeypatch):
    cli = reference_cli() or os.environ["WINDLASS"]
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES):
            monkeypatch.delenv(name)
    agent = Agent(tmp_path, os.path.abspath(cli))
    for name, value in agent.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    yield agent
    agent.stop()
