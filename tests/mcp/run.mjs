// Runs every client scenario of the MCP conformance suite, those for servers that are not about the
// tools of an example server, and unmodified servers of the registry, with the real binary.

import { spawn, spawnSync } from "node:child_process";
import { createServer, request as httpRequest } from "node:http";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = import.meta.dirname;
const modules = join(folder, "node_modules");
const node = process.execPath;
const suite = join(modules, "@modelcontextprotocol/conformance/dist/index.js");

/** Scenarios that do not apply, and why. */
const LEFT_OUT = {
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

/** Where the Python of the servers that are made in it is. */
const python = process.env.MCP_PYTHON;

/** How a server of npm is started. */
const npm = (program, ...args) => [node, join(modules, "@modelcontextprotocol", program, "dist/index.js"), ...args];

/** How a server of PyPI is started. */
const pypi = (module, ...args) => [python, "-m", module, ...args];

/** Servers of the registries: how each is started, what is called, and what the answer contains. */
const SERVERS = [
  ["everything", npm("server-everything"), "echo", { message: "hello" }, "Echo: hello"],
  ["everything-structured", npm("server-everything"), "get-structured-content", { location: "New York" }, "temperature"],
  ["everything-elicitation", npm("server-everything"), "trigger-elicitation-request", {}, "User declined"],
  ["filesystem", npm("server-filesystem", "."), "read_text_file", { path: "note.txt" }, "a note"],
  ["memory", npm("server-memory"), "create_entities",
    { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] }, "Ada"],
  ["git", pypi("mcp_server_git"), "git_log", { repo_path: ".", max_count: 1 }, "the first commit"],
  ["time", pypi("mcp_server_time", "--local-timezone", "UTC"), "convert_time",
    { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" }, "21:00"],
  ["fetch", pypi("mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"), "fetch", { url: "PAGE", raw: true }, "A page about winches"],
];

/** Prompts of servers as slash commands, and resources as mentions: what the model must have been told. */
const CONTENT = [
  ["everything-prompt", npm("server-everything"), "/mcp__it__args-prompt Zurich", "Zurich"],
  ["everything-resource", npm("server-everything"), "Look at @it:demo://resource/static/document/features.md", "Features"],
];

/** Serves one page on this machine, for the server that fetches. */
function servePage() {
  const page = "<html><body><article><h1>A page about winches</h1><p>They wind.</p></article></body></html>";
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(page));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Runs one prompt with a server; returns whether the output has what is wanted. */
async function runWith(name, [command, ...args], script, prompt, wanted) {
  const home = mkdtempSync(join(tmpdir(), "windlass-mcp-"));
  try {
    writeFileSync(join(home, "note.txt"), "a note");
    const git = (...words) => spawnSync("git", words, { cwd: home });
    git("init", "-q");
    git("-c", "user.name=x", "-c", "user.email=x@x.test", "commit", "-q", "--allow-empty", "-m", "the first commit");
    writeFileSync(join(home, "a.script"), script);
    const state = join(home, "state");
    mkdirSync(state, { mode: 0o700 });
    // One of the servers fetches a page.
    writeFileSync(join(state, "config.toml"), "[sandbox]\nnetwork = true\n", { mode: 0o600 });
    const env = { PATH: process.env.PATH, HOME: home, WINDLASS_HOME: state, MCP_TIMEOUT: "60000" };
    // Servers are confined: the one that writes a file writes it in the workspace.
    const it = { command, args, env: { MEMORY_FILE_PATH: join(home, "memory.json") } };
    const config = ["--mcp-config", JSON.stringify({ mcpServers: { it } }), "--allowedTools", "mcp__it"];
    // What the server offers is learned first: a run waits only a while for a server that is new.
    spawnSync(process.env.WINDLASS, ["mcp", "list", ...config.slice(0, 2)], { cwd: home, env });
    const words = ["-p", prompt, "--script", "a.script", ...config];
    const ran = await new Promise((resolve) => {
      const child = spawn(process.env.WINDLASS, words, { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
      let [out, err] = ["", ""];
      child.stdout.on("data", (data) => (out += data));
      child.stderr.on("data", (data) => (err += data));
      child.on("close", (status) => resolve({ status, out, err }));
    });
    const isRight = ran.status === 0 && ran.out.includes(wanted);
    console.log(`${isRight ? "ok    " : "FAILED"} server-${name}`);
    if (!isRight) console.log(ran.out + ran.err);
    return isRight;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function runServers() {
  const page = await servePage();
  const url = `http://127.0.0.1:${page.address().port}/`;
  let isRight = true;
  for (const [name, command, tool, input, wanted] of SERVERS) {
    const given = JSON.stringify(input).replace("PAGE", url);
    const script = `when results 0\n  call mcp__it__${tool} ${given}\nwhen any\n  say "It said: \${result}"\n`;
    isRight = (await runWith(name, command, script, "go", wanted)) && isRight;
  }
  for (const [name, command, prompt, told] of CONTENT) {
    const script = `when user contains ${JSON.stringify(told)}\n  say "told"\nwhen any\n  say "not so"\n`;
    isRight = (await runWith(name, command, script, prompt, "told")) && isRight;
  }
  page.close();
  return isRight;
}

/** The scenarios for servers that `windlass serve` offers what they need for. */
const SERVER_SCENARIOS = [
  "server-initialize", "ping", "tools-list", "dns-rebinding-protection", "server-sse-polling", "server-sse-multiple-streams",
];

/** Adds the token to every request: the suite cannot. Everything else, such as Host and Origin, stays. */
function addToken(port, token) {
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    // The address of the proxy stands for that of the server; any other one is passed on.
    const own = (text) => text?.replace(new RegExp(`^(http://)?(localhost|127\\.0\\.0\\.1):${proxy.address().port}$`), `$1$2:${port}`);
    for (const name of ["host", "origin"]) if (headers[name]) headers[name] = own(headers[name]);
    const forwarded = httpRequest({ port, host: "127.0.0.1", path: incoming.url, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  return new Promise((resolve) => proxy.listen(0, "127.0.0.1", () => resolve(proxy)));
}

/** Runs the scenarios for servers against `windlass serve`. */
async function runServerScenarios() {
  const home = mkdtempSync(join(tmpdir(), "windlass-mcp-"));
  const state = join(home, "state");
  writeFileSync(join(home, "a.script"), 'when any\n  say "done"\n');
  const words = ["serve", "--listen", "127.0.0.1:0", "--script", "a.script", "--store", "w.db"];
  const env = { PATH: process.env.PATH, HOME: home, WINDLASS_HOME: state };
  const server = spawn(process.env.WINDLASS, words, { cwd: home, env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const line = await new Promise((resolve) => server.stdout.once("data", (data) => resolve(String(data))));
    const port = Number(line.trim().split(":").at(-1));
    const proxy = await addToken(port, readFileSync(join(state, "server-token"), "utf8").trim());
    const url = `http://localhost:${proxy.address().port}/mcp`;
    let isRight = true;
    for (const name of SERVER_SCENARIOS) {
      const child = spawn(node, [suite, "server", "--url", url, "--scenario", name]);
      let output = "";
      child.stdout.on("data", (data) => (output += data));
      child.stderr.on("data", (data) => (output += data));
      const code = await new Promise((resolve) => child.on("close", resolve));
      console.log(`${code === 0 ? "ok    " : "FAILED"} serve-${name}`);
      if (code !== 0) console.log(output);
      isRight = isRight && code === 0;
    }
    proxy.closeAllConnections();
    proxy.close();
    return isRight;
  } finally {
    server.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

const servers = await runServers();
const serve = await runServerScenarios();
const conformance = await runConformance();
process.exit(servers && serve && conformance ? 0 : 1);
