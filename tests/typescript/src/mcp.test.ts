// Tools of the program: MCP servers that live in the SDK's process.

import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import assert from "node:assert/strict";
import { z } from "zod";
import { agentTest, resultText } from "./harness.js";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

/** A server with tools that note their calls. */
function makeDesk() {
  const calls: unknown[] = [];
  const add = tool("add", "Adds two numbers", { a: z.number(), b: z.number() }, async (input) => {
    calls.push(input);
    return text(String(input.a + input.b));
  });
  const fail = tool("fail", "Raises", {}, async () => {
    throw new Error("out of paper");
  });
  const refuse = tool("refuse", "Returns an error", {}, async () => ({ ...text("closed today"), isError: true }));
  const structured = tool("structured", "Returns data", {}, async () => ({
    ...text('{"degrees":21}'),
    structuredContent: { degrees: 21 },
  }));
  const large = tool("large", "Returns much", { size: z.number() }, async ({ size }) => text("x".repeat(size)));
  const desk = createSdkMcpServer({ name: "desk", version: "1.2.3", tools: [add, fail, refuse, structured, large] });
  return { calls, servers: { desk } };
}

const call = (name: string, input: object) => `
when results 0
  call mcp__desk__${name} as toolu_call ${JSON.stringify(input)}

when error
  say "It failed: \${result}"

when any
  say "It said: \${result}"
`;

agentTest("tools are listed and the status is connected", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const run = await agent.query("go", { mcpServers: makeDesk().servers });
  assert.ok(run.init.tools.includes("mcp__desk__add"));
  assert.deepEqual(run.init.mcp_servers.map((server: any) => [server.name, server.status]), [["desk", "connected"]]);
});

agentTest("an allowed tool is called", async (agent) => {
  await agent.serve(call("add", { a: 20, b: 22 }));
  const desk = makeDesk();
  const run = await agent.query("go", { mcpServers: desk.servers, allowedTools: ["mcp__desk__add"] });
  assert.deepEqual(desk.calls, [{ a: 20, b: 22 }]);
  assert.match(run.text, /^It said: 42/);
  assert.equal(run.toolResults[0].tool_use_id, "toolu_call");
});

agentTest("a tool without permission is not called", async (agent) => {
  await agent.serve(call("add", { a: 1, b: 2 }));
  const desk = makeDesk();
  const run = await agent.query("go", { mcpServers: desk.servers });
  assert.deepEqual(desk.calls, []);
  assert.ok(run.toolResults[0].is_error);
  assert.equal(run.result.permission_denials[0].tool_name, "mcp__desk__add");
});

agentTest("a denied tool is not offered", async (agent) => {
  await agent.serve(call("add", { a: 1, b: 2 }));
  const desk = makeDesk();
  const options = { mcpServers: desk.servers, allowedTools: ["mcp__desk"], disallowedTools: ["mcp__desk__add"] };
  const run = await agent.query("go", options);
  assert.deepEqual(desk.calls, []);
  assert.ok(!run.init.tools.includes("mcp__desk__add"));
});

agentTest("the callback decides about a tool of the program", async (agent) => {
  await agent.serve(call("add", { a: 1, b: 2 }));
  const desk = makeDesk();
  await agent.query("go", {
    mcpServers: desk.servers,
    canUseTool: async () => ({ behavior: "allow", updatedInput: { a: 5, b: 6 } }),
  });
  assert.deepEqual(desk.calls, [{ a: 5, b: 6 }]);
});

for (const [name, message] of [["fail", "out of paper"], ["refuse", "closed today"]] as const) {
  agentTest(`errors reach the model: ${name}`, async (agent) => {
    await agent.serve(call(name, {}));
    const run = await agent.query("go", { mcpServers: makeDesk().servers, allowedTools: ["mcp__desk"] });
    assert.ok(run.toolResults[0].is_error);
    assert.ok(resultText(run.toolResults[0]).includes(message));
    assert.match(run.text, /^It failed/);
  });
}

agentTest("structured content", async (agent) => {
  await agent.serve(call("structured", {}));
  const run = await agent.query("go", { mcpServers: makeDesk().servers, allowedTools: ["mcp__desk"] });
  assert.match(run.text, /degrees/);
  assert.match(run.text, /21/);
});

agentTest("large results are bounded, others complete", async (agent) => {
  await agent.serve(call("large", { size: 900_000 }));
  await agent.query("go", { mcpServers: makeDesk().servers, allowedTools: ["mcp__desk"] });
  assert.ok(agent.requests[1]!.messagesText().length < 600_000);
  await agent.serve(call("large", { size: 40_000 }));
  const run = await agent.query("go", { mcpServers: makeDesk().servers, allowedTools: ["mcp__desk"] });
  assert.equal(resultText(run.toolResults[0]), "x".repeat(40_000));
});

agentTest("servers come and go", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse();
  const first = await conversation.ask("one");
  assert.ok(!first.init.tools.includes("mcp__desk__add"));
  const set = await conversation.query.setMcpServers(makeDesk().servers);
  assert.deepEqual(set.added, ["desk"]);
  const second = await conversation.ask("two");
  assert.ok(second.init.tools.includes("mcp__desk__add"));
  await conversation.query.toggleMcpServer("desk", false);
  const third = await conversation.ask("three");
  assert.ok(!third.init.tools.includes("mcp__desk__add"));
});

/** A server in Python that asks the user before it acts. */
const ASKING_SERVER = `
import json, sys
schema = {"type": "object", "required": ["size"], "properties": {"size": {"type": "string"}, "cups": {"type": "integer", "default": 1}}}
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize": send({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "desk", "version": "1"}}})
    elif method == "tools/list": send({"id": id, "result": {"tools": [{"name": "order", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        send({"id": "q", "method": "elicitation/create", "params": {"message": "Which size?", "requestedSchema": schema}})
        answer = json.loads(sys.stdin.readline())["result"]
        send({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(answer)}]}})
`;

agentTest("a server asks the user through the program", async (agent) => {
  await agent.serve(call("order", {}));
  const path = agent.write("server.py", ASKING_SERVER);
  const servers = { desk: { command: "python3", args: [path] } };
  const asked: unknown[] = [];
  const run = await agent.query("go", {
    mcpServers: servers,
    allowedTools: ["mcp__desk"],
    canUseTool: async (_, input) => ({ behavior: "allow", updatedInput: input }),
    onElicitation: async (request) => {
      asked.push([request.serverName, request.message, request.mode]);
      return { action: "accept", content: { size: "large" } };
    },
  });
  assert.deepEqual(asked, [["desk", "Which size?", "form"]]);
  const result = JSON.parse(resultText(run.toolResults[0]));
  assert.deepEqual(result, { action: "accept", content: { size: "large", cups: 1 } });
});
