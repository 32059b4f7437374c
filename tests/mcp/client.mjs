// One client scenario of the MCP conformance suite with the real binary: connects to the server at
// the last argument, logs in where the server requires it, and calls what the scenario wants called.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

/** Number of logins before the scenario counts as failed. */
const MAX_LOGINS = 5;

/** The tool that a scenario wants called, with its input. */
const CALLS = {
  tools_call: ["add_numbers", { a: 2, b: 3 }],
  "sse-retry": ["test_reconnection", {}],
  "elicitation-sep1034-client-defaults": ["test_client_elicitation_defaults", {}],
};

const folder = mkdtempSync(join(tmpdir(), "windlass-mcp-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const oauth = { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
if (context.client_id) oauth.clientId = context.client_id;
if (context.client_secret) oauth.clientSecret = context.client_secret;
if (context.private_key_pem) oauth.privateKey = context.private_key_pem;
if (scenario.startsWith("auth/client-credentials")) oauth.grantType = "client_credentials";
const config = join(folder, "servers.json");
writeFileSync(config, JSON.stringify({ mcpServers: { it: { type: "http", url, oauth } } }));

const [tool, input] = CALLS[scenario] ?? ["test-tool", {}];
const script = join(folder, "a.script");
writeFileSync(script, `when results 0\n  call mcp__it__${tool} ${JSON.stringify(input)}\nwhen any\n  say "done"\n`);

/** Runs the binary in a home of its own. */
function windlass(...args) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    WINDLASS_HOME: join(folder, "state"),
    BROWSER: `${process.execPath} ${join(here, "browser.mjs")}`,
  };
  const ran = spawnSync(process.env.WINDLASS, args, { cwd: folder, env, encoding: "utf8" });
  process.stderr.write(`$ windlass ${args.join(" ")}\n${ran.stdout}${ran.stderr}`);
  return ran;
}

for (let logins = 0; ; logins += 1) {
  const given = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__it"];
  const ran = windlass("-p", "go", "--script", script, ...given, "--output-format", "stream-json", "--verbose");
  if (!/requires a login|mcp_needs_login|run `windlass mcp login/.test(ran.stdout + ran.stderr)) {
    process.exit(ran.status ?? 1);
  }
  if (logins === MAX_LOGINS) process.exit(1);
  const login = windlass("mcp", "login", "it", "--mcp-config", config, "--strict-mcp-config");
  if (login.status !== 0) process.exit(login.status ?? 1);
}
