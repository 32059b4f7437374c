// A hundred thousand runs: the list stays small in the document and scrolls without long tasks.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { closeBrowser, openPage } from "./browser.js";
import { Workplace, type RunningServer } from "./server.js";

const RUNS = 100_000;
const MAX_ROWS = 300;
const MAX_TASK_MS = 100;

/** Copies the row of the one real run. */
const COPY_ROWS = `
import sqlite3, sys, uuid
db = sqlite3.connect(sys.argv[1])
names = [row[1] for row in db.execute("PRAGMA table_info(run)")]
at = names.index("run_id")
first = db.execute("SELECT " + ", ".join(names) + " FROM run").fetchone()
no = names.index("no")
prompt = names.index("prompt")
def row(number):
    made = list(first)
    made[at] = str(uuid.uuid4())
    made[no] = None
    made[prompt] = "Task %d" % number
    return made
db.executemany("INSERT INTO run (" + ", ".join(names) + ") VALUES (" + ", ".join("?" * len(names)) + ")", map(row, range(int(sys.argv[2]))))
db.commit()
`;

let place: Workplace;
let server: RunningServer;

before(async () => {
  place = new Workplace(`when any\n  say "Done."\n`);
  place.prompt("The first one");
  const copied = spawnSync("python3", ["-c", COPY_ROWS, place.store, String(RUNS)], { encoding: "utf8" });
  assert.equal(copied.status, 0, copied.stderr);
  server = await place.serve();
});

after(async () => {
  await server.stop();
  await closeBrowser();
  place.remove();
});

test("a hundred thousand runs scroll without long tasks, with at most 300 rows in the document", async () => {
  const page = await openPage(server.page("/runs"));
  await page.locator("a.list-row", { hasText: `Task ${RUNS - 1}` }).waitFor();
  await page.evaluate(`
    window.longTasks = [];
    new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ["longtask"] });
  `);
  let most = 0;
  // A machine that is busy with something else makes long tasks of short ones: the best of three counts.
  let longest = Infinity;
  for (let pass = 0; pass < 3 && longest > MAX_TASK_MS; pass += 1) {
    await page.evaluate("window.longTasks.length = 0");
    for (let turn = 0; turn < 40; turn += 1) {
      const rows = (await page.evaluate(`(() => {
        const box = document.querySelector(".list-scroll");
        box.scrollTop = box.scrollHeight;
        return document.querySelectorAll(".list-row").length;
      })()`)) as number;
      most = Math.max(most, rows);
      await page.waitForTimeout(30);
    }
    longest = Math.max(0, ...((await page.evaluate("window.longTasks")) as number[]));
  }
  const loaded = (await page.evaluate(`Number(document.querySelector("[aria-setsize]").getAttribute("aria-setsize"))`)) as number;
  console.log(`${loaded} of ${RUNS} runs loaded while scrolling, ${most} rows at most, longest task ${Math.round(longest)} ms`);
  assert.ok(loaded > 500, `${loaded} runs were loaded`);
  assert.ok(most <= MAX_ROWS, `${most} rows`);
  assert.ok(longest <= MAX_TASK_MS, `${longest} ms`);
});

test("one of a hundred thousand is found by its text, and the overview counts them all", async () => {
  const page = await openPage(server.page("/runs"));
  await page.getByLabel("Search prompts and ids").fill("Task 4711");
  await page.locator("a.list-row", { hasText: "Task 4711" }).first().waitFor();
  await page.goto(`${server.url}/#/`);
  await page.getByText("Needs attention").waitFor({ timeout: 30_000 });
});
