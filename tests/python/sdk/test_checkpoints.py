"""File checkpointing and rewind."""

import pytest
from claude_agent_sdk import UserMessage
from harness import stream, user_message

OPTIONS = {
    "enable_file_checkpointing": True,
    "permission_mode": "acceptEdits",
    "extra_args": {"replay-user-messages": None},
}


def edit_script(agent):
    old, new = agent.project / "old.txt", agent.project / "new.txt"
    return """
        when user contains "first change" and results 0
          call Read {"file_path": "%(old)s"}

        when user contains "first change" and result of Read
          call Write {"file_path": "%(old)s", "content": "first\\n"}
          call Write {"file_path": "%(new)s", "content": "created\\n"}

        when user contains "second change" and results 0
          call Edit {"file_path": "%(old)s", "old_string": "first", "new_string": "second"}

        when any
          say "changed"
        """ % {"old": old, "new": new}


def prompt_uuid(run):
    """The uuid of the prompt, which the replayed message reveals."""
    replayed = [m for m in run.of(UserMessage) if m.uuid and "change" in str(m.content)]
    return replayed[0].uuid


async def test_rewind_restores_and_removes(agent):
    agent.write("old.txt", "original\n")
    agent.serve(edit_script(agent))
    async with agent.client(**OPTIONS) as client:
        first = await agent.ask(client, "first change")
        second = await agent.ask(client, "second change")
        assert agent.read("old.txt") == "second\n"
        await client.rewind_files(prompt_uuid(second))
        assert agent.read("old.txt") == "first\n"
        assert agent.read("new.txt") == "created\n"
        await client.rewind_files(prompt_uuid(first))
        assert agent.read("old.txt") == "original\n"
        assert not (agent.project / "new.txt").exists()


async def test_rewind_in_a_resumed_session(agent):
    agent.write("old.txt", "original\n")
    agent.serve(edit_script(agent))
    uuid = "55555555-6666-4777-8888-999999999999"
    run = await agent.query(stream(user_message("first change", uuid=uuid)), **OPTIONS)
    assert agent.read("old.txt") == "first\n"
    async with agent.client(resume=run.result.session_id, **OPTIONS) as client:
        await client.rewind_files(uuid)
    assert agent.read("old.txt") == "original\n"


async def test_rewind_to_an_unknown_message_is_an_error(agent):
    agent.serve(edit_script(agent))
    async with agent.client(**OPTIONS) as client:
        await agent.ask(client, "hello")
        with pytest.raises(Exception):
            await client.rewind_files("66666666-7777-4888-8999-000000000000")
        run = await agent.ask(client, "hello")
    assert run.text == "changed"


async def test_rewind_needs_checkpointing(agent):
    agent.serve(edit_script(agent))
    options = {**OPTIONS, "enable_file_checkpointing": False}
    async with agent.client(**options) as client:
        run = await agent.ask(client, "no change")
        with pytest.raises(Exception):
            await client.rewind_files(prompt_uuid(run))
