// The options of the SDK and what they change in requests and messages.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentTest, resultText } from "./harness.js";

const OK = 'when any\n  say "ok"\n';

agentTest("system prompt: text, list, preset with appended text, none", async (agent) => {
  await agent.serve(OK);
  await agent.query("go", { systemPrompt: "You are a pirate." });
  await agent.query("go", { systemPrompt: ["You are a parrot.", "You repeat."] });
  await agent.query("go", { systemPrompt: { type: "preset", preset: "claude_code", append: "Speak in rhymes." } });
  await agent.query("go");
  const [text, list, preset, none] = agent.requests.map((request) => request.systemText());
  assert.ok(text!.includes("You are a pirate."));
  assert.ok(list!.includes("You are a parrot.") && list!.includes("You repeat."));
  assert.ok(preset!.includes("Speak in rhymes.") && preset!.length > 1000);
  assert.ok(none!.length < 1000);
});

agentTest("tools, no tools, disallowed tools", async (agent) => {
  await agent.serve(OK);
  const some = await agent.query("go", { tools: ["Read", "Bash"] });
  assert.deepEqual(some.init.tools.sort(), ["Bash", "Read"]);
  const none = await agent.query("go", { tools: [] });
  assert.deepEqual(none.init.tools, []);
  const without = await agent.query("go", { disallowedTools: ["Bash"] });
  assert.ok(!without.init.tools.includes("Bash"));
  assert.ok(!agent.requests[2]!.toolNames().includes("Bash"));
});

agentTest("model alias and fallback", async (agent) => {
  await agent.serve('when any\n  times 3\n  fail 529\n\n' + OK);
  const run = await agent.query("go", { fallbackModel: "claude-haiku-4-5" });
  assert.equal(run.text, "ok");
  assert.equal(agent.requests.at(-1)!.body.model, "claude-haiku-4-5");
  assert.equal(run.system("model_fallback")[0].fallback_model, "claude-haiku-4-5");
  const alias = await agent.query("go", { model: "haiku" });
  assert.match(alias.init.model, /^claude-haiku/);
});

agentTest("cwd and additional directories", async (agent) => {
  const extra = join(agent.root, "extra");
  mkdirSync(extra);
  await agent.serve(`
    when user contains "which folder" and results 0
      call Bash {"command": "pwd"}

    when user contains "create it" and results 0
      call Write {"file_path": "${join(extra, "c.txt")}", "content": "new"}

    when any
      say "\${result}"
  `);
  mkdirSync(agent.path("sub"));
  const where = await agent.query("which folder", { cwd: agent.path("sub") });
  assert.equal(where.init.cwd, agent.path("sub"));
  assert.equal(resultText(where.toolResults[0]).trim(), agent.path("sub"));
  await agent.query("create it", { permissionMode: "acceptEdits" });
  assert.ok(!existsSync(join(extra, "c.txt")));
  await agent.query("create it", { permissionMode: "acceptEdits", additionalDirectories: [extra] });
  assert.equal(readFileSync(join(extra, "c.txt"), "utf8"), "new");
});

agentTest("environment of the binary", async (agent) => {
  await agent.serve(OK);
  await agent.query("go", { env: { ...process.env, ANTHROPIC_API_KEY: "another-key" } });
  assert.equal(agent.requests[0]!.headers["x-api-key"], "another-key");
  const userAgent = agent.requests[0]!.headers["user-agent"]!;
  assert.ok(userAgent.includes("agent-sdk/0.3.325") && userAgent.includes("sdk-ts"), userAgent);
});

agentTest("settings: object, text and file", async (agent) => {
  await agent.serve('when results 0\n  call Bash {"command": "touch x"}\n\nwhen any\n  say "ok"\n');
  const settings = { permissions: { allow: ["Bash(touch:*)"] } };
  const path = agent.write("more.json", JSON.stringify(settings));
  for (const given of [settings, JSON.stringify(settings), path]) {
    const run = await agent.query("go", { settings: given });
    assert.ok(!run.toolResults[0].is_error);
  }
});

