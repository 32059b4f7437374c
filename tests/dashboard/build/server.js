// The real server on a store of its own, with the scripted model over HTTP, and runs that were made
// with the real command line.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
const START_MS = 20_000;
/** A folder with a project, a store and the scripts of one test file. */
export class Workplace {
    folder = mkdtempSync(join(tmpdir(), "windlass-dashboard-"));
    project = join(this.folder, "project");
    store = join(this.folder, "windlass.db");
    script = join(this.folder, "model.script");
    constructor(script) {
        mkdirSync(this.project);
        this.setScript(script);
    }
    setScript(script) {
        writeFileSync(this.script, script);
    }
    get environment() {
        const home = join(this.folder, "home");
        mkdirSync(home, { recursive: true });
        return { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state"), NO_COLOR: "1" };
    }
    /** Runs the command line to its end. */
    cli(...args) {
        const done = spawnSync(process.env["WINDLASS"], [...args, "--store", this.store], { cwd: this.project, env: this.environment, encoding: "utf8", timeout: 60_000 });
        return { stdout: done.stdout, stderr: done.stderr, code: done.status };
    }
    /** Runs a prompt with the scripted model. */
    prompt(text, ...args) {
        return this.cli("-p", text, "--script", this.script, ...args);
    }
    async serve(port = 0) {
        const args = ["serve", "--listen", `127.0.0.1:${port}`, "--store", this.store, "--script", this.script];
        const child = spawn(process.env["WINDLASS"], args, { cwd: this.project, env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
        let notes = "";
        child.stderr.on("data", (piece) => { notes += String(piece); });
        const url = await firstLine(child, () => notes);
        const state = join(this.folder, "home", "state", "windlass", "server-token");
        return new RunningServer(child, url, readFileSync(state, "utf8").trim());
    }
    remove() {
        rmSync(this.folder, { recursive: true, force: true });
    }
}
async function firstLine(child, notes) {
    const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
    for await (const line of createInterface({ input: child.stdout })) {
        clearTimeout(timer);
        return line.trim();
    }
    throw new Error(`the server ended before it said where it listens: ${notes()}`);
}
export class RunningServer {
    child;
    url;
    token;
    constructor(child, url, token) {
        this.child = child;
        this.url = url;
        this.token = token;
    }
    get port() {
        return Number(new URL(this.url).port);
    }
    /** The address that brings the token along. */
    page(path = "/") {
        return `${this.url}/#token=${this.token}&${path}`;
    }
    async api(method, path, body) {
        const headers = { authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
        const response = await fetch(this.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
        const text = await response.text();
        if (!response.ok)
            throw new Error(`${method} ${path}: ${response.status} ${text}`);
        return text ? JSON.parse(text) : null;
    }
    async stop(signal = "SIGKILL") {
        if (this.child.exitCode !== null || this.child.signalCode !== null)
            return;
        const ended = new Promise((resolve) => this.child.once("exit", resolve));
        this.child.kill(signal);
        await ended;
    }
}
