"""Runs the end-to-end tests of the SDK's own repository, unmodified, with Windlass as the CLI.

    python run_e2e.py CHECKOUT [PYTEST ARGUMENTS]

CHECKOUT is a working copy of the repository of the Python SDK. WINDLASS is the binary;
WINDLASS_SDK_CLI, if set, another CLI to prove the method with. See README.md.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import claude_agent_sdk
from e2e_model import start_model

BUNDLED_CLI = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"


def environment(folder, address):
    """The tests take the default model, so it is named here; folders are those of this run."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "CLAUDE", "WINDLASS"))
    }
    return {
        **kept,
        "HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "config"),
        "WINDLASS_HOME": str(folder / "windlass"),
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_MODEL": "claude-sonnet-4-5",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }


def main():
    checkout, *arguments = sys.argv[1:]
    cli = Path(os.environ.get("WINDLASS_SDK_CLI") or os.environ["WINDLASS"]).resolve()
    if BUNDLED_CLI.exists() or BUNDLED_CLI.is_symlink():
        BUNDLED_CLI.unlink()
    BUNDLED_CLI.symlink_to(cli)
    # The installed SDK and not the sources of the checkout, which may be another version.
    flags = ["-p", "anyio", "-o", "pythonpath=", "-q", "e2e-tests"]
    command = [sys.executable, "-m", "pytest", *flags, *arguments]
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "home").mkdir()
            tests = subprocess.run(command, cwd=checkout, env=environment(folder, start_model()))
    finally:
        BUNDLED_CLI.unlink()
    sys.exit(tests.returncode)


if __name__ == "__main__":
    main()
