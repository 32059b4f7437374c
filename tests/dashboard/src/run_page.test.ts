// The page of one run: its record, what can be done with it, and its sub-agents.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, faultsOf, openPage } from "./browser.js";
import { Workplace, type RunningServer } from "./server.js";

const SCRIPT = `
when user is "Edit the file" and results 0
  think "A small change."
  call Write { "file_path": "a.txt", "content": "one\\ntwo\\n" }
when user is "Edit the file" and result of Write
  call Edit { "file_path": "a.txt", "old_string": "two", "new_string": "three" }
when user is "Delegate it" and results 0
  call Agent { "description": "look", "prompt": "Look around", "subagent_type": "general-purpose" }
when user is "Read the files" and not ask 9+
  call Read { "file_path": "file${"${ask}"}.txt" }
when user is "Stop at the cap"
  call Read { "file_path": "a.txt" }
when any
  say "Done: ${"${user}"}"
`;

let place: Workplace;
let server: RunningServer;

before(async () => {
  place = new Workplace(SCRIPT);
  for (let file = 1; file < 9; file += 1) writeFileSync(join(place.project, `file${file}.txt`), `Line of file ${file}.\n`.repeat(400));
  place.prompt("Edit the file", "--allowedTools", "Write,Edit,Read");
  place.prompt("Delegate it");
  place.prompt("Stop at the cap", "--max-turns", "1", "--allowedTools", "Read");
  server = await place.serve();
});

after(async () => {
  await server.stop();
  await closeBrowser();
  place.remove();
});

async function runId(text: string): Promise<string> {
  return (await server.api("GET", `/v1/runs?text=${encodeURIComponent(text)}`)).data[0].run_id;
}

test("the conversation has inputs, diffs, results and thinking folded", async () => {
  const page = await openPage(server.page(`/runs/${await runId("Edit the file")}/conversation`));
  const edit = page.locator("details.fold", { hasText: "Edit" }).last();
  await edit.locator("summary").click();
  await edit.locator(".diff .add", { hasText: "three" }).first().waitFor();
  await edit.locator(".diff .del", { hasText: "two" }).first().waitFor();
  await page.locator("details.fold", { hasText: "Thinking" }).first().locator("summary").click();
  await page.getByText("A small change.").waitFor();
});

test("context and cache: charts, pieces and every model call", async () => {
  const page = await openPage(server.page(`/runs/${await runId("Edit the file")}/context`));
  await page.getByRole("img", { name: /Tokens sent with each model call/ }).waitFor();
  await page.getByRole("img", { name: /Input tokens of each model call/ }).waitFor();
  await page.getByText("% full: about").waitFor();
  assert.equal(await page.getByRole("region", { name: "Model calls" }).locator("tbody tr").count(), 3);
});

test("the log is stepped through with the keyboard, and a link leads to an entry", async () => {
  const id = await runId("Edit the file");
  const page = await openPage(server.page(`/runs/${id}/entries?entry=2`));
  await page.getByRole("heading", { name: "Entry 2" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("heading", { name: "Entry 3" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("heading", { name: "Entry 1" }).waitFor();
  assert.match(page.url(), /entry=1/);
  await page.goto(`${server.url}/#/runs/${id}/iterations?iteration=2`);
  await page.locator("tr.chosen").waitFor();
});

test("a fork continues from a checkpoint, and from an edited prompt", async () => {
  const id = await runId("Edit the file");
  const page = await openPage(server.page(`/runs/${id}/iterations`));
  await page.getByRole("button", { name: "Fork here" }).last().click();
  await page.getByRole("heading", { name: "Chat" }).waitFor();
  await page.goto(`${server.url}/#/runs/${id}`);
  await page.getByRole("button", { name: "Fork …" }).click();
  await page.getByLabel(/continues with this prompt/).fill("Now say it in French");
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await page.getByRole("heading", { name: "Now say it in French" }).waitFor();
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByText("Done: Now say it in French").first().waitFor();
  assert.deepEqual(faultsOf(page), []);
});

// spec: WINDOW-18
test("a compaction is a line of the timeline and of the conversation, and no message", async () => {
  const made = await server.api("POST", "/v1/conversations", { prompt: "Read the files", options: {} });
  const id = made.run_id;
  const page = await openPage(server.page(`/chat/${made.conversation_id}`));
  await page.getByText("Done: Read the files").first().waitFor();
  place.cli("compact", made.conversation_id);
  await page.getByLabel("Message", { exact: true }).fill("Go on");
  await page.keyboard.press("Enter");
  await page.getByText("The context was compacted here").waitFor();
  const runs = await server.api("GET", `/v1/runs?conversation_id=${made.conversation_id}`);
  await page.goto(`${server.url}/#/runs/${runs.data[0].run_id}`);
  await page.getByRole("button", { name: /Compaction/ }).first().waitFor();
  const prompts = (await server.api("GET", `/v1/conversations/${made.conversation_id}/messages`)).data.filter((placed: any) => placed.message.type === "user");
  assert.ok(prompts.every((placed: any) => !JSON.stringify(placed.message).includes("compacted")), id);
});

test("sub-agents are a tree that leads to their runs", async () => {
  const page = await openPage(server.page(`/runs/${await runId("Delegate it")}/sub-agents`));
  await page.locator(".tree").getByText("Answered", { exact: true }).waitFor();
  await page.locator(".tree").getByRole("link", { name: "Look around" }).click();
  await page.getByRole("heading", { name: "Look around" }).waitFor();
});

// spec: SERVER-04
test("Resume continues a run that stopped at its cap, and is disabled when nothing is left", async () => {
  const id = await runId("Stop at the cap");
  const page = await openPage(server.page(`/runs/${id}`));
  const resume = page.getByRole("button", { name: "Resume" });
  assert.ok(await resume.isEnabled());
  assert.ok(await page.getByRole("button", { name: "Stop" }).isDisabled());
  await resume.click();
  await page.getByText("The run continues").waitFor();
  await page.goto(`${server.url}/#/runs/${await runId("Edit the file")}`);
  await page.getByRole("heading", { name: "Edit the file" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Resume" }).isDisabled());
});
