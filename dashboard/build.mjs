// Builds `dist/`: one script, one style sheet, one page, and the same compressed. The result is
// committed, so building the binary needs no Node; `cargo xtask check` rebuilds and compares it.
import { build } from "esbuild";
import { gzipSync, constants } from "node:zlib";
import { mkdirSync, readFileSync, rmSync, writeFileSync, statSync } from "node:fs";
import { join } from "node:path";

const MAX_COMPRESSED_BYTES = 60 * 1024;
const out = process.argv[2] ?? "dist";

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { dashboard: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  logLevel: "warning",
});
writeFileSync(join(out, "index.html"), readFileSync("src/index.html"));
writeFileSync(join(out, "icon.svg"), readFileSync("src/icon.svg"));

let total = 0;
for (const name of ["index.html", "icon.svg", "dashboard.js", "dashboard.css"]) {
  const file = join(out, name);
  const packed = gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION });
  // Byte 9 of the header names the operating system that packed it.
  packed[9] = 255;
  writeFileSync(`${file}.gz`, packed);
  total += packed.length;
  console.log(`${name}: ${statSync(file).size} bytes, ${packed.length} compressed`);
}
console.log(`dashboard: ${total} bytes compressed, of ${MAX_COMPRESSED_BYTES} at the most`);
if (total > MAX_COMPRESSED_BYTES) process.exit(1);
