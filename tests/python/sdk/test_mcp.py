"""Tools of the program: MCP servers that live in the SDK's process."""

import json
import sys

import anyio
import pytest
from claude_agent_sdk import HookMatcher, PermissionResultAllow, ToolAnnotations, create_sdk_mcp_server, tool
from harness import result_text

CALL = """
when results 0
  call mcp__desk__%s as toolu_call %s

when error
  say "It failed: ${result}"

when any
  say "It said: ${result}"
"""


class Desk:
    """A server with tools that note their calls."""

    def __init__(self):
        self.calls = []
        desk = self

        @tool("add", "Adds two numbers", {"a": float, "b": float})
        async def add(arguments):
            desk.calls.append(("add", arguments))
            return text(str(arguments["a"] + arguments["b"]))

        @tool("fail", "Raises", {})
        async def fail(arguments):
            raise RuntimeError("out of paper")

        @tool("refuse", "Returns an error", {})
        async def refuse(arguments):
            return {**text("closed today"), "is_error": True}

        @tool("blocks", "Returns several blocks", {})
        async def blocks(arguments):
            picture = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
            return {"content": [{"type": "text", "text": "a picture:"}, picture]}

        @tool("large", "Returns much", {"size": int})
        async def large(arguments):
            return text("x" * arguments["size"])

        @tool("look", "Reads only", {}, annotations=ToolAnnotations(readOnlyHint=True))
        async def look(arguments):
            desk.calls.append(("look", arguments))
            return text("seen")

        tools = [add, fail, refuse, blocks, large, look]
        self.servers = {"desk": create_sdk_mcp_server("desk", "1.2.3", tools=tools)}


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(name, **arguments):
    return CALL % (name, json.dumps(arguments))


async def test_tools_are_listed(agent):
    agent.serve('when any\n  say "ok"\n')
    run = await agent.query("go", mcp_servers=Desk().servers)
    assert {"mcp__desk__add", "mcp__desk__large"} <= set(run.init["tools"])
    [server] = run.init["mcp_servers"]
    assert (server["name"], server["status"]) == ("desk", "connected")


async def test_allowed_tool_is_called(agent):
    agent.serve(call("add", a=20, b=22))
    desk = Desk()
    run = await agent.query("go", mcp_servers=desk.servers, allowed_tools=["mcp__desk__add"])
    assert desk.calls == [("add", {"a": 20, "b": 22})]
    assert run.text.startswith("It said: 42")
    [result] = run.tool_results
    assert result.tool_use_id == "toolu_call" and result_text(result) == "42"


async def test_a_rule_for_the_whole_server_allows(agent):
    agent.serve(call("add", a=1, b=2))
    desk = Desk()
    await agent.query("go", mcp_servers=desk.servers, allowed_tools=["mcp__desk"])
    assert len(desk.calls) == 1


async def test_without_permission_the_tool_is_not_called(agent):
    agent.serve(call("add", a=1, b=2))
    desk = Desk()
    run = await agent.query("go", mcp_servers=desk.servers)
    assert desk.calls == []
    assert run.tool_results[0].is_error
    assert [denial["tool_name"] for denial in run.result.permission_denials] == ["mcp__desk__add"]


async def test_disallowed_tool_is_not_offered(agent):
    agent.serve(call("add", a=1, b=2))
    desk = Desk()
    run = await agent.query(
        "go",
        mcp_servers=desk.servers,
        allowed_tools=["mcp__desk__look"],
        disallowed_tools=["mcp__desk__add"],
    )
    assert desk.calls == []
    assert "mcp__desk__add" not in run.init["tools"]
    assert "mcp__desk__look" in run.init["tools"]
    assert run.tool_results[0].is_error


