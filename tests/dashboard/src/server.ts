// The real server on a store of its own, with the scripted model over HTTP, and runs that were made
// with the real command line.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_MS = 20_000;

/** A folder with a project, a store and the scripts of one test file. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), "windlass-dashboard-"));
  readonly project = join(this.folder, "project");
  readonly store = join(this.folder, "windlass.db");
  readonly script = join(this.folder, "model.script");

  constructor(script: string) {
    mkdirSync(this.project);
    this.setScript(script);
  }

  setScript(script: string): void {
    writeFileSync(this.script, script);
  }

  get environment(): NodeJS.ProcessEnv {
    const home = join(this.folder, "home");
    mkdirSync(home, { recursive: true });
    return { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state"), NO_COLOR: "1" };
  }

  /** Runs the command line to its end. */
  cli(...args: string[]): { stdout: string; stderr: string; code: number | null } {
    const done = spawnSync(process.env["WINDLASS"]!, [...args, "--store", this.store], { cwd: this.project, env: this.environment, encoding: "utf8", timeout: 60_000 });
    return { stdout: done.stdout, stderr: done.stderr, code: done.status };
  }

  /** Runs a prompt with the scripted model. */
  prompt(text: string, ...args: string[]): { stdout: string; stderr: string; code: number | null } {
    return this.cli("-p", text, "--script", this.script, ...args);
  }

  async serve(port = 0): Promise<RunningServer> {
    const args = ["serve", "--listen", `127.0.0.1:${port}`, "--store", this.store, "--script", this.script];
    const child = spawn(process.env["WINDLASS"]!, args, { cwd: this.project, env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
    let notes = "";
    child.stderr!.on("data", (piece) => { notes += String(piece); });
    const url = await firstLine(child, () => notes);
    const state = join(this.folder, "home", "state", "windlass", "server-token");
    return new RunningServer(child, url, readFileSync(state, "utf8").trim());
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function firstLine(child: ChildProcess, notes: () => string): Promise<string> {
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  for await (const line of createInterface({ input: child.stdout! })) {
    clearTimeout(timer);
    return line.trim();
  }
  throw new Error(`the server ended before it said where it listens: ${notes()}`);
}

export class RunningServer {
  constructor(private readonly child: ChildProcess, readonly url: string, readonly token: string) {}

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The address that brings the token along. */
  page(path = "/"): string {
    return `${this.url}/#token=${this.token}&${path}`;
  }

  async api(method: string, path: string, body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const response = await fetch(this.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill(signal);
    await ended;
  }
}
