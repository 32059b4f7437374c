"""Hook callbacks of the program: each event, and what an answer changes."""

import json

import anyio
import pytest
from claude_agent_sdk import AgentDefinition, HookMatcher, PermissionResultAllow, ResultError
from harness import result_text

ECHO_HI = """
when results 0
  call Bash as toolu_echo {"command": "echo hi"}

when error
  say "It did not work: ${result}"

when any
  say "Result: ${result}"
"""
TOUCH = ECHO_HI.replace("echo hi", "touch made.txt")


class Hook:
    """A hook callback that gives one answer and notes what it was called with."""

    def __init__(self, answer=None):
        self.answer = {} if answer is None else answer
        self.calls = []

    async def __call__(self, hook_input, tool_use_id, context):
        self.calls.append((hook_input, tool_use_id))
        return self.answer(hook_input) if callable(self.answer) else self.answer

    @property
    def inputs(self):
        return [hook_input for hook_input, _ in self.calls]

    def on(self, matcher=None, **more):
        return [HookMatcher(matcher=matcher, hooks=[self], **more)]


def pre_tool(**output):
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **output}}


async def test_tool_hooks_see_the_call(agent):
    agent.serve(ECHO_HI)
    before, after = Hook(), Hook()
    run = await agent.query("go", hooks={"PreToolUse": before.on("Bash"), "PostToolUse": after.on()})
    [(pre, pre_id)], [(post, post_id)] = before.calls, after.calls
    assert pre_id == post_id == "toolu_echo"
    assert pre["hook_event_name"] == "PreToolUse" and post["hook_event_name"] == "PostToolUse"
    for hook_input in (pre, post):
        assert hook_input["session_id"] == run.result.session_id
        assert hook_input["cwd"] == str(agent.project)
        assert hook_input["tool_name"] == "Bash"
        assert hook_input["tool_input"]["command"] == "echo hi"
        assert hook_input["tool_use_id"] == "toolu_echo"
        assert hook_input["transcript_path"].endswith(f"{run.result.session_id}.jsonl")
    assert post["tool_response"]["stdout"].strip() == "hi"
    assert run.text.startswith("Result: hi")


async def test_matcher_selects_tools(agent):
    agent.serve(ECHO_HI)
    other, several = Hook(), Hook()
    matchers = other.on("Write") + several.on("Write|Bash")
    await agent.query("go", hooks={"PreToolUse": matchers})
    assert other.calls == []
    assert len(several.calls) == 1


async def test_pre_tool_deny(agent):
    agent.serve(ECHO_HI)
    hook = Hook(pre_tool(permissionDecision="deny", permissionDecisionReason="shell is closed"))
    run = await agent.query("go", hooks={"PreToolUse": hook.on()})
    [result] = run.tool_results
    assert result.is_error and "shell is closed" in result_text(result)
    assert "shell is closed" in run.text
    assert [denial["tool_name"] for denial in run.result.permission_denials] == ["Bash"]
    assert run.system("permission_denied") == []


async def test_pre_tool_allow_skips_the_callback(agent):
    agent.serve(TOUCH)
    asked = []

    async def callback(tool, tool_input, context):
        asked.append(tool)
        return PermissionResultAllow()

    hook = Hook(pre_tool(permissionDecision="allow"))
    await agent.query("go", hooks={"PreToolUse": hook.on()}, can_use_tool=callback)
    assert asked == []
    assert (agent.project / "made.txt").exists()


async def test_pre_tool_ask_reaches_the_callback_with_its_reason(agent):
    agent.serve(ECHO_HI)
    asked = []

    async def callback(tool, tool_input, context):
        asked.append((tool, context.decision_reason))
        return PermissionResultAllow()

    hook = Hook(pre_tool(permissionDecision="ask", permissionDecisionReason="are you sure"))
    run = await agent.query("go", hooks={"PreToolUse": hook.on()}, can_use_tool=callback)
    assert asked == [("Bash", "are you sure")]
    assert run.text.startswith("Result: hi")


async def test_pre_tool_ask_without_a_callback_denies(agent):
    agent.serve(ECHO_HI)
    hook = Hook(pre_tool(permissionDecision="ask", permissionDecisionReason="are you sure"))
    run = await agent.query("go", hooks={"PreToolUse": hook.on()})
    assert run.tool_results[0].is_error
    assert len(run.system("permission_denied")) == 1


