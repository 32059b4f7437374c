"""Every stable method, with the official Python library as the editor."""

import asyncio
import base64

import acp
import pytest
from acp import schema
from harness import open_session, send, start

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


# spec: EDITORS-01
async def test_says_what_it_can_do(folder):
    async with start(folder) as (connection, _, _):
        said = await connection.initialize(protocol_version=1)
        assert said.protocol_version == 1
        assert said.agent_info.name == "windlass"
        can = said.agent_capabilities
        assert can.load_session
        assert can.prompt_capabilities.image and can.prompt_capabilities.embedded_context
        assert not can.prompt_capabilities.audio
        assert [method.id for method in said.auth_methods] == ["api-key"]
        await connection.authenticate(method_id="api-key")
        with pytest.raises(acp.RequestError, match="unknown authentication method"):
            await connection.authenticate(method_id="magic")


# spec: EDITORS-02
async def test_text_arrives_as_chunks_once(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        answer = await send(connection, session, "hello there")
        assert answer.stop_reason == "end_turn"
        assert editor.text() == "You said hello there."
        assert len(editor.of_kind("agent_message_chunk")) > 1
        commands = editor.of_kind("available_commands_update")[0].available_commands
        assert "compact" in [command.name for command in commands]


# spec: EDITORS-02
async def test_images_links_and_resources_are_part_of_a_prompt(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        image = acp.image_block(base64.b64encode(PIXEL).decode(), "image/png")
        link = acp.resource_link_block("a.rs", f"file://{folder}/a.rs")
        text = acp.embedded_text_resource(f"file://{folder}/b.rs", "fn main() {}")
        blocks = [acp.text_block("look "), image, link, acp.resource_block(text)]
        answer = await connection.prompt(session_id=session, prompt=blocks)
        assert answer.stop_reason == "end_turn"
        assert f"[@a.rs]({folder}/a.rs)" in editor.text()
        with pytest.raises(acp.RequestError, match="audio is not supported"):
            await connection.prompt(session_id=session, prompt=[acp.audio_block("AA==", "audio/wav")])
        bad = acp.image_block("AA==", "image/tiff")
        with pytest.raises(acp.RequestError, match="cannot read image/tiff"):
            await connection.prompt(session_id=session, prompt=[bad])


# spec: EDITORS-03
async def test_a_change_is_asked_about_and_shown_as_a_diff(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        answer = await send(connection, session, "write it")
        assert answer.stop_reason == "end_turn"
        assert (folder / "note.txt").read_text() == "hello"
        call, options = editor.questions[0]
        assert call.status == "pending" and call.kind == "edit"
        assert call.content[0].path == str(folder / "note.txt")
        assert call.content[0].new_text == "hello"
        assert call.locations[0].path == str(folder / "note.txt")
        assert call.raw_input == {"file_path": "note.txt", "content": "hello"}
        kinds = {option.kind: option.name for option in options}
        assert kinds["allow_once"] == "Allow"
        assert kinds["allow_always"].startswith("Always allow ")
        assert kinds["reject_once"] == "Reject"
        start_update = editor.of_kind("tool_call")[0]
        states = [update.status for update in editor.of_kind("tool_call_update") if update.status]
        assert start_update.title == "Write note.txt"
        assert states[-1] == "completed"
        assert editor.of_kind("tool_call_update")[-1].raw_output["type"] == "create"


# spec: EDITORS-03
async def test_always_covers_the_next_call_and_reject_stops_one(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        editor.answer = "reject"
        await send(connection, session, "write it")
        assert not (folder / "note.txt").exists()
        assert editor.of_kind("tool_call_update")[-1].status == "failed"
        editor.answer = "allow_always"
        await send(connection, session, "write it")
        asked = len(editor.questions)
        await send(connection, session, "write it again")
        assert len(editor.questions) == asked


# spec: EDITORS-03
async def test_a_question_of_the_model_offers_its_choices(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        editor.answer = "choice-1"
        await send(connection, session, "choose one")
        call, options = editor.questions[0]
        assert call.title == "Which one?"
        assert [option.name for option in options][:2] == ["Left", "Right"]
        assert "Right" in editor.text()


# spec: EDITORS-02
async def test_the_task_list_is_the_plan(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        await send(connection, session, "tasks please")
        entries = editor.of_kind("plan")[0].entries
        assert [(entry.content, entry.status) for entry in entries] == [
            ("one", "completed"),
            ("doing two", "in_progress"),
        ]


# spec: EDITORS-04
async def test_modes_and_the_model_can_be_chosen(folder):
    async with start(folder) as (connection, editor, _):
        opened = await connection.new_session(cwd=str(folder), mcp_servers=[])
        session = opened.session_id
        assert opened.modes.current_mode_id == "default"
        modes = [mode.id for mode in opened.modes.available_modes]
        assert {"default", "acceptEdits", "plan"} <= set(modes)
        assert [option.id for option in opened.config_options] == ["mode", "model"]
        await connection.set_session_mode(session_id=session, mode_id="acceptEdits")
        await send(connection, session, "write it")
        assert editor.questions == []
        with pytest.raises(acp.RequestError, match="unknown mode"):
            await connection.set_session_mode(session_id=session, mode_id="yolo")
        options = await connection.set_config_option(
            session_id=session, config_id="mode", value="plan"
        )
        assert options.config_options[0].current_value == "plan"
        await connection.set_config_option(session_id=session, config_id="model", value="default")
        with pytest.raises(acp.RequestError, match="unknown option"):
            await connection.set_config_option(session_id=session, config_id="x", value="y")


# spec: EDITORS-05
async def test_cancel_ends_a_turn_also_while_a_question_is_open(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        turn = asyncio.create_task(send(connection, session, "forever"))
        while not editor.of_kind("agent_message_chunk"):
            await asyncio.sleep(0.02)
        await connection.cancel(session_id=session)
        await connection.cancel(session_id=session)
        assert (await turn).stop_reason == "cancelled"
        editor.answer = "never"
        turn = asyncio.create_task(send(connection, session, "write it"))
        while not editor.questions:
            await asyncio.sleep(0.02)
        await connection.cancel(session_id=session)
        assert (await turn).stop_reason == "cancelled"
        assert not (folder / "note.txt").exists()


# spec: EDITORS-06
async def test_a_session_is_listed_loaded_resumed_closed_and_deleted(folder):
    async with start(folder) as (connection, editor, _):
        session = await open_session(folder, connection)
        await send(connection, session, "write it")
        await connection.close_session(session_id=session)
        with pytest.raises(acp.RequestError, match="no session"):
            await send(connection, session, "hello")
    async with start(folder) as (connection, editor, _):
        listed = await connection.list_sessions(cwd=str(folder))
        assert [entry.session_id for entry in listed.sessions] == [session]
        assert listed.sessions[0].title == "write it"
        await connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        assert editor.of_kind("user_message_chunk")[0].content.text == "write it"
        assert editor.of_kind("tool_call")[0].title == "Write note.txt"
        assert editor.of_kind("tool_call_update")[0].status == "completed"
        assert editor.text().startswith("It said: created ")
        assert (await send(connection, session, "hello")).stop_reason == "end_turn"
        shown = len(editor.of_kind("user_message_chunk"))
        await connection.resume_session(cwd=str(folder), session_id=session, mcp_servers=[])
        assert len(editor.of_kind("user_message_chunk")) == shown
        await connection._conn.send_request("session/delete", {"sessionId": session})
        assert (await connection.list_sessions(cwd=str(folder))).sessions == []
        with pytest.raises(acp.RequestError, match="no session"):
            await connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])


# spec: EDITORS-07
async def test_a_killed_agent_continues_and_asks_about_the_lost_call(folder):
    async with start(folder) as (connection, editor, process):
        session = await open_session(folder, connection)
        turn = asyncio.create_task(send(connection, session, "run it"))
        while not (folder / "started.txt").exists():
            await asyncio.sleep(0.02)
        process.kill()
        await process.wait()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
    async with start(folder, more=("--lease-ms", "1000", "--beat-ms", "200")) as (connection, editor, _):
        await connection.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        assert "was interrupted" in editor.text()
        editor.answer = "reject"
        answer = await send(connection, session, "go on")
        assert answer.stop_reason == "end_turn"
        call, options = editor.questions[0]
        assert "not known whether" in call.title
        assert [option.name for option in options] == ["Run it again", "Leave it as it is"]
        assert (folder / "started.txt").read_text() == "started\n"


# spec: EDITORS-08
async def test_unsaved_text_counts_and_changes_go_through_the_editor(folder):
    (folder / "open.txt").write_text("saved\n")
    async with start(folder, files=True) as (connection, editor, _):
        session = await open_session(folder, connection)
        editor.open_files["open.txt"] = "typed\n"
        await send(connection, session, "read it")
        assert "typed" in editor.text()
        assert (folder / "open.txt").read_text() == "saved\n"
        editing = await open_session(folder, connection)
        await send(connection, editing, "edit it")
        assert editor.text().endswith("Edited.")
        assert editor.open_files["open.txt"] == "changed\n"
        assert (folder / "open.txt").read_text() == "changed\n"


# spec: EDITORS-09
async def test_servers_of_the_editor_are_reported(folder):
    server = schema.SseMcpServer(type="sse", name="tickets", url="http://[::1]:1/", headers=[])
    async with start(folder) as (connection, editor, _):
        opened = await connection.new_session(cwd=str(folder), mcp_servers=[server])
        await send(connection, opened.session_id, "hello")
        assert "MCP servers are not connected: tickets" in editor.text()


# spec: EDITORS-05
async def test_two_sessions_work_at_once_and_prompts_of_one_wait(folder):
    async with start(folder) as (connection, editor, _):
        first = await open_session(folder, connection)
        second = await open_session(folder, connection)
        slow = asyncio.create_task(send(connection, first, "forever"))
        behind = asyncio.create_task(send(connection, first, "hello behind"))
        assert (await send(connection, second, "hello")).stop_reason == "end_turn"
        assert not slow.done()
        assert (await slow).stop_reason == "end_turn"
        assert (await behind).stop_reason == "end_turn"
        with pytest.raises(acp.RequestError, match="no session"):
            await send(connection, "00000000-0000-7000-8000-000000000000", "hello")
        with pytest.raises(acp.RequestError, match="is not a folder"):
            await connection.new_session(cwd=str(folder / "missing"), mcp_servers=[])
