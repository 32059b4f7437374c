// Every page shows what the store has, and its links can be shared.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, faultsOf, openPage } from "./browser.js";
import { Workplace, type RunningServer } from "./server.js";

const SCRIPT = `
when user contains "Lists files" and results 0
  call Bash { "command": "echo one two" }

when user contains "is refused"
  fail 400

when any
  say "All good: **the build passes** now."
`;

let place: Workplace;
let server: RunningServer;

before(async () => {
  place = new Workplace(SCRIPT);
  place.prompt("Fix the build");
  place.prompt("Lists files of the project, then lists files again", "--allowedTools", "Bash(echo:*)");
  place.prompt("This one is refused by the provider");
  server = await place.serve();
});

after(async () => {
  await server.stop();
  await closeBrowser();
  place.remove();
});

async function runId(text: string): Promise<string> {
  const runs = await server.api("GET", `/v1/runs?text=${encodeURIComponent(text)}`);
  return runs.data[0].run_id;
}

test("without a token the page asks for one, and says so when it is wrong", async () => {
  const page = await openPage(`${server.url}/`);
  await page.getByLabel("Token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in to Windlass" }).waitFor();
  await page.getByLabel("Token").fill(server.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});

test("the token leaves the address at once and is forgotten with the tab", async () => {
  const page = await openPage(server.page("/runs"));
  await page.getByRole("heading", { name: "Runs", exact: true, level: 1 }).waitFor();
  assert.ok(!page.url().includes(server.token), page.url());
  assert.equal(await page.evaluate("sessionStorage.getItem('windlass.token')"), server.token);
  assert.equal(await page.evaluate("localStorage.getItem('windlass.token')"), null);
  await page.reload();
  await page.getByRole("heading", { name: "Runs", exact: true, level: 1 }).waitFor();
});

test("the overview counts runs and leads to those that need attention", async () => {
  const page = await openPage(server.page("/"));
  await page.getByText("3 runs").waitFor();
  await page.getByRole("link", { name: "1 failed", exact: true }).click();
  await page.getByText("This one is refused by the provider").waitFor();
  assert.equal(await page.getByText("Fix the build").count(), 0);
  assert.deepEqual(faultsOf(page), []);
});

test("runs are narrowed by state and time", async () => {
  const page = await openPage(server.page("/runs"));
  await page.getByLabel("State", { exact: true }).selectOption("failed");
  await page.getByLabel("Time", { exact: true }).selectOption("1h");
  await page.getByText("Fix the build").waitFor({ state: "detached" });
  await page.getByText("This one is refused by the provider").waitFor();
  assert.match(page.url(), /state=failed/);
  assert.match(page.url(), /since=1h/);
  await page.getByLabel("State", { exact: true }).selectOption("cancelled");
  await page.getByText("No run matches these filters").waitFor();
});

test("runs are narrowed by a tag, which a run shows and leads back to", async () => {
  const made = await server.api("POST", "/v1/conversations", { prompt: "Tagged run", tags: ["night & day"] });
  const page = await openPage(server.page("/runs"));
  await page.getByText("Tagged run").waitFor();
  await page.getByLabel("Tag", { exact: true }).fill("night & day");
  await page.getByLabel("Tag", { exact: true }).press("Enter");
  await page.getByText("Fix the build").waitFor({ state: "detached" });
  await page.getByText("Tagged run").click();
  await page.getByRole("heading", { name: "Tagged run", level: 1 }).waitFor();
  assert.match(page.url(), new RegExp(made.run_id));
  await page.getByRole("link", { name: "night & day" }).click();
  await page.getByText("Tagged run").waitFor();
  assert.equal(await page.getByText("Fix the build").count(), 0);
  assert.deepEqual(faultsOf(page), []);
});

test("runs can be searched, and the search is part of the address", async () => {
  const page = await openPage(server.page("/runs"));
  await page.getByLabel("Search prompts and ids").fill("build");
  await page.getByText("This one is refused").waitFor({ state: "detached" });
  assert.match(page.url(), /text=build/);
  const shared = await openPage(server.page(page.url().split("#/")[1]!.replace(/^/, "/")));
  await shared.getByText("Fix the build").waitFor();
  await shared.getByLabel("Search prompts and ids").fill("nothing has this");
  await shared.getByText("No run matches these filters").waitFor();
});

// spec: SERVER-03
test("a run has a timeline, a conversation, an explanation, iterations, events and entries", async () => {
  const id = await runId("Lists files");
  const page = await openPage(server.page(`/runs/${id}`));
  await page.getByRole("heading", { name: /Lists files/ }).waitFor();
  const call = page.getByRole("button", { name: /Bash.*echo one two/ }).first();
  await call.click();
  await page.getByText("Outcome").waitFor();
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByText("echo one two").first().click();
  await page.locator("pre", { hasText: "one two" }).first().waitFor();
  await page.getByRole("link", { name: "Explanation" }).click();
  await page.getByText("Why it stopped").waitFor();
  await page.getByRole("link", { name: "Iterations" }).click();
  await page.getByRole("cell", { name: "Tool use" }).first().waitFor();
  await page.getByRole("link", { name: "Events" }).click();
  await page.getByText("agent_run.started").waitFor();
  await page.getByRole("link", { name: "Log entries" }).click();
  await page.getByText("run_started/1").first().waitFor();
  assert.deepEqual(faultsOf(page), []);
});

// spec: SERVER-05
test("a failed run hands over: objective, state and next step", async () => {
  const page = await openPage(server.page(`/runs/${await runId("is refused")}`));
  const handoff = page.getByRole("region", { name: "Handoff" });
  await handoff.getByText("Objective").waitFor();
  await handoff.getByText("Next step").waitFor();
  assert.ok(await page.getByRole("button", { name: "Stop" }).isDisabled());
});

test("logs show events, live and searchable; workers show who works", async () => {
  const page = await openPage(server.page("/logs"));
  await page.getByText("agent_run.failed").first().waitFor();
  await page.getByLabel("Search events").fill("failed");
  await page.getByText("agent_run.completed").first().waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Workers" }).click();
  await page.getByText("Live", { exact: true }).last().waitFor();
});
