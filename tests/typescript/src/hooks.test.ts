// Hook callbacks of the program: each event, and what an answer changes.

import type { HookCallback, HookCallbackMatcher, HookInput, HookJSONOutput } from "@anthropic-ai/claude-agent-sdk";
import assert from "node:assert/strict";
import { agentTest, resultText } from "./harness.js";
import type { Json } from "./model-server.js";

const ECHO_HI = `
when results 0
  call Bash {"command": "echo hi"}

when error
  say "It did not work: \${result}"

when any
  say "Result: \${result}"
`;
const TOUCH = ECHO_HI.replace("echo hi", "touch made.txt");

/** A hook that gives one answer and notes its inputs. */
class Hook {
  readonly inputs: Json[] = [];
  readonly ids: (string | undefined)[] = [];

  constructor(private readonly answer: HookJSONOutput | ((input: HookInput) => HookJSONOutput) = {}) {}

  readonly call: HookCallback = async (input, id) => {
    this.inputs.push(input);
    this.ids.push(id);
    return typeof this.answer === "function" ? this.answer(input) : this.answer;
  };

  on(matcher?: string): HookCallbackMatcher[] {
    return [matcher === undefined ? { hooks: [this.call] } : { matcher, hooks: [this.call] }];
  }
}

const preTool = (output: Json): HookJSONOutput => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", ...output },
});

agentTest("tool hooks see the call", async (agent) => {
  await agent.serve(ECHO_HI.replace("call Bash", "call Bash as toolu_echo"));
  const before = new Hook();
  const after = new Hook();
  const run = await agent.query("go", { hooks: { PreToolUse: before.on("Bash"), PostToolUse: after.on() } });
  assert.deepEqual([...before.ids, ...after.ids], ["toolu_echo", "toolu_echo"]);
  const [pre] = before.inputs;
  const [post] = after.inputs;
  assert.equal(pre.hook_event_name, "PreToolUse");
  assert.equal(pre.session_id, run.result.session_id);
  assert.equal(pre.cwd, agent.project);
  assert.equal(pre.tool_input.command, "echo hi");
  assert.ok(pre.transcript_path.endsWith(`${run.result.session_id}.jsonl`));
  assert.equal(post.tool_response.stdout.trim(), "hi");
});

agentTest("a matcher selects tools", async (agent) => {
  await agent.serve(ECHO_HI);
  const other = new Hook();
  const several = new Hook();
  await agent.query("go", { hooks: { PreToolUse: [...other.on("Write"), ...several.on("Write|Bash")] } });
  assert.equal(other.inputs.length, 0);
  assert.equal(several.inputs.length, 1);
});

agentTest("deny", async (agent) => {
  await agent.serve(ECHO_HI);
  const hook = new Hook(preTool({ permissionDecision: "deny", permissionDecisionReason: "shell is closed" }));
  const run = await agent.query("go", { hooks: { PreToolUse: hook.on() } });
  assert.ok(run.toolResults[0].is_error);
  assert.match(resultText(run.toolResults[0]), /shell is closed/);
  assert.equal(run.result.permission_denials[0].tool_name, "Bash");
});

agentTest("allow skips the callback", async (agent) => {
  await agent.serve(TOUCH);
  const hook = new Hook(preTool({ permissionDecision: "allow" }));
  let asked = 0;
  await agent.query("go", {
    hooks: { PreToolUse: hook.on() },
    canUseTool: async (_tool, input) => {
      asked += 1;
      return { behavior: "allow", updatedInput: input };
    },
  });
  assert.equal(asked, 0);
  assert.ok(agent.exists("made.txt"));
});

agentTest("ask reaches the callback with its reason", async (agent) => {
  await agent.serve(ECHO_HI);
  const hook = new Hook(preTool({ permissionDecision: "ask", permissionDecisionReason: "are you sure" }));
  const reasons: (string | undefined)[] = [];
  await agent.query("go", {
    hooks: { PreToolUse: hook.on() },
    canUseTool: async (_tool, input, options) => {
      reasons.push(options.decisionReason);
      return { behavior: "allow", updatedInput: input };
    },
  });
  assert.deepEqual(reasons, ["are you sure"]);
});

agentTest("changed input", async (agent) => {
  await agent.serve(ECHO_HI);
  const hook = new Hook(preTool({ permissionDecision: "allow", updatedInput: { command: "echo changed" } }));
  const run = await agent.query("go", { hooks: { PreToolUse: hook.on() } });
  assert.match(run.text, /^Result: changed/);
});

agentTest("defer ends the run with the call", async (agent) => {
  await agent.serve(ECHO_HI);
  const hook = new Hook(preTool({ permissionDecision: "defer" }));
  const run = await agent.query("go", { hooks: { PreToolUse: hook.on() } });
  assert.equal(run.result.terminal_reason, "tool_deferred");
  assert.equal(run.result.deferred_tool_use.name, "Bash");
});

agentTest("deny beats allow", async (agent) => {
  await agent.serve(ECHO_HI);
  const allow = new Hook(preTool({ permissionDecision: "allow" }));
  const deny = new Hook(preTool({ permissionDecision: "deny" }));
  const run = await agent.query("go", { hooks: { PreToolUse: [...allow.on(), ...deny.on()] } });
  assert.ok(run.toolResults[0].is_error);
});

