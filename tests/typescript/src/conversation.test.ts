// Prompts and answers: one shot, streaming input, several turns.

import assert from "node:assert/strict";
import { agentTest, MODEL, stream, userMessage, windlassTest } from "./harness.js";

const ECHO = `
when user contains "hello"
  say "Hello yourself."

when user contains "alpha"
  say "first answer"

when user contains "beta"
  say "second answer"

when any
  say "something else"
`;

// spec: SDK-09
agentTest("plain text", async (agent) => {
  await agent.serve(ECHO);
  const run = await agent.query("hello there");
  assert.equal(run.text, "Hello yourself.");
  assert.equal(run.messages[0]?.type, "system");
  assert.equal(run.messages.at(-1)?.type, "result");
  const [answer] = run.ofType("assistant");
  assert.equal(answer.message.model, MODEL);
  assert.equal(answer.session_id, run.result.session_id);
  assert.equal(answer.parent_tool_use_id, null);
  assert.ok(answer.uuid && answer.message.id);
});

agentTest("result fields", async (agent) => {
  await agent.serve('when any\n  say "done"\n  usage in 1000 out 200\n');
  const { result } = await agent.query("go");
  assert.equal(result.subtype, "success");
  assert.equal(result.is_error, false);
  assert.equal(result.num_turns, 1);
  assert.equal(result.result, "done");
  assert.equal(result.stop_reason, "end_turn");
  assert.equal(result.terminal_reason, "completed");
  assert.deepEqual(result.permission_denials, []);
  assert.equal(result.usage.input_tokens, 1000);
  assert.equal(result.usage.output_tokens, 200);
  const usage = result.modelUsage[MODEL];
  assert.equal(usage.inputTokens, 1000);
  assert.equal(usage.outputTokens, 200);
  assert.ok(usage.contextWindow > 0 && usage.maxOutputTokens > 0);
  assert.ok(result.total_cost_usd > 0 && result.total_cost_usd < 1);
  assert.ok(result.duration_ms >= 0 && result.duration_api_ms >= 0);
});

agentTest("init describes the session", async (agent) => {
  await agent.serve(ECHO);
  const { init } = await agent.query("hello");
  assert.equal(init.cwd, agent.project);
  assert.equal(init.model, MODEL);
  assert.equal(init.permissionMode, "default");
  assert.equal(init.apiKeySource, "ANTHROPIC_API_KEY");
  assert.deepEqual(init.mcp_servers, []);
  for (const tool of ["Bash", "Read", "Write", "Edit"]) assert.ok(init.tools.includes(tool), tool);
  assert.ok(init.slash_commands.includes("compact"));
  assert.ok(Array.isArray(init.agents) && Array.isArray(init.skills) && Array.isArray(init.plugins));
});

agentTest("streaming input has one result for each message", async (agent) => {
  await agent.serve(ECHO);
  const run = await agent.query(stream(userMessage("alpha"), userMessage("beta")));
  assert.deepEqual(run.results.map((result) => result.result), ["first answer", "second answer"]);
});

agentTest("a conversation keeps its history", async (agent) => {
  await agent.serve(ECHO);
  const conversation = agent.converse();
  const first = await conversation.ask("alpha");
  const second = await conversation.ask([{ type: "text", text: "beta" }]);
  await conversation.finish();
  assert.equal(first.text, "first answer");
  assert.equal(second.text, "second answer");
  assert.equal(second.init.session_id, first.init.session_id);
  assert.ok(agent.requests[1]?.messagesText().includes("first answer"));
});

agentTest("tool call and result", async (agent) => {
  agent.write("a.txt", "forty-two\n");
  await agent.serve(`
    when results 0
      think "Where is it."
      say "Let me look."
      call Read as toolu_read {"file_path": "${agent.path("a.txt")}"}

    when result of Read contains "forty-two"
      say "It says forty-two."
  `);
  const run = await agent.query("read it");
  assert.equal(run.text, "Let me look.It says forty-two.");
  const [thought] = run.blocks("thinking");
  assert.equal(thought.thinking, "Where is it.");
  const [result] = run.toolResults;
  assert.equal(result.tool_use_id, "toolu_read");
  const [user] = run.ofType("user");
  assert.equal(user.tool_use_result.file.filePath, agent.path("a.txt"));
  assert.equal(run.result.num_turns, 2);
  const ids = new Set(run.ofType("assistant").slice(0, 3).map((message) => message.message.id));
  assert.equal(ids.size, 1);
});

