// Pages follow what happens, and survive a server that is killed.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { closeBrowser, openPage } from "./browser.js";
import { Workplace } from "./server.js";
const SCRIPT = `
when user contains "removes" and results 0
  call Bash { "command": "touch removed.txt && echo gone" }

when user contains "waits long" and results 0
  call Bash { "command": "sleep 30" }

when any
  say "Done."
`;
let place;
let server;
before(async () => {
    place = new Workplace(SCRIPT);
    server = await place.serve();
});
after(async () => {
    await server.stop();
    await closeBrowser();
    place.remove();
});
test("a run that is started elsewhere appears by itself", async () => {
    const page = await openPage(server.page("/runs"));
    await page.getByText("No runs yet").waitFor();
    await server.api("POST", "/v1/conversations", { prompt: "Say done" });
    await page.getByText("Say done").waitFor();
    await page.locator(".badge", { hasText: "Completed" }).waitFor();
});
test("an approval shows the whole command, runs it once, and disappears everywhere", async () => {
    await server.api("POST", "/v1/conversations", { prompt: "It removes something" });
    const [first, second] = await Promise.all([openPage(server.page("/inbox")), openPage(server.page("/inbox"))]);
    for (const page of [first, second])
        await page.getByText("touch removed.txt && echo gone").waitFor();
    assert.equal(existsSync(join(place.project, "removed.txt")), false);
    await first.getByRole("button", { name: "Allow", exact: true }).click();
    for (const page of [first, second])
        await page.getByText("Nobody is waiting for you").waitFor();
    const until = Date.now() + 10_000;
    while (!existsSync(join(place.project, "removed.txt")) && Date.now() < until)
        await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(existsSync(join(place.project, "removed.txt")));
});
test("a denial takes its reason along", async () => {
    const { run_id: run } = await server.api("POST", "/v1/conversations", { prompt: "It removes another thing" });
    const page = await openPage(server.page("/inbox"));
    await page.getByText("touch removed.txt").waitFor();
    await page.getByLabel(/word for the agent/).fill("not on a Friday");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByText("Nobody is waiting for you").waitFor();
    await page.goto(server.page(`/runs/${run}/conversation`));
    await page.getByText("touch removed.txt").first().click();
    await page.getByText("not on a Friday").first().waitFor();
});
test("Stop cancels the run that is shown, and cannot be pressed again", async () => {
    const { run_id: run } = await server.api("POST", "/v1/conversations", { prompt: "It waits long" });
    const page = await openPage(server.page("/inbox"));
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await page.goto(server.page(`/runs/${run}`));
    const stop = page.getByRole("button", { name: "Stop" });
    await page.getByRole("button", { name: /Bash.*sleep 30/ }).waitFor();
    await stop.click();
    await page.getByText("Cancelled").first().waitFor({ timeout: 40_000 });
    assert.ok(await stop.isDisabled());
});
test("the page goes on when its server is killed and started again", async () => {
    const page = await openPage(server.page("/runs"));
    await page.getByText("Say done").waitFor();
    const port = server.port;
    await server.stop("SIGKILL");
    await page.locator(".banner", { hasText: "The server cannot be reached" }).waitFor({ timeout: 15_000 });
    assert.ok(await page.getByText("Say done").isVisible());
    server = await place.serve(port);
    await page.locator(".banner", { hasText: "The server cannot be reached" }).waitFor({ state: "detached", timeout: 20_000 });
    await server.api("POST", "/v1/conversations", { prompt: "After the restart" });
    await page.getByText("After the restart").waitFor();
});
test("a conversation in the chat: streamed, steered, continued", async () => {
    const page = await openPage(server.page("/chat"));
    await page.getByLabel("Message").fill("Say done, please");
    await page.keyboard.press("Enter");
    await page.getByText("Done.").waitFor();
    await page.getByLabel("Message").fill("And once more");
    await page.keyboard.press("Enter");
    await page.getByText("And once more").waitFor();
    await page.reload();
    await page.getByText("And once more").waitFor();
});
