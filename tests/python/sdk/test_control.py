"""Control requests of the program while a session runs."""

import anyio
import pytest
from claude_agent_sdk import (
    ResultMessage,
    StreamEvent,
    create_sdk_mcp_server,
    tool,
)
from harness import MODEL, Run

SLOW = """
when user contains "slowly"
  pace 200ms
  say "one two three four five six seven eight nine ten eleven twelve thirteen fourteen
  and so on until nobody listens any more to what is being said in this very long line"

when user contains "wait" and results 0
  call Bash {"command": "touch started; sleep 30"}

when user contains "again"
  say "here again"

when any
  say "ok"
""".replace("fourteen\n  and", "fourteen and")


async def receive_until(client, wanted):
    """Receives messages until one is wanted."""
    run = Run()
    async for message in client.receive_messages():
        run.messages.append(message)
        if wanted(message):
            return run
    raise AssertionError("the messages ended")


async def exists(path):
    """Waits until a tool has made a file."""
    while not path.exists():
        await anyio.sleep(0.02)


def is_text_delta(message):
    return isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta"


# spec: SDK-04
async def test_interrupt_while_the_model_speaks(agent):
    agent.serve(SLOW)
    async with agent.client(include_partial_messages=True) as client:
        await client.query("speak slowly")
        await receive_until(client, is_text_delta)
        await client.interrupt()
        run = await agent.receive(client)
        assert run.result.subtype == "error_during_execution"
        assert run.result.is_error
        assert run.result.terminal_reason == "aborted_streaming"
        after = await agent.ask(client, "are you there again")
    assert after.text == "here again"
    assert not after.result.is_error


async def test_interrupt_while_a_tool_runs(agent):
    agent.serve(SLOW)
    async with agent.client(allowed_tools=["Bash"]) as client:
        await client.query("wait")
        await exists(agent.project / "started")
        await client.interrupt()
        run = await agent.receive(client)
        assert run.result.subtype == "error_during_execution"
        assert run.result.terminal_reason == "aborted_tools"
        assert run.tool_results[0].is_error
        after = await agent.ask(client, "are you there again")
    assert after.text == "here again"


async def test_interrupt_while_nothing_runs(agent):
    agent.serve(SLOW)
    async with agent.client() as client:
        await client.interrupt()
        run = await agent.ask(client, "hello")
        await client.interrupt()
        again = await agent.ask(client, "again")
    assert (run.text, again.text) == ("ok", "here again")


async def test_set_model(agent):
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        await agent.ask(client, "one")
        assert agent.requests[-1].body["model"] == MODEL
        await client.set_model("claude-haiku-4-5")
        second = await agent.ask(client, "two")
        assert agent.requests[-1].body["model"] == "claude-haiku-4-5"
        await client.set_model(None)
        third = await agent.ask(client, "three")
        assert agent.requests[-1].body["model"] == third.init["model"] != "claude-haiku-4-5"
    assert second.init["model"] == "claude-haiku-4-5"
    assert "claude-haiku-4-5" in second.result.model_usage


async def test_set_permission_mode(agent):
    agent.serve(
        """
        when results 0
          call Write {"file_path": "%s", "content": "x"}

        when any
          say "ok"
        """ % (agent.project / "n.txt")
    )
    async with agent.client() as client:
        first = await agent.ask(client, "one")
        assert first.tool_results[0].is_error
        await client.set_permission_mode("acceptEdits")
        second = await agent.ask(client, "two")
    assert not second.tool_results[0].is_error
    assert second.init["permissionMode"] == "acceptEdits"
    assert (agent.project / "n.txt").exists()


async def test_unknown_permission_mode_is_an_error(agent):
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        with pytest.raises(Exception, match="(?i)mode"):
            await client.set_permission_mode("yolo")
        run = await agent.ask(client, "one")
    assert run.text == "ok"


async def test_server_info(agent):
    agent.write(".claude/commands/of-project.md", "---\ndescription: mine\n---\nDo it.")
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        info = await client.get_server_info()
    commands = {command["name"]: command for command in info["commands"]}
    assert {"compact", "clear", "of-project"} <= set(commands)
    assert "mine" in commands["of-project"]["description"]
    assert all({"value", "displayName", "description"} <= set(model) for model in info["models"])
    assert info["models"]
    assert info["output_style"] == "default"
    assert "default" in info["available_output_styles"]


