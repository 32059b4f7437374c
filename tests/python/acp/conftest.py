"""Runs the cases: the binary under test, and a time limit for each."""

import asyncio
import inspect
import os

import pytest

TIME_LIMIT_SECONDS = 60


def pytest_configure():
    if "WINDLASS" not in os.environ:
        raise pytest.UsageError("set WINDLASS to the path of the windlass binary")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a coroutine case; one that hangs is a failure and not a hang of the suite."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def within_limit():
        async with asyncio.timeout(TIME_LIMIT_SECONDS):
            await pyfuncitem.obj(**arguments)

    asyncio.run(within_limit())
    return True


@pytest.fixture
def folder(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    return work
