"""Sessions on disk: resume, continue, fork, and the SDK's own helpers."""

import json

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    InMemorySessionStore,
    ProcessError,
    delete_session,
    fork_session,
    get_session_info,
    get_session_messages,
    list_sessions,
    project_key_for_directory,
    rename_session,
    tag_session,
)
from claude_agent_sdk import (
    get_session_messages_from_store,
    list_sessions_from_store,
)
from harness import stream, user_message

ECHO = """
when user contains "alpha"
  say "answer 1"

when user contains "beta"
  say "answer 2"

when user contains "gamma"
  say "answer 3"

when any
  say "answer"
"""


def transcript(agent, session):
    return agent.config / "projects" / project_key_for_directory(agent.project) / f"{session}.jsonl"


def texts(messages):
    """Roles and texts of stored messages, tool traffic left out."""
    found = []
    for message in messages:
        content = message.message["content"]
        if isinstance(content, list):
            content = "".join(block.get("text", "") for block in content)
        found.append((message.type, content))
    return found


async def test_resume(agent):
    agent.serve(ECHO)
    first = await agent.query("alpha")
    second = await agent.query("beta", resume=first.result.session_id)
    assert second.text == "answer 2"
    assert second.result.session_id == first.result.session_id
    assert "answer 1" in agent.requests[-1].messages_text()
    assert second.result.num_turns == 1
    assert second.result.total_cost_usd > first.result.total_cost_usd


async def test_resume_of_an_unknown_session(agent):
    agent.serve(ECHO)
    unknown = "11111111-2222-4333-8444-555555555555"
    run = await agent.query_any("beta", resume=unknown)
    assert isinstance(run.error, ProcessError)
    assert unknown in str(run.error)
    assert agent.requests == []


async def test_resume_in_a_client(agent):
    agent.serve(ECHO)
    first = await agent.query("alpha")
    async with agent.client(resume=first.result.session_id) as client:
        second = await agent.ask(client, "beta")
        third = await agent.ask(client, "gamma")
    assert second.result.session_id == third.result.session_id == first.result.session_id
    history = agent.requests[-1].messages_text()
    assert "answer 1" in history and "answer 2" in history


async def test_continue_takes_the_newest_of_the_folder(agent):
    agent.serve(ECHO)
    await agent.query("alpha")
    newest = await agent.query("beta")
    elsewhere = agent.root / "elsewhere"
    elsewhere.mkdir()
    await agent.query("gamma", cwd=elsewhere)
    run = await agent.query("go on", continue_conversation=True)
    assert run.result.session_id == newest.result.session_id
    history = agent.requests[-1].messages_text()
    assert "answer 2" in history and "answer 1" not in history and "answer 3" not in history


async def test_fork(agent):
    agent.serve(ECHO)
    first = await agent.query("alpha")
    fork = await agent.query("beta", resume=first.result.session_id, fork_session=True)
    assert fork.result.session_id != first.result.session_id
    assert "answer 1" in agent.requests[-1].messages_text()
    directory = str(agent.project)
    assert len(get_session_messages(first.result.session_id, directory=directory)) == 2
    assert len(get_session_messages(fork.result.session_id, directory=directory)) == 4


async def test_fork_with_a_chosen_id(agent):
    agent.serve(ECHO)
    first = await agent.query("alpha")
    chosen = "22222222-3333-4444-8555-666666666666"
    options = {"resume": first.result.session_id, "fork_session": True, "session_id": chosen}
    fork = await agent.query("beta", **options)
    assert fork.result.session_id == chosen


async def two_turns(agent):
    """A session of two turns, and the ids of its first answer and of its second prompt."""
    agent.serve(ECHO)
    prompts = [user_message("alpha"), user_message("beta")]
    run = await agent.query(stream(*prompts))
    session = run.result.session_id
    stored = get_session_messages(session, directory=str(agent.project))
    answer = run.of(AssistantMessage)[0]
    assert answer.uuid in [message.uuid for message in stored]
    [prompt] = [m for m in stored if m.type == "user" and "beta" in json.dumps(m.message)]
    return session, answer.uuid, prompt.uuid


async def test_resume_at_a_message(agent):
    session, answer, _ = await two_turns(agent)
    run = await agent.query("gamma", resume=session, resume_session_at=answer, fork_session=True)
    assert run.text == "answer 3"
    history = agent.requests[-1].messages_text()
    assert "answer 1" in history and "answer 2" not in history


async def test_resume_at_a_message_that_drops_a_turn(agent):
    session, answer, prompt = await two_turns(agent)
    options = {"resume": session, "resume_session_at": answer, "fork_session": True}
    run = await agent.query("gamma", resume_drops_turn=prompt, **options)
    assert run.text == "answer 3"
    assert "answer 2" not in agent.requests[-1].messages_text()


