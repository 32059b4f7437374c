// Control requests of the program while a session runs.

import { startup } from "@anthropic-ai/claude-agent-sdk";
import assert from "node:assert/strict";
import { agentTest, MODEL, Run } from "./harness.js";

const WORDS = "one two three four five six seven eight nine ten eleven twelve ".repeat(4);
const SLOW = `
when user contains "slowly"
  pace 200ms
  say "${WORDS}"

when user contains "wait" and results 0
  call Bash {"command": "touch started; sleep 30"}

when user contains "again"
  say "here again"

when any
  say "ok"
`;

const isDelta = (message: any) => message.type === "stream_event" && message.event.type === "content_block_delta";

agentTest("interrupt while the model speaks", async (agent) => {
  await agent.serve(SLOW);
  const conversation = agent.converse({ includePartialMessages: true });
  conversation.send("speak slowly");
  await conversation.receive(isDelta);
  await conversation.query.interrupt();
  const run = await conversation.receive();
  assert.equal(run.result.subtype, "error_during_execution");
  assert.equal(run.result.terminal_reason, "aborted_streaming");
  const after = await conversation.ask("are you there again");
  assert.equal(after.text, "here again");
});

agentTest("interrupt while a tool runs", async (agent) => {
  await agent.serve(SLOW);
  const conversation = agent.converse({ allowedTools: ["Bash"] });
  conversation.send("wait");
  await agent.made("started");
  await conversation.query.interrupt();
  const run = await conversation.receive();
  assert.equal(run.result.terminal_reason, "aborted_tools");
  const after = await conversation.ask("are you there again");
  assert.equal(after.text, "here again");
});

agentTest("abort ends the run", async (agent) => {
  await agent.serve(SLOW);
  const abortController = new AbortController();
  const conversation = agent.converse({ includePartialMessages: true, abortController });
  conversation.send("speak slowly");
  await conversation.receive(isDelta);
  abortController.abort();
  await assert.rejects(conversation.receive());
});

agentTest("set model", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse();
  await conversation.ask("one");
  assert.equal(agent.requests.at(-1)!.body.model, MODEL);
  await conversation.query.setModel("claude-haiku-4-5");
  const second = await conversation.ask("two");
  assert.equal(agent.requests.at(-1)!.body.model, "claude-haiku-4-5");
  assert.equal(second.init.model, "claude-haiku-4-5");
});

agentTest("set permission mode", async (agent) => {
  await agent.serve(`
    when results 0
      call Write {"file_path": "${agent.path("n.txt")}", "content": "\${ask}"}

    when any
      say "ok"
  `);
  const conversation = agent.converse();
  const first = await conversation.ask("one");
  assert.ok(first.toolResults[0].is_error);
  await conversation.query.setPermissionMode("acceptEdits");
  const second = await conversation.ask("two");
  assert.ok(!second.toolResults[0].is_error);
  assert.equal(second.init.permissionMode, "acceptEdits");
  await assert.rejects(conversation.query.setPermissionMode("yolo" as "plan"), /mode/i);
});

agentTest("set thinking tokens", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse();
  await conversation.ask("one");
  await conversation.query.setMaxThinkingTokens(3000);
  await conversation.ask("two");
  assert.equal(agent.requests.at(-1)!.body.thinking.budget_tokens, 3000);
});

agentTest("what the session supports", async (agent) => {
  agent.write(".claude/commands/of-project.md", "---\ndescription: mine\n---\nDo it.");
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse({ agents: { given: { description: "given", prompt: "You help." } } });
  const commands = await conversation.query.supportedCommands();
  for (const name of ["compact", "clear", "of-project"]) {
    assert.ok(commands.some((command) => command.name === name), name);
  }
  const models = await conversation.query.supportedModels();
  assert.ok(models.length > 0 && models.every((model) => model.value && model.displayName));
  const agents = await conversation.query.supportedAgents();
  assert.ok(agents.some((entry) => entry.name === "given" && entry.description === "given"));
  const account = await conversation.query.accountInfo();
  assert.equal(typeof account, "object");
  const initialized = await conversation.query.initializationResult();
  assert.equal(initialized.output_style, "default");
});

agentTest("status of servers, and errors for unknown ones", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse();
  assert.deepEqual(await conversation.query.mcpServerStatus(), []);
  await assert.rejects(conversation.query.reconnectMcpServer("nowhere"), /nowhere/);
  await conversation.query.stopTask("no-such-task");
  const run = await conversation.ask("one");
  assert.equal(run.text, "ok");
});

agentTest("context usage", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse();
  await conversation.ask("one");
  const usage = await conversation.query.getContextUsage();
  assert.equal(usage.model, MODEL);
  assert.ok(usage.totalTokens > 0 && usage.totalTokens <= usage.maxTokens);
});

agentTest("read a file through the session", async (agent) => {
  agent.write("a.txt", "content of a");
  await agent.serve('when any\n  say "ok"\n');
  const conversation = agent.converse();
  const file = await conversation.query.readFile(agent.path("a.txt"));
  assert.equal(file?.contents, "content of a");
});

agentTest("control requests are answered during a turn", async (agent) => {
  await agent.serve(SLOW);
  const conversation = agent.converse({ includePartialMessages: true });
  conversation.send("speak slowly");
  await conversation.receive(isDelta);
  assert.deepEqual(await conversation.query.mcpServerStatus(), []);
  await conversation.query.interrupt();
  await conversation.receive();
});

agentTest("a session that was started ahead", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const warm = await startup({ options: agent.options() });
  const run = new Run();
  for await (const message of warm.query("hello")) run.messages.push(message);
  assert.equal(run.text, "ok");
});
