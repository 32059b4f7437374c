"""What a session holds: its messages, its usage, and which files were read; in every process."""

from claude_agent_sdk import get_session_messages

WORK = """
when user is "read" and results 0
  usage in 1000 out 10
  call Read {"file_path": "a.txt"}

when user is "edit" and results 0
  call Edit {"file_path": "a.txt", "old_string": "one", "new_string": "two"}

when user is "edit unread" and results 0
  call Edit {"file_path": "b.txt", "old_string": "one", "new_string": "two"}

when any
  usage in 1000 out 10
  say "It said: ${result}"
"""


# spec: SDK-08
async def test_a_session_holds_messages_usage_and_the_files_that_were_read(agent):
    agent.serve(WORK)
    agent.write("a.txt", "one\n")
    agent.write("b.txt", "one\n")
    first = await agent.query("read")
    session = first.result.session_id
    again = {"resume": session, "permission_mode": "acceptEdits"}
    # Each of these is a process of its own.
    edit = await agent.query("edit", **again)
    assert (agent.project / "a.txt").read_text() == "two\n", edit.text
    unread = await agent.query("edit unread", **again)
    assert unread.tool_results[0].is_error and (agent.project / "b.txt").read_text() == "one\n"
    agent.write("a.txt", "one, by someone else\n")
    changed = await agent.query("edit", **again)
    assert changed.tool_results[0].is_error, "it has changed since it was read"
    assert "someone else" in (agent.project / "a.txt").read_text()

    costs = [run.result.total_cost_usd for run in (first, edit, unread, changed)]
    assert costs == sorted(set(costs)) and costs[0] > 0, "the usage of the session grows"
    stored = get_session_messages(session, directory=str(agent.project))
    prompts = [m.message["content"] for m in stored if isinstance(m.message["content"], str)]
    typed = prompts or [
        block["text"]
        for m in stored
        if m.type == "user"
        for block in m.message["content"]
        if block["type"] == "text"
    ]
    assert typed == ["read", "edit", "edit unread", "edit"]
    assert agent.requests[-1].messages_text().count("tool_result") >= 4, "the model knows them all"


async def test_a_client_asks_for_the_usage_of_its_session(agent):
    agent.serve(WORK)
    agent.write("a.txt", "one\n")
    async with agent.client() as client:
        await agent.ask(client, "read")
        usage = await client.get_context_usage()
        assert usage["totalTokens"] > 0
        run = await agent.ask(client, "something")
    assert run.result.total_cost_usd > 0
    assert run.result.usage["input_tokens"] > 0
