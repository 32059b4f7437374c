"""Rules, modes and the permission callback."""

import pytest
from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ResultError,
    UserMessage,
)
from claude_agent_sdk.types import PermissionRuleValue
from harness import result_text, stream, user_message

TOUCH = """
when results 0
  call Bash as toolu_touch {"command": "touch made.txt", "description": "make a file"}

when error
  say "It did not work: ${result}"

when any
  say "It worked."
"""


def write_script(agent, name="new.txt"):
    return """
        when results 0
          call Write as toolu_write {"file_path": "%s", "content": "written\\n"}

        when error
          say "It did not work: ${result}"

        when any
          say "It worked."
        """ % (agent.project / name)


class Callback:
    """A permission callback that answers in order and notes what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, tool, tool_input, context):
        self.asked.append((tool, tool_input, context))
        return self.answers.pop(0) if self.answers else PermissionResultAllow()


async def test_without_a_callback_a_write_is_denied(agent):
    agent.serve(write_script(agent))
    run = await agent.query("write")
    assert not (agent.project / "new.txt").exists()
    [result] = run.tool_results
    assert result.is_error
    assert run.text.startswith("It did not work")
    assert (run.result.subtype, run.result.is_error) == ("success", False)
    [denial] = run.result.permission_denials
    assert (denial["tool_name"], denial["tool_use_id"]) == ("Write", "toolu_write")
    assert denial["tool_input"]["content"] == "written\n"
    [notice] = run.system("permission_denied")
    assert (notice["tool_name"], notice["tool_use_id"]) == ("Write", "toolu_write")


async def test_reading_commands_need_no_permission(agent):
    agent.serve('when results 0\n  call Bash {"command": "echo hi"}\n\nwhen any\n  say "${result}"\n')
    run = await agent.query("go")
    assert run.text.startswith("hi")
    assert run.result.permission_denials == []


async def test_callback_allows(agent):
    agent.serve(TOUCH)
    callback = Callback()
    run = await agent.query("go", can_use_tool=callback)
    assert (agent.project / "made.txt").exists()
    assert run.text == "It worked."
    [(tool, tool_input, context)] = callback.asked
    assert (tool, tool_input["command"]) == ("Bash", "touch made.txt")
    assert context.tool_use_id == "toolu_touch"
    assert context.agent_id is None


async def test_callback_works_with_streaming_input_and_client(agent):
    agent.serve(TOUCH)
    callback = Callback()
    await agent.query(stream(user_message("go")), can_use_tool=callback)
    async with agent.client(can_use_tool=callback) as client:
        run = await agent.ask(client, "go")
    assert run.text == "It worked."
    assert len(callback.asked) == 2


async def test_callback_denies_with_a_message(agent):
    agent.serve(TOUCH)
    callback = Callback(PermissionResultDeny(message="not on a Sunday"))
    run = await agent.query("go", can_use_tool=callback)
    assert not (agent.project / "made.txt").exists()
    [result] = run.tool_results
    assert result.is_error and "not on a Sunday" in result_text(result)
    assert "not on a Sunday" in run.text
    assert not run.result.is_error
    assert [denial["tool_name"] for denial in run.result.permission_denials] == ["Bash"]


async def test_callback_changes_the_input(agent):
    agent.serve(TOUCH)
    callback = Callback(PermissionResultAllow(updated_input={"command": "touch other.txt"}))
    run = await agent.query("go", can_use_tool=callback)
    assert run.text == "It worked."
    assert (agent.project / "other.txt").exists()
    assert not (agent.project / "made.txt").exists()


async def test_callback_denies_and_interrupts(agent):
    agent.serve(TOUCH)
    callback = Callback(PermissionResultDeny(message="stop here", interrupt=True))
    run = await agent.query_any("go", can_use_tool=callback)
    assert isinstance(run.error, ResultError)
    assert not (agent.project / "made.txt").exists()
    assert run.result.subtype == "error_during_execution"
    assert run.result.is_error
    assert run.result.terminal_reason == "aborted_tools"
    assert len(agent.requests) == 1


async def test_callback_adds_a_rule_for_the_session(agent):
    agent.serve(
        """
        when results 0
          call Bash {"command": "touch ${user}.txt"}

        when any
          say "ok"
        """.replace("${user}", "first")
    )
    rule = PermissionUpdate(
        type="addRules",
        rules=[PermissionRuleValue("Bash", "touch:*")],
        behavior="allow",
        destination="session",
    )
    callback = Callback(PermissionResultAllow(updated_permissions=[rule]))
    async with agent.client(can_use_tool=callback) as client:
        await agent.ask(client, "go")
        await agent.ask(client, "go again")
    assert (agent.project / "first.txt").exists()
    assert len(callback.asked) == 1


async def test_callback_changes_the_mode(agent):
    agent.serve(write_script(agent).replace(" as toolu_write", ""))
    mode = PermissionUpdate(type="setMode", mode="acceptEdits", destination="session")
    callback = Callback(PermissionResultAllow(updated_permissions=[mode]))
    async with agent.client(can_use_tool=callback) as client:
        first = await agent.ask(client, "go")
        second = await agent.ask(client, "go again")
    assert len(callback.asked) == 1
    modes = [status.get("permissionMode") for status in first.system("status")]
    assert "acceptEdits" in modes
    assert second.init["permissionMode"] == "acceptEdits"


async def test_edits_suggest_to_accept_edits(agent):
    agent.serve(write_script(agent))
    callback = Callback()
    await agent.query("go", can_use_tool=callback)
    [(tool, _, context)] = callback.asked
    assert tool == "Write"
    suggested = [(update.type, update.mode, update.destination) for update in context.suggestions]
    assert ("setMode", "acceptEdits", "session") in suggested


async def test_callback_is_asked_for_each_parallel_call(agent):
    agent.serve(
        """
        when results 0
          call Bash as toolu_a {"command": "touch a.txt"}
          call Bash as toolu_b {"command": "touch b.txt"}

        when any
          say "ok"
        """
    )
    answers = [PermissionResultDeny(message="no"), PermissionResultAllow()]
    callback = Callback(*answers)
    run = await agent.query("go", can_use_tool=callback)
    asked = [context.tool_use_id for _, _, context in callback.asked]
    assert sorted(asked) == ["toolu_a", "toolu_b"]
    refused = asked[0].removeprefix("toolu_")
    allowed = asked[1].removeprefix("toolu_")
    assert not (agent.project / f"{refused}.txt").exists()
    assert (agent.project / f"{allowed}.txt").exists()
    assert len(run.result.permission_denials) == 1


async def test_a_failing_callback_denies(agent):
    agent.serve(TOUCH)

    async def broken(tool, tool_input, context):
        raise RuntimeError("the callback broke")

    run = await agent.query("go", can_use_tool=broken)
    assert not (agent.project / "made.txt").exists()
    assert run.tool_results[0].is_error


async def test_allowed_tools_run_without_asking(agent):
    agent.serve(TOUCH)
    run = await agent.query("go", allowed_tools=["Bash(touch:*)"])
    assert run.text == "It worked."
    assert (agent.project / "made.txt").exists()


async def test_allowed_tools_allow_nothing_else(agent):
    agent.serve(TOUCH)
    run = await agent.query("go", allowed_tools=["Read", "Bash(mkdir:*)"])
    assert run.tool_results[0].is_error
    assert not (agent.project / "made.txt").exists()


async def test_disallowed_tools_are_not_offered(agent):
    agent.serve(TOUCH)
    run = await agent.query("go", disallowed_tools=["Bash"], can_use_tool=Callback())
    assert "Bash" not in run.init["tools"]
    assert "Bash" not in agent.requests[0].tool_names()
    assert run.tool_results[0].is_error
    assert not (agent.project / "made.txt").exists()


async def test_deny_rule_with_content_beats_the_callback(agent):
    agent.serve(TOUCH)
    callback = Callback()
    run = await agent.query("go", disallowed_tools=["Bash(touch:*)"], can_use_tool=callback)
    assert callback.asked == []
    assert run.tool_results[0].is_error
    assert "Bash" in run.init["tools"]


@pytest.mark.parametrize(
    ("mode", "written"),
    [("acceptEdits", True), ("bypassPermissions", True), ("plan", False), ("dontAsk", False)],
)
async def test_modes(agent, mode, written):
    agent.serve(write_script(agent))
    run = await agent.query("go", permission_mode=mode)
    assert (agent.project / "new.txt").exists() == written
    assert run.init["permissionMode"] == mode
    assert run.tool_results[0].is_error == (not written) or run.tool_results[0].is_error is None


async def test_a_write_outside_the_project_asks(agent):
    outside = agent.root / "outside.txt"
    agent.serve(
        """
        when results 0
          call Write {"file_path": "%s", "content": "x"}

        when any
          say "ok"
        """ % outside
    )
    callback = Callback()
    await agent.query("go", can_use_tool=callback)
    assert [tool for tool, _, _ in callback.asked] == ["Write"]
    assert outside.read_text() == "x"


async def test_state_is_requires_action_while_a_callback_is_asked(agent):
    agent.serve(TOUCH)
    env = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1", "CLAUDE_CODE_SDK_READS_SESSION_STATE": "0"}
    run = await agent.query("go", can_use_tool=Callback(), env=env)
    states = [data["state"] for data in run.system("session_state_changed")]
    assert states == ["running", "requires_action", "running", "idle"], states
    assert not run.of(UserMessage)[0].tool_use_result["interrupted"]
