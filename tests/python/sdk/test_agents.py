"""Sub-agents on the stream and on disk."""

import json

from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ResultMessage,
    TaskNotificationMessage,
    TaskStartedMessage,
    TextBlock,
    ToolUseBlock,
    UserMessage,
    get_subagent_messages,
    list_subagents,
)
from harness import result_text

DELEGATE = """
when user contains "inner job" and results 0
  say "inner thoughts"
  call Bash as toolu_inner {"command": "echo inner"}

when user contains "inner job"
  say "inner answer"

when user contains "outer job" and results 0
  call Agent as toolu_agent {"description": "an inner job", "prompt": "do the inner job",
    "subagent_type": "helper", "run_in_background": false}

when any
  say "outer answer"
"""
HELPER = {"helper": AgentDefinition(description="helps", prompt="You are the helper.", tools=["Bash"])}
OPTIONS = {"agents": HELPER, "allowed_tools": ["Agent", "Bash"]}


def inner(run, kind):
    messages = [m for m in run.of((AssistantMessage, UserMessage)) if m.parent_tool_use_id]
    assert {message.parent_tool_use_id for message in messages} <= {"toolu_agent"}
    return [b for m in messages if isinstance(m.content, list) for b in m.content if isinstance(b, kind)]


async def test_foreground_agent(agent):
    agent.serve(DELEGATE)
    run = await agent.query("outer job", **OPTIONS)
    assert run.text == "outer answer"
    [call] = inner(run, ToolUseBlock)
    assert (call.name, call.input["command"]) == ("Bash", "echo inner")
    results = {block.tool_use_id: result_text(block) for block in run.tool_results}
    assert results["toolu_inner"].strip() == "inner"
    assert "inner answer" in results["toolu_agent"]
    [started] = run.of(TaskStartedMessage)
    [ended] = run.of(TaskNotificationMessage)
    assert started.task_id == ended.task_id
    assert started.tool_use_id == "toolu_agent"
    assert (started.description, ended.status) == ("an inner job", "completed")


async def test_agent_has_its_own_prompt_and_tools(agent):
    agent.serve(DELEGATE)
    await agent.query("outer job", **OPTIONS)
    [first, *_] = [r for r in agent.requests if "You are the helper." in r.system_text()]
    assert first.tool_names() == {"Bash"}
    assert "outer job" not in first.messages_text()


async def test_agent_text_is_forwarded_on_demand_only(agent):
    agent.serve(DELEGATE)
    plain = await agent.query("outer job", **OPTIONS)
    forwarded = await agent.query("outer job", forward_subagent_text=True, **OPTIONS)
    assert inner(plain, TextBlock) == [] or all(
        "inner thoughts" not in block.text for block in inner(plain, TextBlock)
    )
    texts = [block.text for block in inner(forwarded, TextBlock)]
    assert "inner thoughts" in texts and "inner answer" in texts


async def test_task_is_the_old_name_of_the_tool(agent):
    agent.serve(DELEGATE)
    run = await agent.query("outer job", agents=HELPER, allowed_tools=["Task", "Bash"])
    assert "inner answer" in {b.tool_use_id: result_text(b) for b in run.tool_results}["toolu_agent"]
    assert "Task" in run.init["tools"]


async def test_agents_of_their_own_model(agent):
    agent.serve(DELEGATE)
    helper = AgentDefinition(description="helps", prompt="You are the helper.", model="claude-haiku-4-5")
    run = await agent.query("outer job", agents={"helper": helper}, allowed_tools=["Agent", "Bash"])
    models = {r.body["model"] for r in agent.requests if "You are the helper." in r.system_text()}
    assert models == {"claude-haiku-4-5"}
    assert "claude-haiku-4-5" in run.result.model_usage


async def test_transcript_of_the_agent(agent):
    agent.serve(DELEGATE)
    run = await agent.query("outer job", **OPTIONS)
    session = run.result.session_id
    [agent_id] = list_subagents(session, directory=str(agent.project))
    messages = get_subagent_messages(session, agent_id, directory=str(agent.project))
    assert "do the inner job" in json.dumps(messages[0].message)
    assert "inner answer" in json.dumps(messages[-1].message)
    assert {message.parent_tool_use_id for message in messages} == {"toolu_agent"}


async def test_background_agent_wakes_the_session(agent):
    agent.serve(
        """
        when user contains "do the inner job"
          say "inner answer"

        when user contains "outer job" and results 0
          call Agent as toolu_agent {"description": "an inner job", "prompt": "do the inner job",
            "subagent_type": "helper", "run_in_background": true}

        when results 1
          say "started it"

        when any
          say "it is done"
        """
    )
    run = await agent.query("outer job", **OPTIONS)
    results = run.of(ResultMessage)
    assert [result.result for result in results] == ["started it", "it is done"]
    assert results[1].origin["kind"] == "task-notification"
    assert run.of(TaskNotificationMessage)[0].status == "completed"


async def test_unknown_agent_is_an_error_for_the_model(agent):
    agent.serve(
        """
        when results 0
          call Agent {"description": "x", "prompt": "y", "subagent_type": "nobody"}

        when error
          say "no such agent"
        """
    )
    run = await agent.query("go", **OPTIONS)
    assert run.text == "no such agent"
    assert "nobody" in result_text(run.tool_results[0])
