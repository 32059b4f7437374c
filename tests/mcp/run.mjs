// Runs every client scenario of the MCP conformance suite, and unmodified servers of the registry,
// with the real binary.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = import.meta.dirname;
const modules = join(folder, "node_modules");
const node = process.execPath;
const suite = join(modules, "@modelcontextprotocol/conformance/dist/index.js");

/** Scenarios that do not apply, and why. */
const LEFT_OUT = {
  "elicitation-sep1034-client-defaults": "questions of servers to a person are not supported",
  "auth/cross-app-access-complete-flow": "an extension for identity providers of enterprises",
};

/** Number of scenarios at once. */
const AT_ONCE = 2;

function listScenarios() {
  const listed = spawnSync(node, [suite, "list", "--client"], { encoding: "utf8" }).stdout;
  const client = listed.slice(Math.max(0, listed.indexOf("Client scenarios")));
  return [...client.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1]);
}

function runScenario(name) {
  const command = `${node} ${join(folder, "client.mjs")}`;
  const child = spawn(node, [suite, "client", "--command", command, "--scenario", name]);
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (output += data));
  return new Promise((resolve) => child.on("close", (code) => resolve({ name, code, output })));
}

async function runConformance() {
  const waiting = listScenarios().filter((name) => !(name in LEFT_OUT));
  const failed = [];
  let passed = 0;
  async function work() {
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      const { code, output } = await runScenario(name);
      console.log(`${code === 0 ? "ok    " : "FAILED"} ${name}`);
      if (code === 0) passed += 1;
      else failed.push({ name, output });
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const { name, output } of failed) console.log(`--- ${name}\n${output}`);
  console.log(`conformance: ${passed} passed, ${failed.length} failed, ${Object.keys(LEFT_OUT).length} left out`);
  return failed.length === 0 && passed > 20;
}

/** Servers of the registry: how each is started, what is called, and what the answer contains. */
const SERVERS = [
  ["everything", ["server-everything/dist/index.js"], "echo", { message: "hello" }, "Echo: hello"],
  ["filesystem", ["server-filesystem/dist/index.js", "."], "read_text_file", { path: "note.txt" }, "a note"],
  ["memory", ["server-memory/dist/index.js"], "create_entities",
    { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] }, "Ada"],
];

function runServer([name, [program, ...args], tool, input, wanted]) {
  const home = mkdtempSync(join(tmpdir(), "windlass-mcp-"));
  try {
    writeFileSync(join(home, "note.txt"), "a note");
    const call = `when results 0\n  call mcp__it__${tool} ${JSON.stringify(input)}\n`;
    writeFileSync(join(home, "a.script"), `${call}when any\n  say "It said: \${result}"\n`);
    // Servers are confined: the one that writes a file writes it in the workspace.
    const own = { MEMORY_FILE_PATH: join(home, "memory.json") };
    const it = { command: node, args: [join(modules, "@modelcontextprotocol", program), ...args], env: own };
    const env = { PATH: process.env.PATH, HOME: home, WINDLASS_HOME: join(home, "state") };
    const config = ["--mcp-config", JSON.stringify({ mcpServers: { it } }), "--allowedTools", "mcp__it"];
    const words = ["-p", "go", "--script", "a.script", ...config];
    const ran = spawnSync(process.env.WINDLASS, words, { cwd: home, env, encoding: "utf8" });
    const isRight = ran.status === 0 && ran.stdout.includes(wanted);
    console.log(`${isRight ? "ok    " : "FAILED"} server-${name}`);
    if (!isRight) console.log(ran.stdout + ran.stderr);
    return isRight;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const servers = SERVERS.map(runServer).every(Boolean);
const conformance = await runConformance();
process.exit(servers && conformance ? 0 : 1);