async def test_pre_tool_changes_the_input(agent):
    agent.serve(ECHO_HI)
    hook = Hook(pre_tool(permissionDecision="allow", updatedInput={"command": "echo changed"}))
    run = await agent.query("go", hooks={"PreToolUse": hook.on()})
    assert run.text.startswith("Result: changed")


async def test_pre_tool_defer_ends_the_run_with_the_call(agent):
    agent.serve(ECHO_HI)
    hook = Hook(pre_tool(permissionDecision="defer"))
    run = await agent.query("go", hooks={"PreToolUse": hook.on()})
    assert run.result.terminal_reason == "tool_deferred"
    deferred = run.result.deferred_tool_use
    assert (deferred.id, deferred.name) == ("toolu_echo", "Bash")
    assert deferred.input["command"] == "echo hi"
    assert len(agent.requests) == 1


async def test_deny_beats_allow(agent):
    agent.serve(ECHO_HI)
    allow = Hook(pre_tool(permissionDecision="allow"))
    deny = Hook(pre_tool(permissionDecision="deny", permissionDecisionReason="no"))
    run = await agent.query("go", hooks={"PreToolUse": allow.on() + deny.on()})
    assert len(allow.calls) == len(deny.calls) == 1
    assert run.tool_results[0].is_error


async def test_hooks_of_one_event_run_at_the_same_time(agent):
    agent.serve(ECHO_HI)
    arrived = anyio.Semaphore(0)
    done = anyio.Event()

    async def first(hook_input, tool_use_id, context):
        await done.wait()
        return {}

    async def second(hook_input, tool_use_id, context):
        done.set()
        arrived.release()
        return {}

    matchers = [HookMatcher(hooks=[first]), HookMatcher(hooks=[second])]
    run = await agent.query("go", hooks={"PreToolUse": matchers})
    assert arrived.value == 1
    assert run.text.startswith("Result: hi")


async def test_post_tool_context_reaches_the_model(agent):
    agent.serve(ECHO_HI)
    output = {"hookEventName": "PostToolUse", "additionalContext": "the moon is full"}
    hook = Hook({"hookSpecificOutput": output})
    await agent.query("go", hooks={"PostToolUse": hook.on("Bash")})
    assert "the moon is full" in agent.requests[1].messages_text()


async def test_pre_tool_context_reaches_the_model(agent):
    agent.serve(ECHO_HI)
    hook = Hook(pre_tool(additionalContext="the moon is new"))
    await agent.query("go", hooks={"PreToolUse": hook.on("Bash")})
    assert "the moon is new" in agent.requests[1].messages_text()


async def test_post_tool_replaces_the_output(agent):
    agent.serve(ECHO_HI)
    replaced = {"stdout": "censored", "stderr": "", "interrupted": False, "isImage": False}
    output = {"hookEventName": "PostToolUse", "updatedToolOutput": replaced}
    hook = Hook({"hookSpecificOutput": output})
    run = await agent.query("go", hooks={"PostToolUse": hook.on()})
    assert run.text.startswith("Result: censored")


async def test_continue_false_ends_the_turn(agent):
    agent.serve(ECHO_HI)
    hook = Hook({"continue_": False, "stopReason": "enough"})
    run = await agent.query("go", hooks={"PostToolUse": hook.on()})
    assert (run.result.subtype, run.result.is_error) == ("success", False)
    assert run.result.terminal_reason == "hook_stopped"
    assert len(agent.requests) == 1


async def test_system_message_is_shown(agent):
    agent.serve(ECHO_HI)
    hook = Hook({"systemMessage": "mind the step"})
    run = await agent.query("go", hooks={"PreToolUse": hook.on()})
    shown = [data["content"] for data in run.system("informational")]
    assert any("mind the step" in content for content in shown)