agentTest("setting sources", async (agent) => {
  agent.write(".claude/commands/of-project.md", "project command");
  agent.write("CLAUDE.md", "The password is swordfish.");
  mkdirSync(join(agent.config, "commands"));
  writeFileSync(join(agent.config, "commands", "of-user.md"), "user command");
  await agent.serve(OK);
  const expectations = [
    [[], []],
    [["user"], ["of-user"]],
    [["project"], ["of-project"]],
    [["user", "project"], ["of-project", "of-user"]],
  ] as const;
  for (const [sources, expected] of expectations) {
    const run = await agent.query("go", { settingSources: [...sources] });
    const found = ["of-project", "of-user"].filter((name) => run.init.slash_commands.includes(name));
    assert.deepEqual(found, expected);
    const request = JSON.stringify(agent.requests.at(-1)!.body);
    assert.equal(request.includes("swordfish"), (sources as readonly string[]).includes("project"));
  }
});

agentTest("output style of the project", async (agent) => {
  agent.write(".claude/settings.json", '{"outputStyle": "terse"}');
  agent.write(".claude/output-styles/terse.md", "---\nname: terse\ndescription: short\n---\nBe terse.");
  await agent.serve(OK);
  const run = await agent.query("go", { settingSources: ["project"] });
  assert.equal(run.init.output_style, "terse");
  const without = await agent.query("go", { settingSources: [] });
  assert.equal(without.init.output_style, "default");
});

agentTest("agents", async (agent) => {
  agent.write(".claude/agents/of-file.md", "---\nname: of-file\ndescription: from a file\n---\nYou help.");
  await agent.serve(OK);
  const agents = { given: { description: "given", prompt: "x".repeat(260_000) } };
  const run = await agent.query("go", { agents, settingSources: ["project"] });
  assert.ok(run.init.agents.includes("given") && run.init.agents.includes("of-file"));
});

agentTest("an agent as the main thread", async (agent) => {
  await agent.serve(OK);
  const agents = { pirate: { description: "a pirate", prompt: "You are the pirate.", tools: ["Read"] } };
  const run = await agent.query("go", { agents, agent: "pirate" });
  assert.equal(run.text, "ok");
  assert.ok(agent.requests[0]!.systemText().includes("You are the pirate."));
  assert.deepEqual(agent.requests[0]!.toolNames(), ["Read"]);
});

agentTest("betas, thinking, effort and task budget", async (agent) => {
  await agent.serve(OK);
  await agent.query("go", { betas: ["context-1m-2025-08-07"], thinking: { type: "enabled", budgetTokens: 5000 } });
  await agent.query("go", { maxThinkingTokens: 4000 });
  await agent.query("go", { thinking: { type: "disabled" } });
  const [first, second, third] = agent.requests;
  assert.ok(first!.headers["anthropic-beta"]!.includes("context-1m-2025-08-07"));
  assert.equal(first!.body.thinking.budget_tokens, 5000);
  assert.equal(second!.body.thinking.budget_tokens, 4000);
  assert.ok([undefined, "disabled"].includes(third!.body.thinking?.type));
  await agent.queryAny("go", { effort: "low", taskBudget: { total: 60_000 }, model: "claude-opus-4-5" });
  const { output_config } = agent.requests[3]!.body;
  assert.equal(output_config.effort, "low");
  assert.equal(output_config.task_budget.total, 60_000);
});

agentTest("session id", async (agent) => {
  await agent.serve(OK);
  const sessionId = "0f0e0d0c-0b0a-4908-8706-050403020100";
  const run = await agent.query("go", { sessionId });
  assert.equal(run.result.session_id, sessionId);
  const again = await agent.queryAny("go", { sessionId });
  assert.match(String(again.error), /already in use/);
});

agentTest("nothing is written for a session that is not persistent", async (agent) => {
  await agent.serve(OK);
  const run = await agent.query("go", { persistSession: false });
  assert.equal(run.text, "ok");
  const again = await agent.queryAny("go", { resume: run.result.session_id });
  assert.ok(again.error);
});

agentTest("standard error is empty in a clean run", async (agent) => {
  await agent.serve(OK);
  const lines: string[] = [];
  await agent.query("go", { stderr: (data) => lines.push(data) });
  assert.deepEqual(lines, []);
});

agentTest("a skill of the project", async (agent) => {
  const text = "---\nname: brewing\ndescription: how to brew tea\n---\nBoil the water first.\n";
  agent.write(".claude/skills/brewing/SKILL.md", text);
  await agent.serve('when results 0\n  call Skill {"skill": "brewing"}\n\nwhen any\n  say "ok"\n');
  const run = await agent.query("make tea", { skills: ["brewing"], settingSources: ["project"] });
  assert.ok(run.init.skills.includes("brewing"));
  assert.ok(agent.requests.at(-1)!.messagesText().includes("Boil the water first."));
});
