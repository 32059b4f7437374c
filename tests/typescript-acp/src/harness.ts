// An editor made with the official TypeScript library, with the real binary as its agent.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

import * as acp from "@agentclientprotocol/sdk";

const SCRIPT = `
when user contains "write" and results 0
  call Write {"file_path": "note.txt", "content": "hello"}

when user contains "write"
  say "It said: \${result}"

when user contains "read" and results 0
  call Read {"file_path": "open.txt"}

when user contains "read"
  say "It has: \${result}"

when user contains "tasks" and results 0
  call TodoWrite {"todos": [{"content": "one", "status": "pending", "activeForm": "doing one"}]}

when user contains "tasks"
  say "Listed."

when user contains "forever"
  pace 100ms
  say "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"

when any
  say "You said \${user}."
`;

export type Answer = (request: acp.RequestPermissionRequest) => acp.RequestPermissionOutcome;

export const select =
  (optionId: string): Answer =>
  () => ({ outcome: "selected", optionId });

/** What the agent showed and asked. */
export class Editor {
  updates: acp.SessionUpdate[] = [];
  questions: acp.RequestPermissionRequest[] = [];
  answer: Answer = select("allow");
  openFiles = new Map<string, string>();

  text(): string {
    const pieces = this.updates.map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
        ? update.content.text
        : "",
    );
    return pieces.join("");
  }

  ofKind(kind: acp.SessionUpdate["sessionUpdate"]): acp.SessionUpdate[] {
    return this.updates.filter((update) => update.sessionUpdate === kind);
  }

  app(): acp.ClientApp {
    return acp
      .client({ name: "test-editor" })
      .onNotification(acp.methods.client.session.update, ({ params }) => {
        this.updates.push(params.update);
      })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
        this.questions.push(params);
        return { outcome: this.answer(params) };
      })
      .onRequest(acp.methods.client.fs.readTextFile, ({ params }) => {
        const content = this.openFiles.get(params.path);
        if (content === undefined) throw acp.RequestError.resourceNotFound(params.path);
        return { content };
      })
      .onRequest(acp.methods.client.fs.writeTextFile, ({ params }) => {
        this.openFiles.set(params.path, params.content);
        writeFileSync(params.path, params.content);
        return {};
      });
  }
}

/** A home with a folder to work in; its store outlives the agents that are started in it. */
export class Home {
  readonly root = mkdtempSync(join(tmpdir(), "windlass-acp-"));
  readonly folder = join(this.root, "work");

  constructor() {
    mkdirSync(this.folder);
    writeFileSync(join(this.root, "a.script"), SCRIPT);
  }

  /** Starts the agent for the time of `work`, after the handshake. */
  async withAgent<T>(
    editor: Editor,
    work: (agent: acp.ClientContext, child: ChildProcess) => Promise<T>,
    files = false,
  ): Promise<T> {
    const words = ["acp", "--script", "a.script", "--store", join(this.root, "w.db")];
    const env = {
      PATH: process.env["PATH"],
      HOME: join(this.root, "user"),
      WINDLASS_HOME: join(this.root, "home"),
    };
    const child = spawn(process.env["WINDLASS"] ?? "", words, {
      cwd: this.root,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const output = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
    try {
      return await editor.app().connectWith(acp.ndJsonStream(output, input), async (agent) => {
        await agent.request(acp.methods.agent.initialize, {
          protocolVersion: acp.PROTOCOL_VERSION,
          clientCapabilities: { fs: { readTextFile: files, writeTextFile: files } },
        });
        return await work(agent, child);
      });
    } finally {
      child.stdin.end();
      child.kill();
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export async function openSession(agent: acp.ClientContext, folder: string): Promise<string> {
  const request: acp.NewSessionRequest = { cwd: folder, mcpServers: [] };
  return (await agent.request<"session/new">("session/new", request)).sessionId;
}

export function prompt(
  agent: acp.ClientContext,
  sessionId: string,
  text: string,
): Promise<acp.PromptResponse> {
  const request: acp.PromptRequest = { sessionId, prompt: [{ type: "text", text }] };
  return agent.request<"session/prompt">("session/prompt", request);
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((wake) => setTimeout(wake, 20));
}