async def test_resume_that_would_drop_another_turn_is_rejected(agent):
    session, answer, _ = await two_turns(agent)
    before = len(agent.requests)
    options = {"resume": session, "resume_session_at": answer}
    wrong = "33333333-4444-4555-8666-777777777777"
    run = await agent.query_any("gamma", resume_drops_turn=wrong, **options)
    assert isinstance(run.error, ProcessError)
    assert "Resume rejected by --resume-drops-turn:" in str(run.error)
    assert len(agent.requests) == before


async def test_list_sessions(agent):
    agent.serve(ECHO)
    first = await agent.query("alpha is the first prompt")
    second = await agent.query("beta is the second prompt")
    infos = list_sessions(directory=str(agent.project))
    assert [info.session_id for info in infos] == [second.result.session_id, first.result.session_id]
    assert infos[1].first_prompt == "alpha is the first prompt"
    assert infos[1].summary == "alpha is the first prompt"
    assert infos[0].cwd == str(agent.project)
    assert infos[0].created_at and infos[0].last_modified >= infos[0].created_at
    info = get_session_info(first.result.session_id, directory=str(agent.project))
    assert info.session_id == first.result.session_id


async def test_session_messages(agent):
    agent.write("a.txt", "content of a\n")
    agent.serve(
        """
        when results 0
          say "Looking."
          call Read as toolu_read {"file_path": "%s"}

        when any
          say "Read it."
        """ % (agent.project / "a.txt")
    )
    run = await agent.query("read it")
    stored = get_session_messages(run.result.session_id, directory=str(agent.project))
    assert [message.type for message in stored] == ["user", "assistant", "assistant", "user", "assistant"]
    assert "read it" in json.dumps(stored[0].message)
    blocks = [block for message in stored[1:3] for block in message.message["content"]]
    assert [block["type"] for block in blocks] == ["text", "tool_use"]
    assert stored[3].message["content"][0]["tool_use_id"] == "toolu_read"
    streamed = [message.uuid for message in run.of(AssistantMessage)]
    assert [m.uuid for m in stored if m.type == "assistant"] == streamed


async def test_transcript_entries(agent):
    agent.serve(ECHO)
    run = await agent.query("alpha")
    session = run.result.session_id
    lines = transcript(agent, session).read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    messages = [entry for entry in entries if entry["type"] in ("user", "assistant")]
    assert messages[0]["parentUuid"] is None or messages[0]["parentUuid"] in {e.get("uuid") for e in entries}
    for entry in messages:
        assert entry["sessionId"] == session
        assert entry["isSidechain"] is False
        assert entry["cwd"] == str(agent.project)
        assert entry["userType"] == "external"
        assert entry["timestamp"].endswith("Z")
        assert entry["version"] and "gitBranch" in entry
    assert messages[-1]["message"]["stop_reason"] == "end_turn"
    assert any('"type":"user"' in line for line in lines)


async def test_rename_and_tag(agent):
    agent.serve(ECHO)
    run = await agent.query("alpha")
    session, directory = run.result.session_id, str(agent.project)
    rename_session(session, "the first one", directory=directory)
    tag_session(session, "important", directory=directory)
    info = get_session_info(session, directory=directory)
    assert (info.custom_title, info.summary, info.tag) == ("the first one", "the first one", "important")
    again = await agent.query("beta", resume=session)
    assert again.result.session_id == session
    info = get_session_info(session, directory=directory)
    assert (info.custom_title, info.tag) == ("the first one", "important")


async def test_resume_by_title(agent):
    agent.serve(ECHO)
    run = await agent.query("alpha")
    rename_session(run.result.session_id, "a title of mine", directory=str(agent.project))
    again = await agent.query("beta", resume="a title of mine")
    assert again.result.session_id == run.result.session_id


async def test_delete(agent):
    agent.serve(ECHO)
    run = await agent.query("alpha")
    session, directory = run.result.session_id, str(agent.project)
    delete_session(session, directory=directory)
    assert list_sessions(directory=directory) == []
    gone = await agent.query_any("beta", resume=session)
    assert isinstance(gone.error, ProcessError)


async def test_fork_by_the_helper_can_be_resumed(agent):
    agent.serve(ECHO)
    run = await agent.query("alpha")
    forked = fork_session(run.result.session_id, directory=str(agent.project))
    again = await agent.query("beta", resume=forked.session_id)
    assert again.result.session_id == forked.session_id
    assert "answer 1" in agent.requests[-1].messages_text()


