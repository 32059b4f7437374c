// What a person does with the dashboard: questions of every kind, files in the chat, the keyboard.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, faultsOf, openPage } from "./browser.js";
import { Workplace, type RunningServer } from "./server.js";

const SCRIPT = `
when user is "Send the letter" and results 0
  call Bash { "command": "echo sent >> outbox; touch began; sleep 60" }
when user contains "Touch it" and results 0
  call Bash { "command": "touch touched" }
when user is "Write a file" and results 0
  call Write { "file_path": "new.txt", "content": "first line\\nsecond line" }
when user is "Ask me" and results 0
  call AskUserQuestion { "questions": [{ "question": "Which color?", "header": "Color", "multiSelect": false, "options": [{ "label": "Red", "description": "warm" }, { "label": "Blue", "description": "cold" }] }] }
when user is "Write slowly" and results 0
  pace 400ms
  say "one two three four five six seven eight"
  call Read { "file_path": "outbox" }
when any
  say "Received: ${"${user}"}"
`;

let place: Workplace;
let server: RunningServer;

before(async () => {
  place = new Workplace(SCRIPT);
  // A run whose process is killed in the middle of a command.
  const interrupted = spawn(process.env["WINDLASS"]!, ["-p", "Send the letter", "--script", place.script, "--allowedTools", "Bash", "--store", place.store], { cwd: place.project, env: place.environment, stdio: "ignore" });
  const ended = new Promise((resolve) => interrupted.once("exit", resolve));
  const until = Date.now() + 30_000;
  while (!existsSync(join(place.project, "began")) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 30));
  interrupted.kill("SIGKILL");
  await ended;
  server = await place.serve();
});

after(async () => {
  await server.stop();
  await closeBrowser();
  place.remove();
});

test("an interrupted call may have happened: the inbox offers to retry it, mark it done or abandon it", async () => {
  const page = await openPage(server.page("/inbox"));
  await page.getByText("Did it take effect?").waitFor();
  for (const name of ["Run it again", "It took effect", "Give up on it"]) assert.ok(await page.getByRole("button", { name }).isEnabled());
  await page.getByLabel(/word for the agent|Your answer/).fill("it is in the outbox");
  await page.getByRole("button", { name: "It took effect" }).click();
  await page.getByText("Nobody is waiting for you").waitFor();
  // Nothing ran a second time.
  assert.equal(readFileSync(join(place.project, "outbox"), "utf8"), "sent\n");
});

test("an approval is given with the keyboard alone, and shows the whole content as a diff", async () => {
  await server.api("POST", "/v1/conversations", { prompt: "Write a file" });
  const page = await openPage(server.page("/inbox"));
  await page.locator(".diff .add", { hasText: "second line" }).waitFor();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  for (let step = 0; step < 40; step += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate("document.activeElement?.textContent")) === "Allow") break;
  }
  await page.keyboard.press("Enter");
  await page.getByText("Nobody is waiting for you").waitFor();
  assert.equal(readFileSync(join(place.project, "new.txt"), "utf8"), "first line\nsecond line");
});

test("several questions about the same call are answered at once", async () => {
  for (const number of [1, 2, 3]) await server.api("POST", "/v1/conversations", { prompt: `Touch it ${number}` });
  const page = await openPage(server.page("/inbox"));
  const cards = page.locator("section.card", { hasText: "touch touched" });
  await cards.nth(2).waitFor();
  await cards.first().getByLabel("Answer the 2 other questions about the same call, too").check();
  await cards.first().getByRole("button", { name: "Deny" }).click();
  await page.getByText("Nobody is waiting for you").waitFor();
});

test("a question of the model is answered with one of its choices", async () => {
  const { run_id: run } = await server.api("POST", "/v1/conversations", { prompt: "Ask me" });
  const page = await openPage(server.page("/inbox"));
  await page.getByText("Which color?").first().waitFor();
  await page.getByRole("button", { name: "Blue" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Nobody is waiting for you").waitFor();
  await page.goto(`${server.url}/#/runs/${run}`);
  await page.getByText("Completed").first().waitFor();
});

test("notifications are offered, and tell about a new question while the page is hidden", async () => {
  const page = await openPage(server.page("/inbox"));
  await page.evaluate(`
    window.told = [];
    window.Notification = class { constructor(title, options) { window.told.push(title + ": " + options.body); } static permission = "granted"; static requestPermission() { return Promise.resolve("granted"); } };
    Object.defineProperty(document, "hidden", { get: () => true });
  `);
  await server.api("POST", "/v1/conversations", { prompt: "Touch it for the notification" });
  // The policy of the page forbids what `waitForFunction` would do.
  let told: string[] = [];
  for (const until = Date.now() + 20_000; told.length === 0 && Date.now() < until; await page.waitForTimeout(50)) told = (await page.evaluate("window.told")) as string[];
  assert.match(told[0] ?? "", /An agent waits for you: Allow Bash/);
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("Nobody is waiting for you").waitFor();
});

// spec: SERVER-04
test("the chat takes text files along, streams the reply, and stops it", async () => {
  const page = await openPage(server.page("/chat"));
  await page.getByLabel("Files to attach").setInputFiles([{ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("forty-two") }, { name: "program.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0x89, 0x50, 0, 0xff]) }]);
  await page.getByText("program.bin is neither text nor an image").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Read this");
  await page.keyboard.press("Enter");
  await page.getByText(/Received: Read this[\s\S]*forty-two/).waitFor();
  await page.getByLabel("Message", { exact: true }).fill("Write slowly");
  await page.keyboard.press("Enter");
  await page.locator(".badge", { hasText: "writing" }).waitFor();
  await page.getByText(/one two/).first().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.locator(".page-head .badge", { hasText: "Cancelled" }).waitFor({ timeout: 20_000 });
  assert.deepEqual(faultsOf(page), []);
});

// spec: SERVER-06
test("logs are narrowed by kind, and lead to the entry", async () => {
  const page = await openPage(server.page("/logs"));
  await page.getByRole("button", { name: "Questions" }).click();
  await page.getByText("agent_run.asked_human").first().waitFor();
  await page.getByText("agent_run.completed").first().waitFor({ state: "detached" });
  await page.locator("table a").first().click();
  await page.getByRole("heading", { name: /^Entry \d+$/ }).waitFor();
});

test("`serve --open` and `windlass dashboard` open the page with the token", async () => {
  const browser = join(place.folder, "browser.sh");
  const seen = join(place.folder, "seen");
  writeFileSync(browser, `#!/bin/sh\necho "$1" >> ${seen}\n`);
  chmodSync(browser, 0o755);
  const environment = { ...place.environment, BROWSER: browser };
  const shown = spawnSync(process.env["WINDLASS"]!, ["dashboard", "--no-open"], { cwd: place.project, env: environment, encoding: "utf8" });
  assert.equal(shown.status, 0, shown.stderr);
  const address = shown.stdout.trim();
  assert.ok(address.startsWith(`${server.url}/#token=`), address);
  const page = await openPage(address);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const opened = spawnSync(process.env["WINDLASS"]!, ["dashboard"], { cwd: place.project, env: environment, encoding: "utf8" });
  assert.equal(opened.status, 0, opened.stderr);
  const until = Date.now() + 10_000;
  while (!existsSync(seen) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 30));
  assert.ok(existsSync(seen), "no browser was started");
});
