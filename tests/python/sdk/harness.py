"""What every case uses: an isolated agent, and the messages of a run."""

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)
from model_server import ModelServer

MODEL = "claude-sonnet-4-5"


@dataclass
class Run:
    """The messages of one run, in order, and the error that ended it."""

    messages: list = field(default_factory=list)
    error: Exception | None = None

    def of(self, kind):
        return [message for message in self.messages if isinstance(message, kind)]

    def system(self, subtype):
        """The payloads of the system messages of one subtype."""
        found = (m for m in self.messages if isinstance(m, SystemMessage))
        return [message.data for message in found if message.subtype == subtype]

    @property
    def init(self):
        return self.system("init")[0]

    @property
    def result(self):
        return self.of(ResultMessage)[-1]

    def blocks(self, kind):
        messages = self.of((AssistantMessage, UserMessage))
        lists = (m.content for m in messages if isinstance(m.content, list))
        return [block for blocks in lists for block in blocks if isinstance(block, kind)]

    @property
    def text(self):
        """The texts of the model, joined."""
        texts = (m for m in self.of(AssistantMessage) if m.parent_tool_use_id is None)
        return "".join(b.text for m in texts for b in m.content if isinstance(b, TextBlock))

    @property
    def tool_uses(self):
        return self.blocks(ToolUseBlock)

    @property
    def tool_results(self):
        return self.blocks(ToolResultBlock)


def result_text(block):
    """The text of a tool result, which is a string or a list of blocks."""
    if isinstance(block.content, list):
        return "\n".join(part.get("text", "") for part in block.content)
    return block.content or ""


class Agent:
    """An agent in folders of its own: project, home, configuration and state."""

    def __init__(self, root, cli):
        self.root = Path(root)
        self.cli = cli
        self.project = self.root / "project"
        self.home = self.root / "home"
        self.config = self.root / "config"
        self.servers = []
        for folder in (self.project, self.home, self.config):
            folder.mkdir(parents=True, exist_ok=True)

    def environment(self):
        """The variables that isolate the agent; also those of this process while a case runs."""
        return {
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "WINDLASS_HOME": str(self.root / "windlass"),
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }

    def serve(self, script):
        """Starts the model. A later call replaces it for the runs that follow."""
        folder = self.root / f"model-{len(self.servers)}"
        folder.mkdir()
        self.servers.append(ModelServer(script, folder))
        os.environ["ANTHROPIC_BASE_URL"] = self.servers[-1].address

    @property
    def requests(self):
        return self.servers[-1].requests()

    def stop(self):
        for server in self.servers:
            server.stop()

    def options(self, **options):
        defaults = {"cli_path": self.cli, "cwd": self.project, "model": MODEL}
        return ClaudeAgentOptions(**{**defaults, **options})

    def client(self, **options):
        return ClaudeSDKClient(self.options(**options))

    async def query(self, prompt, **options):
        """A one-shot run that must not end with an error."""
        run = await self.query_any(prompt, **options)
        if run.error is not None:
            raise run.error
        return run

    async def query_any(self, prompt, **options):
        """A one-shot run that may end with an error, which is part of the outcome."""
        run = Run()
        try:
            async for message in query(prompt=prompt, options=self.options(**options)):
                run.messages.append(message)
        except Exception as error:
            run.error = error
        return run

    async def ask(self, client, prompt):
        """One turn of a connected client."""
        await client.query(prompt)
        return await self.receive(client)

    @staticmethod
    async def receive(client):
        run = Run()
        async for message in client.receive_response():
            run.messages.append(message)
        return run

    def write(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, name):
        return (self.project / name).read_text(encoding="utf-8")

    def wrapped_cli(self):
        """A program that notes its process id and arguments and then becomes the CLI."""
        wrapper, notes = self.root / "cli", self.root / "cli-notes"
        notes.mkdir(exist_ok=True)
        quoted = shlex.quote(str(notes))
        lines = [
            "#!/bin/sh",
            f'printf "%s\\n" "$@" > {quoted}/$$',
            f"echo $$ > {quoted}/last",
            f'exec {shlex.quote(str(self.cli))} "$@"',
        ]
        wrapper.write_text("\n".join(lines) + "\n", encoding="utf-8")
        wrapper.chmod(0o755)
        return wrapper

    def last_process_id(self):
        return int((self.root / "cli-notes" / "last").read_text())


def user_message(text, **more):
    """A message of streaming input."""
    message = {"role": "user", "content": text}
    return {"type": "user", "message": message, "parent_tool_use_id": None, **more}


async def stream(*messages):
    for message in messages:
        yield message