async def test_transcript_of_unknown_origin_is_imported(agent):
    agent.serve(ECHO)
    run = await agent.query("alpha")
    old, new = run.result.session_id, "44444444-5555-4666-8777-888888888888"
    text = transcript(agent, old).read_text(encoding="utf-8")
    transcript(agent, new).write_text(text.replace(old, new), encoding="utf-8")
    again = await agent.query("beta", resume=new)
    assert again.result.session_id == new
    assert "answer 1" in agent.requests[-1].messages_text()


async def test_store_mirrors_the_transcript(agent):
    agent.serve(ECHO)
    store = InMemorySessionStore()
    run = await agent.query("alpha", session_store=store)
    session = run.result.session_id
    key = project_key_for_directory(agent.project)
    entries = await store.load({"project_key": key, "session_id": session})
    kinds = [entry["type"] for entry in entries]
    assert "user" in kinds and "assistant" in kinds
    stored = await get_session_messages_from_store(store, session, directory=str(agent.project))
    assert texts(stored) == [("user", "alpha"), ("assistant", "answer 1")]
    [info] = await list_sessions_from_store(store, directory=str(agent.project))
    assert info.session_id == session


async def test_resume_from_a_store(agent):
    agent.serve(ECHO)
    store = InMemorySessionStore()
    first = await agent.query("alpha", session_store=store)
    transcript(agent, first.result.session_id).unlink()
    second = await agent.query("beta", session_store=store, resume=first.result.session_id)
    assert second.result.session_id == first.result.session_id
    assert "answer 1" in agent.requests[-1].messages_text()
    stored = await get_session_messages_from_store(
        store, first.result.session_id, directory=str(agent.project)
    )
    assert [text for _, text in texts(stored)] == ["alpha", "answer 1", "beta", "answer 2"]


@pytest.mark.parametrize("flush", ["batched", "eager"])
async def test_store_has_the_turn_before_its_result(agent, flush):
    agent.serve(ECHO)
    store = InMemorySessionStore()
    key = project_key_for_directory(agent.project)
    options = {"session_store": store, "session_store_flush": flush}
    async with agent.client(**options) as client:
        run = await agent.ask(client, "alpha")
        entries = await store.load({"project_key": key, "session_id": run.result.session_id})
        assert "answer 1" in json.dumps(entries)
        await agent.ask(client, "beta")


async def test_compact_and_go_on(agent):
    agent.serve(
        """
        when user contains "alpha"
          once
          say "answer 1"

        when user contains "beta"
          say "answer 2"

        when any
          say "<summary>They counted.</summary>"
        """
    )
    async with agent.client() as client:
        await agent.ask(client, "alpha")
        compacted = await agent.ask(client, "/compact")
        requests_before = len(agent.requests)
        after = await agent.ask(client, "beta")
    # It is compacted when that is asked for, not by the next prompt.
    assert len(agent.requests) == requests_before + 1
    [boundary] = compacted.system("compact_boundary")
    metadata = boundary["compact_metadata"]
    assert (metadata["trigger"], metadata["pre_tokens"] > 0) == ("manual", True)
    statuses = compacted.system("status")
    assert [s["status"] for s in statuses if s["status"]] == ["compacting"]
    assert [s["compact_result"] for s in statuses if "compact_result" in s] == ["success"]
    assert (compacted.result.subtype, compacted.result.num_turns) == ("success", 0)
    assert not compacted.result.is_error
    assert after.text == "answer 2"
    history = agent.requests[-1].messages_text()
    assert "They counted." in history
    resumed = await agent.query("beta", resume=after.result.session_id)
    assert resumed.text == "answer 2"
    assert "They counted." in agent.requests[-1].messages_text()


@pytest.mark.windlass_only
async def test_compact_without_a_conversation(agent):
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        compacted = await agent.ask(client, "/compact")
        after = await agent.ask(client, "one")
    assert "nothing to compact" in compacted.result.result.lower()
    assert compacted.system("compact_boundary") == []
    assert not compacted.result.is_error
    assert after.text == "ok"


@pytest.mark.windlass_only
async def test_compact_of_a_resumed_session(agent):
    agent.serve(
        """
        when user contains "beta"
          say "answer 2"

        when any
          say "<summary>They counted.</summary>"
        """
    )
    first = await agent.query("alpha")
    session = first.result.session_id
    async with agent.client(resume=session) as client:
        compacted = await agent.ask(client, "/compact keep the names")
    [boundary] = compacted.system("compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"
    assert "keep the names" in agent.requests[-1].messages_text()
    resumed = await agent.query("beta", resume=session)
    assert "They counted." in agent.requests[-1].messages_text()
    assert resumed.text == "answer 2"