async def test_post_tool_failure(agent):
    agent.serve(ECHO_HI.replace("echo hi", "exit 3"))
    success, failure = Hook(), Hook()
    hooks = {"PostToolUse": success.on(), "PostToolUseFailure": failure.on()}
    await agent.query("go", hooks=hooks, allowed_tools=["Bash"])
    assert success.calls == []
    [hook_input] = failure.inputs
    assert hook_input["hook_event_name"] == "PostToolUseFailure"
    assert hook_input["tool_name"] == "Bash"
    assert "3" in hook_input["error"]
    assert not hook_input.get("is_interrupt")


async def test_prompt_hook_adds_context(agent):
    agent.serve('when any\n  say "ok"\n')
    output = {"hookEventName": "UserPromptSubmit", "additionalContext": "it rains"}
    hook = Hook({"hookSpecificOutput": output})
    run = await agent.query("how is the weather", hooks={"UserPromptSubmit": hook.on()})
    [hook_input] = hook.inputs
    assert hook_input["prompt"] == "how is the weather"
    assert run.text == "ok"
    assert "it rains" in agent.requests[0].messages_text()


async def test_prompt_hook_blocks(agent):
    agent.serve('when any\n  say "ok"\n')
    hook = Hook({"decision": "block", "reason": "not that word"})
    run = await agent.query("a word", hooks={"UserPromptSubmit": hook.on()})
    assert agent.requests == []
    assert (run.result.subtype, run.result.num_turns) == ("success", 0)
    assert "not that word" in str(run.messages)


async def test_stop_hook_sees_the_last_answer(agent):
    agent.serve('when any\n  say "that is all"\n')
    hook = Hook()
    await agent.query("go", hooks={"Stop": hook.on()})
    [hook_input] = hook.inputs
    assert hook_input["stop_hook_active"] is False
    assert hook_input["last_assistant_message"] == "that is all"


async def test_stop_hook_keeps_the_run_going(agent):
    agent.serve(
        """
        when user contains "write a test"
          say "here is the test"

        when any
          say "done"
        """
    )
    block = {"decision": "block", "reason": "write a test first"}
    hook = Hook(lambda hook_input: {} if hook_input["stop_hook_active"] else block)
    run = await agent.query("go", hooks={"Stop": hook.on()})
    assert run.text == "donehere is the test"
    assert [hook_input["stop_hook_active"] for hook_input in hook.inputs] == [False, True]
    assert run.result.result == "here is the test"


async def test_subagent_hooks(agent):
    agent.serve(
        """
        when user contains "sub task"
          say "sub answer"

        when results 0
          call Agent as toolu_agent {"description": "a sub task", "prompt": "do the sub task",
            "subagent_type": "helper", "run_in_background": false}

        when any
          say "main answer"
        """
    )
    start, stop = Hook(), Hook()
    agents = {"helper": AgentDefinition(description="helps", prompt="You help.")}
    hooks = {"SubagentStart": start.on(), "SubagentStop": stop.on()}
    run = await agent.query("go", hooks=hooks, agents=agents, allowed_tools=["Agent"])
    [started], [stopped] = start.inputs, stop.inputs
    assert started["agent_type"] == stopped["agent_type"] == "helper"
    assert started["agent_id"] == stopped["agent_id"]
    assert stopped["agent_transcript_path"].endswith(f"agent-{started['agent_id']}.jsonl")
    assert stopped["last_assistant_message"] == "sub answer"
    assert run.text == "main answer"


async def test_hooks_inside_a_subagent_name_it(agent):
    agent.serve(
        """
        when user contains "sub task" and results 0
          call Bash as toolu_inner {"command": "echo inner"}

        when user contains "sub task"
          say "sub answer"

        when results 0
          call Agent as toolu_agent {"description": "a sub task", "prompt": "do the sub task",
            "subagent_type": "helper", "run_in_background": false}

        when any
          say "main answer"
        """
    )
    hook = Hook()
    agents = {"helper": AgentDefinition(description="helps", prompt="You help.", tools=["Bash"])}
    hooks = {"PreToolUse": hook.on("Bash")}
    await agent.query("go", hooks=hooks, agents=agents, allowed_tools=["Agent", "Bash"])
    [hook_input] = hook.inputs
    assert hook_input["agent_type"] == "helper"
    assert hook_input["agent_id"]


