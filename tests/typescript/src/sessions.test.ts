// Sessions on disk: resume, continue, fork, the SDK's own helpers, and checkpoints of files.

import {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  InMemorySessionStore,
  listSessions,
  listSubagents,
  renameSession,
  tagSession,
} from "@anthropic-ai/claude-agent-sdk";
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, agentTest, Run, stream, userMessage, windlassTest } from "./harness.js";

const ECHO = `
when user contains "alpha"
  say "answer 1"

when user contains "beta"
  say "answer 2"

when user contains "gamma"
  say "answer 3"

when any
  say "answer"
`;

agentTest("resume", async (agent) => {
  await agent.serve(ECHO);
  const first = await agent.query("alpha");
  const second = await agent.query("beta", { resume: first.result.session_id });
  assert.equal(second.result.session_id, first.result.session_id);
  assert.ok(agent.requests.at(-1)!.messagesText().includes("answer 1"));
  assert.ok(second.result.total_cost_usd > first.result.total_cost_usd);
});

agentTest("resume of an unknown session", async (agent) => {
  await agent.serve(ECHO);
  const unknown = "11111111-2222-4333-8444-555555555555";
  const run = await agent.queryAny("beta", { resume: unknown });
  assert.ok(String(run.error).includes(unknown));
  assert.equal(agent.requests.length, 0);
});

agentTest("continue", async (agent) => {
  await agent.serve(ECHO);
  await agent.query("alpha");
  const newest = await agent.query("beta");
  const run = await agent.query("go on", { continue: true });
  assert.equal(run.result.session_id, newest.result.session_id);
  assert.ok(agent.requests.at(-1)!.messagesText().includes("answer 2"));
  assert.ok(!agent.requests.at(-1)!.messagesText().includes("answer 1"));
});

agentTest("fork", async (agent) => {
  await agent.serve(ECHO);
  const first = await agent.query("alpha");
  const fork = await agent.query("beta", { resume: first.result.session_id, forkSession: true });
  assert.notEqual(fork.result.session_id, first.result.session_id);
  assert.equal((await getSessionMessages(first.result.session_id, { dir: agent.project })).length, 2);
  assert.equal((await getSessionMessages(fork.result.session_id, { dir: agent.project })).length, 4);
});

/** A session of two turns, and the ids of its first answer and of its second prompt. */
async function twoTurns(agent: Agent) {
  await agent.serve(ECHO);
  const run = await agent.query(stream(userMessage("alpha"), userMessage("beta")));
  const stored = await getSessionMessages(run.result.session_id, { dir: agent.project });
  const answer: string = run.ofType("assistant")[0].uuid;
  assert.ok(stored.some((message) => message.uuid === answer));
  const prompt = stored.find((message) => message.type === "user" && JSON.stringify(message.message).includes("beta"));
  return { session: run.result.session_id as string, answer, prompt: prompt!.uuid };
}

agentTest("resume at a message", async (agent) => {
  const { session, answer, prompt } = await twoTurns(agent);
  const options = { resume: session, resumeSessionAt: answer, resumeDropsTurn: prompt, forkSession: true };
  const run = await agent.query("gamma", options);
  assert.equal(run.text, "answer 3");
  const history = agent.requests.at(-1)!.messagesText();
  assert.ok(history.includes("answer 1") && !history.includes("answer 2"));
});

agentTest("resume that would drop another turn is rejected", async (agent) => {
  const { session, answer } = await twoTurns(agent);
  const wrong = "33333333-4444-4555-8666-777777777777";
  const run = await agent.queryAny("gamma", { resume: session, resumeSessionAt: answer, resumeDropsTurn: wrong });
  assert.match(String(run.error), /Resume rejected by --resume-drops-turn:/);
});

agentTest("list, read, rename, tag and delete", async (agent) => {
  await agent.serve(ECHO);
  const run = await agent.query("alpha is the first prompt");
  const session = run.result.session_id;
  const where = { dir: agent.project };
  const [info] = await listSessions(where);
  assert.equal(info!.sessionId, session);
  assert.equal(info!.firstPrompt, "alpha is the first prompt");
  assert.equal(info!.cwd, agent.project);
  const messages = await getSessionMessages(session, where);
  assert.deepEqual(messages.map((message) => message.type), ["user", "assistant"]);
  assert.equal(messages[1]!.uuid, run.ofType("assistant")[0].uuid);
  await renameSession(session, "a title of mine", where);
  await tagSession(session, "important", where);
  const renamed = await getSessionInfo(session, where);
  assert.equal(renamed!.customTitle, "a title of mine");
  assert.equal(renamed!.tag, "important");
  const again = await agent.query("beta", { resume: "a title of mine" });
  assert.equal(again.result.session_id, session);
  await deleteSession(session, where);
  assert.deepEqual(await listSessions(where), []);
  const gone = await agent.queryAny("beta", { resume: session });
  assert.ok(gone.error);
});

