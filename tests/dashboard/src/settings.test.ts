// The settings: tokens, webhooks and schedules are made, shown once where they are secret, and removed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { closeBrowser, faultsOf, openPage } from "./browser.js";
import { Workplace, type RunningServer } from "./server.js";

let place: Workplace;
let server: RunningServer;
/** Whether the server administers tokens, webhooks and schedules; a page of one that does not says so. */
let offers = false;

before(async () => {
  place = new Workplace(`when any\n  say "Done."\n`);
  place.prompt("The first one");
  server = await place.serve();
  offers = (await fetch(`${server.url}/v1/tokens`, { headers: { authorization: `Bearer ${server.token}` } })).status !== 404;
});

after(async () => {
  await server.stop();
  await closeBrowser();
  place.remove();
});

/** A page of a server that offers less says so, and has no form. */
async function saysSo(name: string): Promise<void> {
  const page = await openPage(server.page("/settings"));
  const region = page.getByRole("region", { name, exact: true });
  await region.getByText("This server does not offer it.").waitFor();
  assert.equal(await region.getByRole("button").count(), 0);
}

test("a token is made for a purpose, shown once, works, and is revoked", async () => {
  if (!offers) return saysSo("Tokens");
  const page = await openPage(server.page("/settings"));
  const tokens = page.getByRole("region", { name: "Tokens", exact: true });
  await tokens.getByLabel("Name").fill("the watcher");
  await tokens.getByRole("button", { name: "Create token" }).click();
  const secret = (await tokens.locator(".banner code").innerText()).trim();
  const status = async (): Promise<number> => (await fetch(`${server.url}/v1/runs`, { headers: { authorization: `Bearer ${secret}` } })).status;
  assert.equal(await status(), 200);
  // Its scope is to read: it starts nothing, and sees no other token.
  const started = await fetch(`${server.url}/v1/conversations`, { method: "POST", headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" }, body: JSON.stringify({ prompt: "x" }) });
  assert.equal(started.status, 403);
  const limited = await openPage(`${server.url}/#token=${secret}&/settings`);
  await limited.getByText("it needs the scope").first().waitFor();
  await tokens.locator("tr", { hasText: "the watcher" }).getByRole("button", { name: "Revoke" }).click();
  await tokens.locator("tr", { hasText: "the watcher" }).waitFor({ state: "detached" });
  assert.equal(await status(), 401);
  assert.deepEqual(faultsOf(page), []);
});

test("a schedule is added with its next time, and removed", async () => {
  if (!offers) return saysSo("Schedules");
  const page = await openPage(server.page("/settings"));
  const schedules = page.getByRole("region", { name: "Schedules", exact: true });
  await schedules.getByLabel("Name").fill("nightly report");
  await schedules.getByLabel("Cron expression").fill("not a time");
  await schedules.getByLabel("Prompt").fill("Write the report");
  await schedules.getByRole("button", { name: "Add schedule" }).click();
  await page.locator(".toast.bad").waitFor();
  await schedules.getByLabel("Cron expression").fill("0 6 * * *");
  await schedules.getByRole("button", { name: "Add schedule" }).click();
  const row = schedules.locator("tr", { hasText: "nightly report" });
  await row.getByText("0 6 * * *").waitFor();
  await row.getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
});

test("a webhook is added with a secret that is shown once, and removed", async () => {
  if (!offers) return saysSo("Webhooks");
  const page = await openPage(server.page("/settings"));
  const webhooks = page.getByRole("region", { name: "Webhooks", exact: true });
  await webhooks.getByLabel("Address").fill("https://8.8.8.8/hook");
  await webhooks.getByRole("button", { name: "Add webhook" }).click();
  await webhooks.locator(".banner code").waitFor();
  const row = webhooks.locator("li", { hasText: "https://8.8.8.8/hook" });
  await row.getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
});