async def test_permission_request_hook_decides(agent):
    agent.serve(TOUCH)
    output = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    hook = Hook({"hookSpecificOutput": output})
    run = await agent.query("go", hooks={"PermissionRequest": hook.on()})
    [hook_input] = hook.inputs
    assert hook_input["tool_name"] == "Bash"
    assert hook_input["tool_input"]["command"] == "touch made.txt"
    assert (agent.project / "made.txt").exists()
    assert run.result.permission_denials == []


async def test_permission_request_hook_denies(agent):
    agent.serve(TOUCH)
    decision = {"behavior": "deny", "message": "not today"}
    hook = Hook({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
    run = await agent.query("go", hooks={"PermissionRequest": hook.on()})
    assert not (agent.project / "made.txt").exists()
    assert "not today" in result_text(run.tool_results[0])


async def test_pre_compact(agent):
    agent.serve(
        """
        when user contains "first"
          say "first answer"

        when any
          say "<summary>We spoke.</summary>"
        """
    )
    hook = Hook()
    async with agent.client(hooks={"PreCompact": hook.on()}) as client:
        await agent.ask(client, "first")
        run = await agent.ask(client, "/compact keep the names")
    [hook_input] = hook.inputs
    assert hook_input["trigger"] == "manual"
    assert hook_input["custom_instructions"] == "keep the names"
    [boundary] = run.system("compact_boundary")
    assert boundary["compact_metadata"]["trigger"] == "manual"


async def test_async_answer_does_not_hold_the_tool(agent):
    agent.serve(ECHO_HI)
    hook = Hook({"async_": True, "asyncTimeout": 1000})
    run = await agent.query("go", hooks={"PreToolUse": hook.on()})
    assert len(hook.calls) == 1
    assert run.text.startswith("Result: hi")


async def test_a_failing_hook_is_reported_and_ignored(agent):
    agent.serve(ECHO_HI)

    async def broken(hook_input, tool_use_id, context):
        raise RuntimeError("the hook broke")

    run = await agent.query("go", hooks={"PreToolUse": [HookMatcher(hooks=[broken])]})
    assert run.text.startswith("Result: hi")
    assert any("hook" in data["content"].lower() for data in run.system("informational"))


async def test_a_failing_hook_blocks_if_it_must_not_fail(agent):
    agent.serve(ECHO_HI)

    async def broken(hook_input, tool_use_id, context):
        raise RuntimeError("the hook broke")

    matcher = HookMatcher(hooks=[broken], on_failure="block")
    run = await agent.query("go", hooks={"PreToolUse": [matcher]})
    assert run.tool_results[0].is_error


async def test_a_tool_whose_hook_does_not_answer_in_time_does_not_run(agent):
    agent.serve(TOUCH)

    async def slow(hook_input, tool_use_id, context):
        await anyio.sleep(60)
        return {}

    matcher = HookMatcher(hooks=[slow], timeout=0.5)
    run = await agent.query("go", hooks={"PreToolUse": [matcher]}, allowed_tools=["Bash"])
    assert run.tool_results[0].is_error
    assert not (agent.project / "made.txt").exists()


async def test_settings_hooks_are_events_of_the_stream(agent):
    agent.serve(ECHO_HI)
    command = {"type": "command", "command": "echo '{}'"}
    settings = '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [%s]}]}}'
    run = await agent.query("go", settings=settings % json.dumps(command), include_hook_events=True)
    [started], [response] = run.system("hook_started"), run.system("hook_response")
    assert started["hook_event"] == response["hook_event"] == "PreToolUse"
    assert started["hook_id"] == response["hook_id"]
    assert response["outcome"] == "success"


@pytest.mark.parametrize("decision", ["deny", "block"])
async def test_hooks_hold_in_a_client(agent, decision):
    agent.serve(ECHO_HI.replace(" as toolu_echo", ""))
    deny = pre_tool(permissionDecision="deny", permissionDecisionReason="closed")
    block = {"decision": "block", "reason": "closed"}
    hook = Hook(deny if decision == "deny" else block)
    async with agent.client(hooks={"PreToolUse": hook.on()}) as client:
        first = await agent.ask(client, "go")
        second = await agent.ask(client, "go again")
    assert "closed" in first.text and "closed" in second.text
    assert len(hook.calls) == 2
    assert not isinstance(first.error, ResultError)