async def test_callback_is_asked_for_a_tool_of_the_program(agent):
    agent.serve(call("add", a=1, b=2))
    desk, asked = Desk(), []

    async def callback(name, tool_input, context):
        asked.append((name, tool_input))
        return PermissionResultAllow(updated_input={"a": 5, "b": 6})

    run = await agent.query("go", mcp_servers=desk.servers, can_use_tool=callback)
    assert asked == [("mcp__desk__add", {"a": 1, "b": 2})]
    assert desk.calls == [("add", {"a": 5, "b": 6})]
    assert run.text.startswith("It said: 11")


async def test_hook_sees_a_tool_of_the_program(agent):
    agent.serve(call("add", a=1, b=2))
    desk, seen = Desk(), []

    async def hook(hook_input, tool_use_id, context):
        seen.append((hook_input["tool_name"], hook_input["tool_input"]))
        return {}

    matcher = HookMatcher(matcher="mcp__desk__.*", hooks=[hook])
    await agent.query(
        "go",
        mcp_servers=desk.servers,
        allowed_tools=["mcp__desk"],
        hooks={"PreToolUse": [matcher], "PostToolUse": [matcher]},
    )
    assert seen == [("mcp__desk__add", {"a": 1, "b": 2})] * 2


@pytest.mark.parametrize(
    ("name", "message"), [("fail", "out of paper"), ("refuse", "closed today")]
)
async def test_errors_reach_the_model(agent, name, message):
    agent.serve(call(name))
    run = await agent.query("go", mcp_servers=Desk().servers, allowed_tools=["mcp__desk"])
    [result] = run.tool_results
    assert result.is_error and message in result_text(result)
    assert run.text.startswith("It failed") and message in run.text
    assert not run.result.is_error


async def test_invalid_arguments_reach_the_model_as_an_error(agent):
    agent.serve(call("add", a="one"))
    desk = Desk()
    run = await agent.query("go", mcp_servers=desk.servers, allowed_tools=["mcp__desk"])
    assert desk.calls == []
    assert run.tool_results[0].is_error


async def test_several_blocks_and_an_image(agent):
    agent.serve(call("blocks"))
    await agent.query("go", mcp_servers=Desk().servers, allowed_tools=["mcp__desk"])
    back = agent.requests[1].body["messages"][-1]["content"]
    [result] = [block for block in back if block["type"] == "tool_result"]
    assert [block["type"] for block in result["content"]][:2] == ["text", "image"]
    assert result["content"][1]["source"]["data"] == PIXEL


async def test_large_result_is_bounded(agent):
    agent.serve(call("large", size=900_000))
    run = await agent.query("go", mcp_servers=Desk().servers, allowed_tools=["mcp__desk"])
    assert run.text
    assert len(json.dumps(agent.requests[1].body["messages"])) < 600_000
    assert not run.result.is_error


async def test_middle_sized_result_is_complete(agent):
    agent.serve(call("large", size=40_000))
    run = await agent.query("go", mcp_servers=Desk().servers, allowed_tools=["mcp__desk"])
    assert result_text(run.tool_results[0]) == "x" * 40_000


async def test_parallel_calls_run_at_the_same_time(agent):
    both = anyio.Event()
    waiting = []

    @tool("meet", "Waits for the other", {"name": str})
    async def meet(arguments):
        waiting.append(arguments["name"])
        if len(waiting) == 2:
            both.set()
        await both.wait()
        return text("met")

    agent.serve(
        """
        when results 0
          call mcp__meeting__meet {"name": "Ada"}
          call mcp__meeting__meet {"name": "Bob"}

        when results 2
          say "They met."
        """
    )
    meet.annotations = ToolAnnotations(readOnlyHint=True)
    servers = {"meeting": create_sdk_mcp_server("meeting", tools=[meet])}
    run = await agent.query("go", mcp_servers=servers, allowed_tools=["mcp__meeting"])
    assert run.text == "They met."
    assert sorted(waiting) == ["Ada", "Bob"]