agentTest("a fork by the helper can be resumed", async (agent) => {
  await agent.serve(ECHO);
  const run = await agent.query("alpha");
  const fork = await forkSession(run.result.session_id, { dir: agent.project });
  const again = await agent.query("beta", { resume: fork.sessionId });
  assert.equal(again.result.session_id, fork.sessionId);
  assert.ok(agent.requests.at(-1)!.messagesText().includes("answer 1"));
});

agentTest("sub-agent messages", async (agent) => {
  await agent.serve(`
    when user contains "inner job" and results 0
      call Bash as toolu_inner {"command": "echo inner"}

    when user contains "inner job"
      say "inner answer"

    when user contains "outer job" and results 0
      call Agent as toolu_agent {"description": "an inner job", "prompt": "do the inner job",
        "subagent_type": "helper", "run_in_background": false}

    when any
      say "outer answer"
  `);
  const agents = { helper: { description: "helps", prompt: "You are the helper.", tools: ["Bash"] } };
  const run = await agent.query("outer job", { agents, allowedTools: ["Agent", "Bash"], forwardSubagentText: true });
  assert.equal(run.text, "outer answer");
  const inner = run.ofType("assistant").filter((message) => message.parent_tool_use_id === "toolu_agent");
  assert.ok(JSON.stringify(inner).includes("inner answer") && JSON.stringify(inner).includes("toolu_inner"));
  assert.equal(run.system("task_started")[0].tool_use_id, "toolu_agent");
  assert.equal(run.system("task_notification")[0].status, "completed");
  const where = { dir: agent.project };
  const [id] = await listSubagents(run.result.session_id, where);
  const stored = await getSubagentMessages(run.result.session_id, id!, where);
  assert.ok(JSON.stringify(stored.at(-1)).includes("inner answer"));
});

agentTest("a store mirrors the session and resumes it", async (agent) => {
  await agent.serve(ECHO);
  const sessionStore = new InMemorySessionStore();
  const first = await agent.query("alpha", { sessionStore });
  assert.equal(sessionStore.size, 1);
  await deleteSession(first.result.session_id, { dir: agent.project });
  const second = await agent.query("beta", { sessionStore, resume: first.result.session_id });
  assert.equal(second.result.session_id, first.result.session_id);
  assert.ok(agent.requests.at(-1)!.messagesText().includes("answer 1"));
  const stored = await getSessionMessages(first.result.session_id, { dir: agent.project, sessionStore });
  assert.equal(stored.length, 4);
});

agentTest("files are rewound", async (agent) => {
  agent.write("old.txt", "original\n");
  await agent.serve(`
    when user contains "first change" and results 0
      call Read {"file_path": "${agent.path("old.txt")}"}

    when user contains "first change" and result of Read
      call Write {"file_path": "${agent.path("old.txt")}", "content": "first\\n"}
      call Write {"file_path": "${agent.path("new.txt")}", "content": "created\\n"}

    when any
      say "changed"
  `);
  const uuid = "55555555-6666-4777-8888-999999999999";
  const conversation = agent.converse({ enableFileCheckpointing: true, permissionMode: "acceptEdits" });
  await conversation.ask("first change", { uuid });
  assert.equal(agent.read("old.txt"), "first\n");
  const preview = await conversation.query.rewindFiles(uuid, { dryRun: true });
  assert.ok(preview.canRewind);
  assert.equal(preview.filesChanged?.length, 2);
  assert.equal(agent.read("old.txt"), "first\n");
  const rewound = await conversation.query.rewindFiles(uuid);
  assert.ok(rewound.canRewind);
  assert.equal(agent.read("old.txt"), "original\n");
  assert.ok(!agent.exists("new.txt"));
});

windlassTest("a call that a kill interrupted is a question after resume", async (agent) => {
  await agent.serve(`
    when results 0 and ask 1
      call Bash as toolu_pay {"command": "echo paid >> ledger.txt; touch started; sleep 60"}

    when any
      say "I go on."
  `);
  const options = { allowedTools: ["Bash"], pathToClaudeCodeExecutable: agent.wrappedCli() };
  const conversation = agent.converse(options);
  conversation.send("pay");
  const run = await conversation.receive((message) => message.type === "system" && message.subtype === "init");
  await agent.made("started");
  process.kill(agent.lastProcessId(), "SIGKILL");
  await assert.rejects(conversation.receive());
  const asked: string[] = [];
  const resumed = await agent.query("go on", {
    resume: run.init.session_id,
    canUseTool: async (_tool, _input, { toolUseID }) => {
      asked.push(toolUseID);
      return { behavior: "deny", message: "it was paid, I looked" };
    },
  });
  assert.deepEqual(asked, ["toolu_pay"]);
  assert.equal(agent.read("ledger.txt"), "paid\n");
  assert.ok(!resumed.result.is_error);
});

agentTest("two sessions at once do not disturb each other", async (agent) => {
  await agent.serve(ECHO);
  const runs: Run[] = await Promise.all([agent.query("alpha"), sleep(1).then(() => agent.query("beta"))]);
  assert.deepEqual(runs.map((run) => run.text), ["answer 1", "answer 2"]);
  assert.notEqual(runs[0]!.result.session_id, runs[1]!.result.session_id);
});
