// A new operator, and twelve runs that failed for different reasons: the cause of each is found from
// the overview in at most three clicks.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, faultsOf, openPage } from "./browser.js";
import { Workplace, type RunningServer } from "./server.js";

const SCRIPT = `
when user is "Read the notes again and again"
  call Read { "file_path": "a.txt" }
when user contains "nearly identical"
  call Read { "file_path": "a.txt" }
when user is "Read a file that is missing" and results 0
  call Read { "file_path": "missing.txt" }
when user is "Wait too shortly" and results 0
  call Bash { "command": "sleep 5", "timeout": 30 }
when user is "Remove the build" and results 0
  call Bash { "command": "rm -rf build" }
when user is "Write on a Friday" and results 0
  call Write { "file_path": "x.txt", "content": "1" }
when user is "Publish it" and results 0
  call Bash { "command": "git status && npm publish" }
when user is "Use a wrong key"
  fail 401 "invalid x-api-key"
when user is "Name an unknown model"
  fail 404 "model not found"
when user is "Send nonsense"
  fail 400 "invalid_request: messages.1 is empty"
when user is "Fill the window"
  stop model_context_window_exceeded
when user is "Delegate it" and results 0
  call Agent { "description": "look", "prompt": "Use a wrong key", "subagent_type": "general-purpose" }
when any
  say "All done."
`;

const SETTINGS = `{
  "permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(git status)", "Bash(sleep:*)"]},
  "hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "echo 'no writes on a Friday' >&2; exit 2"}]}]}
}`;

const SCHEMA = `{"type": "object", "required": ["total"], "additionalProperties": false}`;

/** Each prompt with its flags, and what names the cause. */
const CASES: readonly (readonly [string, string[], RegExp])[] = [
  ["Read the notes again and again", ["--max-turns", "2"], /brought the same result|limit of rounds/],
  ["Read a file that is missing", [], /1 call failed and was not repeated/],
  ["Wait too shortly", [], /the model probably meant 30 seconds/],
  ["Remove the build", [], /Bash\(rm:\*\) denies .*settings\.json/],
  ["Write on a Friday", [], /A hook refused Write.*no writes on a Friday/],
  ["Publish it", [], /No rule allows npm publish/],
  ["Use a wrong key", [], /The provider refused the key/],
  ["Name an unknown model", [], /The provider does not know the model/],
  ["Send nonsense", [], /messages\.1 is empty/],
  ["Fill the window", [], /context window is full/],
  ["Delegate it", [], /1 sub-agent failed/],
  ["Answer with a total", ["--json-schema", SCHEMA], /requires the property "total"/],
];

let place: Workplace;
let server: RunningServer;

before(async () => {
  place = new Workplace(SCRIPT);
  const settings = join(place.folder, "home", ".claude");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), SETTINGS);
  writeFileSync(join(place.project, "a.txt"), "x");
  for (const [prompt, flags] of CASES) place.prompt(prompt, "--when-asked", "deny", ...flags);
  server = await place.serve();
});

after(async () => {
  await server.stop();
  await closeBrowser();
  place.remove();
});

test("the cause of each of twelve failed runs is at most three clicks from the overview", async () => {
  const page = await openPage(server.page("/"));
  for (const [prompt, , cause] of CASES) {
    await page.goto(`${server.url}/#/`);
    let clicks = 0;
    const click = async (name: string): Promise<void> => {
      clicks += 1;
      await page.getByRole("link", { name }).first().click();
    };
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await click("Runs");
    await page.locator("a.list-row", { hasText: prompt }).first().waitFor();
    clicks += 1;
    await page.locator("a.list-row", { hasText: prompt }).first().click();
    const handoff = page.getByRole("region", { name: "Handoff" });
    await handoff.waitFor();
    const text = (await handoff.innerText()).replace(/\s+/g, " ");
    assert.match(text, cause, prompt);
    assert.ok(clicks <= 3, `${prompt}: ${clicks} clicks`);
  }
  assert.deepEqual(faultsOf(page), []);
});

// With the run of the sub-agent they are thirteen.
// spec: SERVER-01, SERVER-02
test("the overview counts them by their end, and its filters are part of the address", async () => {
  const page = await openPage(server.page("/"));
  await page.getByText("13 runs").first().waitFor();
  for (const end of ["End turn", "Provider failed", "Max iters", "Structured output retries"]) await page.getByText(end, { exact: true }).waitFor();
  for (const chart of ["Share of runs that stopped at the cap, per day", "Runs per day", "Cost per day", "Tokens per day", "Iterations until the model finished"]) {
    await page.getByRole("img", { name: chart }).waitFor();
  }
  await page.getByRole("region", { name: "Models" }).getByText("scripted").waitFor();
  await page.getByLabel("Model", { exact: true }).selectOption("scripted");
  await page.waitForURL(/model=scripted/);
  await page.getByText("13 runs").first().waitFor();
});