agentTest("context after a tool reaches the model", async (agent) => {
  await agent.serve(ECHO_HI);
  const hook = new Hook({ hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: "the moon is full" } });
  await agent.query("go", { hooks: { PostToolUse: hook.on("Bash") } });
  assert.ok(agent.requests[1]!.messagesText().includes("the moon is full"));
});

agentTest("continue false ends the turn", async (agent) => {
  await agent.serve(ECHO_HI);
  const hook = new Hook({ continue: false, stopReason: "enough" });
  const run = await agent.query("go", { hooks: { PostToolUse: hook.on() } });
  assert.equal(run.result.terminal_reason, "hook_stopped");
  assert.equal(agent.requests.length, 1);
});

agentTest("a failed tool", async (agent) => {
  await agent.serve(ECHO_HI.replace("echo hi", "exit 3"));
  const success = new Hook();
  const failure = new Hook();
  const hooks = { PostToolUse: success.on(), PostToolUseFailure: failure.on() };
  await agent.query("go", { hooks, allowedTools: ["Bash"] });
  assert.equal(success.inputs.length, 0);
  assert.match(failure.inputs[0].error, /3/);
});

agentTest("a prompt hook adds context or blocks", async (agent) => {
  await agent.serve('when any\n  say "ok"\n');
  const context = new Hook({
    hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "it rains" },
  });
  await agent.query("how is the weather", { hooks: { UserPromptSubmit: context.on() } });
  assert.equal(context.inputs[0].prompt, "how is the weather");
  assert.ok(agent.requests[0]!.messagesText().includes("it rains"));
  const block = new Hook({ decision: "block", reason: "not that word" });
  const run = await agent.query("a word", { hooks: { UserPromptSubmit: block.on() } });
  assert.equal(agent.requests.length, 1);
  assert.equal(run.result.num_turns, 0);
});

agentTest("a stop hook keeps the run going", async (agent) => {
  await agent.serve('when user contains "write a test"\n  say "here it is"\n\nwhen any\n  say "done"\n');
  const hook = new Hook((input) =>
    (input as Json).stop_hook_active ? {} : { decision: "block", reason: "write a test first" },
  );
  const run = await agent.query("go", { hooks: { Stop: hook.on() } });
  assert.equal(run.text, "donehere it is");
  assert.deepEqual(hook.inputs.map((input) => input.stop_hook_active), [false, true]);
});

agentTest("permission requests", async (agent) => {
  await agent.serve(TOUCH);
  const allow = new Hook({
    hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior: "allow" } },
  });
  await agent.query("go", { hooks: { PermissionRequest: allow.on() } });
  assert.equal(allow.inputs[0].tool_name, "Bash");
  assert.ok(agent.exists("made.txt"));
});

agentTest("sub-agents start and stop", async (agent) => {
  await agent.serve(`
    when user contains "sub task"
      say "sub answer"

    when results 0
      call Agent {"description": "a sub task", "prompt": "do the sub task",
        "subagent_type": "helper", "run_in_background": false}

    when any
      say "main answer"
  `);
  const start = new Hook();
  const stop = new Hook();
  const run = await agent.query("go", {
    agents: { helper: { description: "helps", prompt: "You help." } },
    allowedTools: ["Agent"],
    hooks: { SubagentStart: start.on(), SubagentStop: stop.on() },
  });
  assert.equal(start.inputs[0].agent_type, "helper");
  assert.equal(start.inputs[0].agent_id, stop.inputs[0].agent_id);
  assert.equal(stop.inputs[0].last_assistant_message, "sub answer");
  assert.equal(run.text, "main answer");
});

agentTest("before and after compaction", async (agent) => {
  await agent.serve('when user contains "first"\n  say "answer"\n\nwhen any\n  say "<summary>We spoke.</summary>"\n');
  const before = new Hook();
  const conversation = agent.converse({ hooks: { PreCompact: before.on() } });
  await conversation.ask("first");
  const run = await conversation.ask("/compact keep the names");
  assert.equal(before.inputs[0].trigger, "manual");
  assert.equal(before.inputs[0].custom_instructions, "keep the names");
  assert.equal(run.system("compact_boundary")[0].compact_metadata.trigger, "manual");
});

agentTest("async answers and failures do not hold the tool", async (agent) => {
  await agent.serve(ECHO_HI);
  const later = new Hook({ async: true, asyncTimeout: 1000 });
  const failing: HookCallback = async () => {
    throw new Error("the hook broke");
  };
  const run = await agent.query("go", { hooks: { PreToolUse: [...later.on(), { hooks: [failing] }] } });
  assert.match(run.text, /^Result: hi/);
});

agentTest("a failing hook that must not fail blocks", async (agent) => {
  await agent.serve(ECHO_HI);
  const failing: HookCallback = async () => {
    throw new Error("the hook broke");
  };
  const run = await agent.query("go", { hooks: { PreToolUse: [{ hooks: [failing], onFailure: "block" }] } });
  assert.ok(run.toolResults[0].is_error);
});