async def test_two_servers_and_two_turns(agent):
    agent.serve(
        """
        when user contains "first" and results 0
          call mcp__desk__add {"a": 1, "b": 1}

        when user contains "second" and results 0
          call mcp__other__add {"a": 2, "b": 2}

        when any
          say "${result}"
        """
    )
    desk, other = Desk(), Desk()
    servers = {**desk.servers, "other": other.servers["desk"]}
    async with agent.client(mcp_servers=servers, allowed_tools=["mcp__desk", "mcp__other"]) as client:
        await agent.ask(client, "first")
        await agent.ask(client, "second")
    assert desk.calls == [("add", {"a": 1, "b": 1})]
    assert other.calls == [("add", {"a": 2, "b": 2})]


STDIO_SERVER = '''
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "stdio-desk", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {}}
        result = {"tools": [{"name": "ring", "description": "rings", "inputSchema": schema}]}
    else:
        result = {"content": [{"type": "text", "text": "rang"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''


async def test_server_that_is_a_program(agent):
    agent.serve(
        'when results 0\n  call mcp__bell__ring\n\nwhen any\n  say "It said: ${result}"\n'
    )
    script = agent.write("server.py", STDIO_SERVER)
    servers = {"bell": {"command": sys.executable, "args": [str(script)]}}
    run = await agent.query("go", mcp_servers=servers, allowed_tools=["mcp__bell"])
    assert run.text.startswith("It said: rang")


async def test_tools_of_a_server_are_those_of_this_program(agent):
    """Another program of the same folder had a server of the same name with other tools."""

    def server(name):
        @tool(name, "A tool", {"text": str})
        async def run(args):
            return {"content": [{"type": "text", "text": f"{name} ran"}]}

        return create_sdk_mcp_server(name="shared", tools=[run])

    for name in ("first", "second"):
        agent.serve(f'when results 0\n  call mcp__shared__{name} {{"text": "x"}}\nwhen any\n  say "${{result}}"\n')
        allowed = [f"mcp__shared__{name}"]
        run = await agent.query("go", mcp_servers={"shared": server(name)}, allowed_tools=allowed)
        assert run.text.endswith(f"{name} ran"), run.text
        assert [tool for tool in run.init["tools"] if tool.startswith("mcp__")] == allowed


ASKING_SERVER = '''
import json, sys

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

asked = {}
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}}
        send({"id": message["id"], "result": result})
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"with_default": {"type": "boolean"}}}
        send({"id": message["id"], "result": {"tools": [{"name": "paint", "description": "paints", "inputSchema": schema}]}})
    elif method == "tools/call":
        asked["call"] = message["id"]
        color = {"type": "string"}
        if message["params"]["arguments"]["with_default"]:
            color["default"] = "green"
        schema = {"type": "object", "properties": {"color": color}, "required": ["color"]}
        send({"id": 77, "method": "elicitation/create", "params": {"message": "Which color?", "requestedSchema": schema}})
    elif message.get("id") == 77:
        text = json.dumps(message.get("result") or message.get("error"))
        send({"id": asked["call"], "result": {"content": [{"type": "text", "text": text}]}})
'''


@pytest.mark.windlass_only
@pytest.mark.parametrize(("with_default", "expected"), [("true", "accept green"), ("false", "decline")])
async def test_a_server_that_asks_a_program_without_answers(agent, with_default, expected):
    """The defaults are sent if every required field has one; else the server is declined."""
    agent.serve(
        f"""
        when results 0
          call mcp__asking__paint {{"with_default": {with_default}}}

        when any
          say "It said: ${{result}}"
        """
    )
    script = agent.write("server.py", ASKING_SERVER)
    servers = {"asking": {"command": sys.executable, "args": [str(script)]}}
    run = await agent.query("go", mcp_servers=servers, allowed_tools=["mcp__asking"])
    answer = json.loads(result_text(run.tool_results[0]).splitlines()[0])
    assert " ".join([answer["action"], *answer.get("content", {}).values()]) == expected
