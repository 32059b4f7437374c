"""An editor made with the official Python library, with the real binary as its agent."""

import asyncio
import os
from contextlib import asynccontextmanager

import acp
from acp import schema

SCRIPT = """
when user contains "write" and results 0
  call Write {"file_path": "note.txt", "content": "hello"}

when user contains "write"
  say "It said: ${result}"

when user contains "edit" and results 0
  call Read {"file_path": "open.txt"}

when user contains "edit" and result contains "typed"
  call Edit {"file_path": "open.txt", "old_string": "typed", "new_string": "changed"}

when user contains "edit"
  say "Edited."

when user contains "read" and results 0
  call Read {"file_path": "open.txt"}

when user contains "read"
  say "It has: ${result}"

when user contains "tasks" and results 0
  call TodoWrite {"todos": [{"content": "one", "status": "completed", "activeForm": "doing one"}, {"content": "two", "status": "in_progress", "activeForm": "doing two"}]}

when user contains "tasks"
  say "Listed."

when user contains "run" and results 0
  call Bash {"command": "echo started >> started.txt; sleep 30; echo ended >> started.txt", "description": "Waits"}

when user contains "run"
  say "Ran: ${result}"

when user contains "choose" and results 0
  call AskUserQuestion {"questions": [{"question": "Which one?", "header": "One", "multiSelect": false, "options": [{"label": "Left", "description": "the left one"}, {"label": "Right", "description": "the right one"}]}]}

when user contains "choose"
  say "Chosen: ${result}"

when user contains "forever"
  pace 100ms
  say "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"

when any
  say "You said ${user}."
"""


class Editor(acp.Client):
    """Records what the agent shows, and answers what it asks."""

    def __init__(self):
        self.updates = []
        self.questions = []
        self.answer = "allow"
        self.open_files = {}
        self.agent = None

    def on_connect(self, conn):
        self.agent = conn

    async def request_permission(self, session_id, tool_call, options, **kwargs):
        self.questions.append((tool_call, options))
        answer = self.answer
        if answer == "never":
            await asyncio.Event().wait()
        if answer is None:
            return schema.RequestPermissionResponse(
                outcome=schema.DeniedOutcome(outcome="cancelled")
            )
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=answer)
        )

    async def session_update(self, session_id, update, **kwargs):
        self.updates.append(update)

    async def read_text_file(self, session_id, path, line=None, limit=None, **kwargs):
        name = os.path.basename(path)
        if name not in self.open_files:
            raise acp.RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.open_files[name])

    async def write_text_file(self, session_id, path, content, **kwargs):
        self.open_files[os.path.basename(path)] = content
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return schema.WriteTextFileResponse()

    def kinds(self):
        return [update.session_update for update in self.updates]

    def of_kind(self, kind):
        return [update for update in self.updates if update.session_update == kind]

    def text(self):
        chunks = self.of_kind("agent_message_chunk")
        return "".join(chunk.content.text for chunk in chunks)


@asynccontextmanager
async def start(folder, files=False, more=()):
    """Starts the agent in a folder of its own; its store outlives it."""
    home = folder.parent
    script = home / "a.script"
    script.write_text(SCRIPT, encoding="utf-8")
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(home / "user"),
        "WINDLASS_HOME": str(home / "home"),
    }
    editor = Editor()
    arguments = ["acp", "--script", str(script), "--store", str(home / "w.db"), *more]
    async with acp.spawn_agent_process(
        editor, os.environ["WINDLASS"], *arguments, env=variables, cwd=str(home)
    ) as (connection, process):
        offered = schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=files, write_text_file=files),
        )
        await connection.initialize(protocol_version=1, client_capabilities=offered)
        yield connection, editor, process


async def open_session(folder, connection):
    session = await connection.new_session(cwd=str(folder), mcp_servers=[])
    return session.session_id


async def send(connection, session_id, text):
    return await connection.prompt(session_id=session_id, prompt=[acp.text_block(text)])
