// Runs every case file, two at a time: `node build/run.js [NAME PATTERN]`.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const FILES_AT_ONCE = 2;

if (!process.env["WINDLASS"]) {
  console.error("set WINDLASS to the path of the windlass binary");
  process.exit(2);
}

const folder = import.meta.dirname;
const names = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
const pattern = process.argv[2];
const outcome = { pass: 0, fail: 0 };

run({
  files: names.map((name) => join(folder, name)),
  concurrency: FILES_AT_ONCE,
  ...(pattern ? { testNamePatterns: [pattern] } : {}),
})
  .on("test:pass", (event) => (outcome.pass += isCase(event) ? 1 : 0))
  .on("test:fail", (event) => (outcome.fail += isCase(event) ? 1 : 0))
  .on("end", () => (process.exitCode = outcome.fail > 0 || outcome.pass === 0 ? 1 : 0))
  .compose(new spec())
  .pipe(process.stdout);

/** Returns whether an event is about a case that ran, and not about the file that holds it. */
function isCase(event: { nesting: number; name: string; skip?: string | boolean }): boolean {
  return event.nesting === 0 && event.skip === undefined && !event.name.endsWith(".test.js");
}