async def test_mcp_status(agent):
    @tool("ping", "Answers", {})
    async def ping(arguments):
        return {"content": [{"type": "text", "text": "pong"}]}

    agent.serve('when any\n  say "ok"\n')
    servers = {
        "mine": create_sdk_mcp_server("mine", "3.1", tools=[ping]),
        "broken": {"command": "false", "args": []},
    }
    async with agent.client(mcp_servers=servers) as client:
        await agent.ask(client, "one")
        with anyio.fail_after(30):
            while True:
                status = {s["name"]: s for s in (await client.get_mcp_status())["mcpServers"]}
                if status["broken"]["status"] != "pending":
                    break
                await anyio.sleep(0.05)
    assert status["mine"]["status"] == "connected"
    assert status["mine"]["serverInfo"]["name"] == "mine"
    assert [entry["name"] for entry in status["mine"]["tools"]] == ["ping"]
    assert status["broken"]["status"] == "failed"


async def test_reconnect_and_toggle_of_unknown_servers_are_errors(agent):
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        with pytest.raises(Exception, match="nowhere"):
            await client.reconnect_mcp_server("nowhere")
        with pytest.raises(Exception, match="nowhere"):
            await client.toggle_mcp_server("nowhere", enabled=False)
        run = await agent.ask(client, "one")
    assert run.text == "ok"


async def test_toggle_takes_a_server_away_and_brings_it_back(agent):
    @tool("ping", "Answers", {})
    async def ping(arguments):
        return {"content": [{"type": "text", "text": "pong"}]}

    agent.serve('when any\n  say "ok"\n')
    servers = {"mine": create_sdk_mcp_server("mine", tools=[ping])}
    async with agent.client(mcp_servers=servers) as client:
        first = await agent.ask(client, "one")
        await client.toggle_mcp_server("mine", enabled=False)
        status = (await client.get_mcp_status())["mcpServers"]
        second = await agent.ask(client, "two")
    assert "mcp__mine__ping" in first.init["tools"]
    assert [entry["status"] for entry in status] == ["disabled"]
    assert "mcp__mine__ping" not in second.init["tools"]


async def test_context_usage(agent):
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        await agent.ask(client, "one")
        usage = await client.get_context_usage()
    assert usage["model"] == MODEL
    assert 0 < usage["totalTokens"] <= usage["maxTokens"] <= usage["rawMaxTokens"]
    assert 0 <= usage["percentage"] <= 100
    assert all({"name", "tokens"} <= set(category) for category in usage["categories"])
    for name in ("memoryFiles", "mcpTools", "agents", "gridRows"):
        assert isinstance(usage[name], list)


async def test_stop_of_an_unknown_task_is_harmless(agent):
    agent.serve('when any\n  say "ok"\n')
    async with agent.client() as client:
        await client.stop_task("no-such-task")
        run = await agent.ask(client, "one")
    assert run.text == "ok"


async def test_control_requests_are_answered_during_a_turn(agent):
    agent.serve(SLOW)
    async with agent.client(include_partial_messages=True) as client:
        await client.query("speak slowly")
        await receive_until(client, is_text_delta)
        status = await client.get_mcp_status()
        await client.set_permission_mode("plan")
        await client.interrupt()
        run = await agent.receive(client)
    assert status["mcpServers"] == []
    assert run.result.terminal_reason == "aborted_streaming"


async def test_messages_during_a_turn_are_queued(agent):
    agent.serve(
        """
        when user contains "first"
          delay 300ms
          say "first answer"

        when user contains "second"
          say "second answer"
        """
    )
    async with agent.client() as client:
        await client.query("first")
        await client.query("second")
        texts = []
        async for message in client.receive_messages():
            if isinstance(message, ResultMessage):
                texts.append(message.result)
                if len(texts) == 2 or "second" in message.result:
                    break
    assert texts[-1] == "second answer"
