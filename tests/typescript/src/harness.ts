// What every case uses: an isolated agent, and the messages of a run.

import { query, type Options, type Query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { ModelServer, type Json, type RecordedRequest } from "./model-server.js";

export const MODEL = "claude-sonnet-4-5";
const TIME_LIMIT_MS = 60_000;

// Each agent registers a handler of its own.
process.setMaxListeners(0);
const FOREIGN_PREFIXES = ["ANTHROPIC_", "CLAUDE", "WINDLASS_"];

/** The messages of one run, in order, and the error that ended it. */
export class Run {
  readonly messages: SDKMessage[] = [];
  error: Error | undefined;

  ofType(type: string): Json[] {
    return this.messages.filter((message) => message.type === type);
  }

  system(subtype: string): Json[] {
    return this.ofType("system").filter((message) => message.subtype === subtype);
  }

  get init(): Json {
    return this.system("init")[0];
  }

  get results(): Json[] {
    return this.ofType("result");
  }

  get result(): Json {
    return this.results.at(-1);
  }

  /** Content blocks of one type, of model and user. */
  blocks(type: string): Json[] {
    const messages: Json[] = this.messages.filter((message) => ["assistant", "user"].includes(message.type));
    const lists = messages.map((message) => message.message.content).filter(Array.isArray);
    return lists.flat().filter((block) => block.type === type);
  }

  /** The texts of the model, joined. */
  get text(): string {
    const main = this.ofType("assistant").filter((message) => message.parent_tool_use_id === null);
    const blocks: Json[] = main.flatMap((message) => message.message.content);
    return blocks.filter((block) => block.type === "text").map((block) => block.text).join("");
  }

  get toolResults(): Json[] {
    return this.blocks("tool_result");
  }
}

/** The text of a tool result, which is a string or a list of blocks. */
export function resultText(block: Json): string {
  return Array.isArray(block.content) ? block.content.map((part: Json) => part.text ?? "").join("\n") : block.content;
}

export function userMessage(content: Json, more: Json = {}): SDKUserMessage {
  return { type: "user", message: { role: "user", content }, parent_tool_use_id: null, ...more };
}

export async function* stream(...messages: SDKUserMessage[]): AsyncGenerator<SDKUserMessage> {
  yield* messages;
}

/** Streaming input that stays open: messages are sent when a case wants to. */
class Inbox implements AsyncIterable<SDKUserMessage> {
  private readonly waiting: SDKUserMessage[] = [];
  private wake: () => void = () => {};
  private closed = false;

  send(message: SDKUserMessage): void {
    this.waiting.push(message);
    this.wake();
  }

  close(): void {
    this.closed = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage> {
    while (true) {
      while (this.waiting.length > 0) yield this.waiting.shift()!;
      if (this.closed) return;
      await new Promise<void>((woken) => (this.wake = woken));
    }
  }
}

/** A session of several turns. */
export class Conversation {
  readonly query: Query;
  private readonly inbox = new Inbox();

  constructor(options: Options) {
    this.query = query({ prompt: this.inbox, options });
  }

  send(content: Json, more: Json = {}): void {
    this.inbox.send(userMessage(content, more));
  }

  /** Receives messages up to the first that is wanted. */
  async receive(wanted: (message: Json) => boolean = (message) => message.type === "result"): Promise<Run> {
    const run = new Run();
    while (true) {
      const { value, done } = await this.query.next();
      if (done) throw new Error("the messages ended");
      run.messages.push(value);
      if (wanted(value)) return run;
    }
  }

  async ask(content: Json, more: Json = {}): Promise<Run> {
    this.send(content, more);
    return this.receive();
  }

  /** Ends the input and reads what still comes. */
  async finish(): Promise<Run> {
    this.inbox.close();
    const run = new Run();
    for await (const message of this.query) run.messages.push(message);
    return run;
  }

  stop(): void {
    this.inbox.close();
    this.query.close();
  }
}

/** An agent in folders of its own: project, home, configuration and state. */
export class Agent {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "windlass-sdk-")));
  readonly project = join(this.root, "project");
  readonly config = join(this.root, "config");
  private readonly servers: ModelServer[] = [];
  private readonly conversations: Conversation[] = [];
  private readonly cli = resolve(process.env["WINDLASS_SDK_CLI"] ?? process.env["WINDLASS"]!);

  constructor() {
    for (const folder of ["project", "config", "home"]) mkdirSync(join(this.root, folder));
    for (const name of Object.keys(process.env)) {
      const isOurs = name === "WINDLASS_SDK_CLI";
      if (!isOurs && FOREIGN_PREFIXES.some((prefix) => name.startsWith(prefix))) delete process.env[name];
    }
    Object.assign(process.env, {
      HOME: join(this.root, "home"),
      CLAUDE_CONFIG_DIR: this.config,
      WINDLASS_HOME: join(this.root, "windlass"),
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      IS_SANDBOX: "1",
    });
  }

  /** Starts the model. A later call replaces it for the runs that follow. */
  async serve(script: string): Promise<void> {
    const folder = join(this.root, `model-${this.servers.length}`);
    mkdirSync(folder);
    const server = await ModelServer.start(script, folder);
    this.servers.push(server);
    process.env["ANTHROPIC_BASE_URL"] = server.address;
  }

  get requests(): RecordedRequest[] {
    return this.servers.at(-1)!.requests;
  }

  options(options: Options = {}): Options {
    const defaults = { pathToClaudeCodeExecutable: this.cli, cwd: this.project, model: MODEL };
    return { ...defaults, ...options };
  }

  /** A one-shot run that must not end with an error. */
  async query(prompt: string | AsyncIterable<SDKUserMessage>, options: Options = {}): Promise<Run> {
    const run = await this.queryAny(prompt, options);
    if (run.error) throw run.error;
    return run;
  }

  /** A one-shot run that may end with an error, which is part of the outcome. */
  async queryAny(prompt: string | AsyncIterable<SDKUserMessage>, options: Options = {}): Promise<Run> {
    const run = new Run();
    try {
      for await (const message of query({ prompt, options: this.options(options) })) run.messages.push(message);
    } catch (error) {
      run.error = error as Error;
    }
    return run;
  }

  converse(options: Options = {}): Conversation {
    const conversation = new Conversation(this.options(options));
    this.conversations.push(conversation);
    return conversation;
  }

  path(name: string): string {
    return join(this.project, name);
  }

  write(name: string, text: string): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  exists(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** Waits until a tool has made a file. */
  async made(name: string): Promise<void> {
    while (!this.exists(name)) await new Promise((later) => setTimeout(later, 20));
  }

  /** A program that notes its process id and then becomes the CLI. */
  wrappedCli(): string {
    const wrapper = join(this.root, "cli");
    const lines = ["#!/bin/sh", `echo $$ > '${this.root}/pid'`, `exec '${this.cli}' "$@"`, ""];
    writeFileSync(wrapper, lines.join("\n"), { mode: 0o755 });
    return wrapper;
  }

  lastProcessId(): number {
    return Number(readFileSync(join(this.root, "pid"), "utf8"));
  }

  stop(): void {
    for (const conversation of this.conversations) conversation.stop();
    for (const server of this.servers) server.stop();
    process.once("exit", () => removeFolder(this.root));
  }
}

/** Removes a folder when the process ends: until then a binary may still write its last lines there. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // A folder that stays in the temporary folder is no failure of a case.
  }
}

/** A case with an agent of its own. */
export function agentTest(name: string, body: (agent: Agent) => Promise<void>): void {
  test(name, { timeout: TIME_LIMIT_MS }, () => withAgent(body));
}

/** A case about a promise that the reference CLI does not make. */
export function windlassTest(name: string, body: (agent: Agent) => Promise<void>): void {
  const skip = process.env["WINDLASS_SDK_CLI"] ? "only Windlass promises this" : false;
  test(name, { timeout: TIME_LIMIT_MS, skip }, () => withAgent(body));
}

async function withAgent(body: (agent: Agent) => Promise<void>): Promise<void> {
  const agent = new Agent();
  try {
    await body(agent);
  } finally {
    agent.stop();
  }
}