agentTest("parallel tool calls", async (agent) => {
  await agent.serve(`
    when results 0
      call Bash as toolu_a {"command": "echo alpha"}
      call Bash as toolu_b {"command": "echo beta"}

    when results 2
      say "Both came back."
  `);
  const run = await agent.query("go");
  assert.equal(run.text, "Both came back.");
  const contents = run.toolResults.map((block) => [block.tool_use_id, block.content.trim()]);
  assert.deepEqual(contents.sort(), [["toolu_a", "alpha"], ["toolu_b", "beta"]]);
  assert.equal(run.result.num_turns, 3);
});

agentTest("large prompt and unicode", async (agent) => {
  await agent.serve(ECHO);
  const run = await agent.query("hello שלום 😀 \u2028 " + "x".repeat(400_000));
  assert.equal(run.text, "Hello yourself.");
  assert.ok(agent.requests[0]!.messagesText().length > 400_000);
  assert.ok(agent.requests[0]!.messagesText().includes("שלום 😀 \u2028"));
});

agentTest("partial messages", async (agent) => {
  await agent.serve('when any\n  think "Let me think."\n  say "a few words here"\n  usage in 77 out 7\n');
  const without = await agent.query("go");
  assert.deepEqual(without.ofType("stream_event"), []);
  const run = await agent.query("go", { includePartialMessages: true });
  const events = run.ofType("stream_event").map((message) => message.event);
  const kinds = events.map((event) => event.type);
  assert.equal(kinds[0], "message_start");
  assert.equal(kinds.at(-1), "message_stop");
  const deltas = events.filter((event) => event.type === "content_block_delta").map((event) => event.delta);
  assert.equal(deltas.map((delta) => delta.text ?? "").join(""), "a few words here");
  assert.equal(deltas.map((delta) => delta.thinking ?? "").join(""), "Let me think.");
  assert.equal(events[0].message.usage.input_tokens, 77);
});

// spec: FEED-07
windlassTest("a line about each batch of calls, on demand", async (agent) => {
  await agent.serve(`
when user contains "Call: Bash" and user contains "notes"
  say "Printed the notes"

when user contains "Call: "
  say "Waited"

when results 0
  call Bash as toolu_first {"command": "echo notes"}

when result contains "notes"
  call Bash as toolu_second {"command": "until [ -e seen ]; do sleep 0.05; done"}

when any
  say "done"
`);
  const conversation = agent.converse({
    allowedTools: ["Bash"],
    env: { ...process.env, CLAUDE_CODE_EMIT_TOOL_USE_SUMMARIES: "1" },
  });
  conversation.send("go");
  const first = await conversation.receive((message) => message.type === "tool_use_summary");
  const line = first.messages.at(-1);
  assert.ok(line?.type === "tool_use_summary");
  assert.equal(line.summary, "Printed the notes");
  assert.deepEqual(line.preceding_tool_use_ids, ["toolu_first"]);
  agent.write("seen", "");
  assert.equal((await conversation.receive()).result.result, "done");
  await conversation.finish();
});

agentTest("replayed messages and origin", async (agent) => {
  await agent.serve(ECHO);
  const uuid = "7d5c9f5e-0a3b-4c1e-9f57-5f2f0a6f3b11";
  const message = userMessage("hello", { uuid, origin: { kind: "human" } });
  const run = await agent.query(stream(message), { extraArgs: { "replay-user-messages": null } });
  assert.equal(run.ofType("user").filter((frame) => frame.uuid === uuid).length, 1);
  assert.deepEqual(run.result.origin, { kind: "human" });
});

agentTest("clear starts a new session", async (agent) => {
  await agent.serve(ECHO);
  const conversation = agent.converse();
  const first = await conversation.ask("alpha");
  const cleared = await conversation.ask("/clear");
  const second = await conversation.ask("beta");
  assert.equal(cleared.ofType("conversation_reset")[0].session_id, first.result.session_id);
  assert.notEqual(second.result.session_id, first.result.session_id);
  assert.ok(!agent.requests.at(-1)!.messagesText().includes("first answer"));
});
