// Every stable method, with the official TypeScript library as the editor.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import * as acp from "@agentclientprotocol/sdk";

import { Editor, Home, openSession, prompt, select, until } from "./harness.js";

const { agent: methods } = acp.methods;
const TIMEOUT = { timeout: 60_000 };

let home: Home;
let editor: Editor;
beforeEach(() => {
  home = new Home();
  editor = new Editor();
});
afterEach(() => home.remove());

// spec: EDITORS-01
test("it says what it can do", TIMEOUT, async () => {
  await home.withAgent(editor, async (agent) => {
    const request: acp.InitializeRequest = { protocolVersion: acp.PROTOCOL_VERSION };
    const said = await agent.request(methods.initialize, request);
    assert.equal(said.protocolVersion, acp.PROTOCOL_VERSION);
    assert.equal(said.agentInfo?.name, "windlass");
    assert.equal(said.agentCapabilities?.loadSession, true);
    await agent.request(methods.authenticate, { methodId: "api-key" });
  });
});

// spec: EDITORS-02
test("text arrives as chunks, once", TIMEOUT, async () => {
  await home.withAgent(editor, async (agent) => {
    const session = await openSession(agent, home.folder);
    const answer = await prompt(agent, session, "hello there");
    assert.equal(answer.stopReason, "end_turn");
    assert.equal(editor.text(), "You said hello there.");
    assert.equal(editor.ofKind("available_commands_update").length, 1);
    await prompt(agent, session, "tasks please");
    assert.equal(editor.ofKind("plan").length, 1);
  });
});

// spec: EDITORS-03
test("a change is asked about, and shown as a diff", TIMEOUT, async () => {
  await home.withAgent(editor, async (agent) => {
    const session = await openSession(agent, home.folder);
    await prompt(agent, session, "write it");
    const asked = editor.questions[0];
    assert.ok(asked);
    const names = asked.options.map((option) => option.name);
    assert.equal(names[0], "Allow");
    assert.match(names[1] ?? "", /^Always allow /);
    const [content] = asked.toolCall.content ?? [];
    assert.ok(content?.type === "diff");
    assert.equal(content.newText, "hello");
    const last = editor.ofKind("tool_call_update").at(-1);
    assert.ok(last?.sessionUpdate === "tool_call_update");
    assert.equal(last.status, "completed");
    assert.equal(readFileSync(join(home.folder, "note.txt"), "utf8"), "hello");
  });
});

// spec: EDITORS-03
test("a rejected call does not run", TIMEOUT, async () => {
  editor.answer = select("reject");
  await home.withAgent(editor, async (agent) => {
    const session = await openSession(agent, home.folder);
    assert.equal((await prompt(agent, session, "write it")).stopReason, "end_turn");
    assert.equal(existsSync(join(home.folder, "note.txt")), false);
  });
});

// spec: EDITORS-04
test("mode and model can be chosen", TIMEOUT, async () => {
  await home.withAgent(editor, async (agent) => {
    const sessionId = await openSession(agent, home.folder);
    await agent.request(methods.session.setMode, { sessionId, modeId: "acceptEdits" });
    await prompt(agent, sessionId, "write it");
    assert.equal(editor.questions.length, 0);
    const request: acp.SetSessionConfigOptionRequest = { sessionId, configId: "mode", value: "plan" };
    const set = await agent.request(methods.session.setConfigOption, request);
    const [mode] = set.configOptions;
    assert.ok(mode?.type === "select");
    assert.equal(mode.currentValue, "plan");
  });
});

// spec: EDITORS-05
test("cancel ends a turn", TIMEOUT, async () => {
  await home.withAgent(editor, async (agent) => {
    const sessionId = await openSession(agent, home.folder);
    const turn = prompt(agent, sessionId, "forever");
    await until(() => editor.text() !== "");
    await agent.notify(methods.session.cancel, { sessionId });
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal((await prompt(agent, sessionId, "hello")).stopReason, "end_turn");
  });
});

// spec: EDITORS-06
test("a session is listed, loaded, resumed, closed and deleted", TIMEOUT, async () => {
  const sessionId = await home.withAgent(editor, async (agent) => {
    const session = await openSession(agent, home.folder);
    await prompt(agent, session, "write it");
    return session;
  });
  editor.updates = [];
  await home.withAgent(editor, async (agent) => {
    const listed = await agent.request(methods.session.list, { cwd: home.folder });
    assert.deepEqual(listed.sessions.map((session) => session.sessionId), [sessionId]);
    const place = { sessionId, cwd: home.folder, mcpServers: [] };
    await agent.request(methods.session.load, place);
    assert.equal(editor.ofKind("user_message_chunk").length, 1);
    assert.equal(editor.ofKind("tool_call").length, 1);
    await agent.request(methods.session.resume, place);
    assert.equal(editor.ofKind("user_message_chunk").length, 1);
    await agent.request(methods.session.close, { sessionId });
    await agent.request(methods.session.delete, { sessionId });
    const after = await agent.request(methods.session.list, {});
    assert.deepEqual(after.sessions, []);
  });
});

// spec: EDITORS-08
test("unsaved text of the editor counts", TIMEOUT, async () => {
  const path = join(home.folder, "open.txt");
  writeFileSync(path, "saved\n");
  editor.openFiles.set(path, "typed\n");
  const work = async (agent: acp.ClientContext): Promise<void> => {
    const session = await openSession(agent, home.folder);
    await prompt(agent, session, "read it");
    assert.match(editor.text(), /typed/);
    await prompt(agent, session, "write it");
    assert.equal(editor.openFiles.get(join(home.folder, "note.txt")), "hello");
  };
  await home.withAgent(editor, work, true);
});
