// Rules, modes and the permission callback.

import type { CanUseTool, PermissionResult } from "@anthropic-ai/claude-agent-sdk";
import assert from "node:assert/strict";
import { agentTest, resultText } from "./harness.js";

const TOUCH = `
when results 0
  call Bash {"command": "touch made.txt"}

when error
  say "It did not work: \${result}"

when any
  say "It worked."
`;

/** A callback that always gives one answer and notes what it was asked. */
class Callback {
  readonly asked: { tool: string; input: Record<string, unknown>; options: Parameters<CanUseTool>[2] }[] = [];

  constructor(private readonly answer: (input: Record<string, unknown>) => PermissionResult) {}

  readonly ask: CanUseTool = async (tool, input, options) => {
    this.asked.push({ tool, input, options });
    return this.answer(input);
  };
}

const allowing = () => new Callback((input) => ({ behavior: "allow", updatedInput: input }));

agentTest("without a callback a change is denied", async (agent) => {
  await agent.serve(TOUCH);
  const run = await agent.query("go");
  assert.ok(!agent.exists("made.txt"));
  assert.ok(run.toolResults[0].is_error);
  assert.equal(run.result.subtype, "success");
  assert.equal(run.result.permission_denials[0].tool_name, "Bash");
  assert.equal(run.system("permission_denied")[0].tool_name, "Bash");
});

agentTest("the callback allows", async (agent) => {
  await agent.serve(TOUCH.replace("call Bash", "call Bash as toolu_touch"));
  const callback = allowing();
  const run = await agent.query("go", { canUseTool: callback.ask });
  assert.ok(agent.exists("made.txt"));
  assert.equal(run.text, "It worked.");
  const [asked] = callback.asked;
  assert.equal(asked!.tool, "Bash");
  assert.equal(asked!.input["command"], "touch made.txt");
  assert.equal(asked!.options.toolUseID, "toolu_touch");
  assert.ok(asked!.options.signal instanceof AbortSignal);
});

agentTest("the callback denies with a message", async (agent) => {
  await agent.serve(TOUCH);
  const callback = new Callback(() => ({ behavior: "deny", message: "not on a Sunday" }));
  const run = await agent.query("go", { canUseTool: callback.ask });
  assert.ok(!agent.exists("made.txt"));
  assert.match(resultText(run.toolResults[0]), /not on a Sunday/);
  assert.match(run.text, /not on a Sunday/);
});

agentTest("the callback changes the input", async (agent) => {
  await agent.serve(TOUCH);
  const callback = new Callback(() => ({ behavior: "allow", updatedInput: { command: "touch other.txt" } }));
  await agent.query("go", { canUseTool: callback.ask });
  assert.ok(agent.exists("other.txt") && !agent.exists("made.txt"));
});

agentTest("the callback denies and interrupts", async (agent) => {
  await agent.serve(TOUCH);
  const callback = new Callback(() => ({ behavior: "deny", message: "stop", interrupt: true }));
  const run = await agent.queryAny("go", { canUseTool: callback.ask });
  assert.ok(run.error);
  assert.equal(run.result.subtype, "error_during_execution");
  assert.equal(run.result.terminal_reason, "aborted_tools");
  assert.equal(agent.requests.length, 1);
});

agentTest("the callback allows always", async (agent) => {
  await agent.serve(TOUCH);
  const callback = new Callback((input) => ({
    behavior: "allow",
    updatedInput: input,
    updatedPermissions: [
      {
        type: "addRules",
        rules: [{ toolName: "Bash", ruleContent: "touch:*" }],
        behavior: "allow",
        destination: "session",
      },
    ],
  }));
  const conversation = agent.converse({ canUseTool: callback.ask });
  await conversation.ask("go");
  const second = await conversation.ask("go again");
  assert.equal(callback.asked.length, 1);
  assert.equal(second.text, "It worked.");
});

agentTest("the callback changes the mode", async (agent) => {
  await agent.serve(`
    when results 0
      call Write {"file_path": "${agent.path("n.txt")}", "content": "\${ask}"}

    when any
      say "ok"
  `);
  const callback = new Callback((input) => ({
    behavior: "allow",
    updatedInput: input,
    updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
  }));
  const conversation = agent.converse({ canUseTool: callback.ask });
  const first = await conversation.ask("go");
  const second = await conversation.ask("go again");
  assert.equal(callback.asked.length, 1);
  assert.deepEqual(
    callback.asked[0]!.options.suggestions?.filter((update) => update.type === "setMode").map((update) => update.mode),
    ["acceptEdits"],
  );
  assert.ok(first.system("status").some((status) => status.permissionMode === "acceptEdits"));
  assert.equal(second.init.permissionMode, "acceptEdits");
});

agentTest("allowed and denied rules", async (agent) => {
  await agent.serve(TOUCH);
  const callback = allowing();
  const denied = await agent.query("go", { disallowedTools: ["Bash(touch:*)"], canUseTool: callback.ask });
  assert.ok(denied.toolResults[0].is_error);
  assert.equal(callback.asked.length, 0);
  const other = await agent.query("go", { allowedTools: ["Bash(mkdir:*)"] });
  assert.ok(other.toolResults[0].is_error);
  const allowed = await agent.query("go", { allowedTools: ["Bash(touch:*)"] });
  assert.equal(allowed.text, "It worked.");
});

for (const [mode, written] of [["acceptEdits", true], ["plan", false], ["dontAsk", false]] as const) {
  agentTest(`mode ${mode}`, async (agent) => {
    await agent.serve(`
      when results 0
        call Write {"file_path": "${agent.path("n.txt")}", "content": "x"}

      when any
        say "ok"
    `);
    const run = await agent.query("go", { permissionMode: mode });
    assert.equal(agent.exists("n.txt"), written);
    assert.equal(run.init.permissionMode, mode);
  });
}

agentTest("mode bypassPermissions", async (agent) => {
  await agent.serve(TOUCH);
  const options = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } as const;
  const run = await agent.query("go", options);
  assert.equal(run.text, "It worked.");
});
