#!/usr/bin/env node
// Builds the package that is installed: packages/host-runtime/dist, with the licences of what is bundled.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { BUNDLED, bundle, HOST } from "./bundle.mjs";

const dist = join(HOST, "dist");
// npm packs these two from the package's own folder only.
for (const name of ["LICENSE", "README.md"]) copyFileSync(join(HOST, "..", "..", name), join(HOST, name));
rmSync(dist, { recursive: true, force: true });
const { outputs } = await bundle(dist);
writeLicences();
const code = Object.entries(outputs).filter(([path]) => path.endsWith(".js"));
const bytes = code.reduce((sum, [, output]) => sum + output.bytes, 0);
console.log(`dist/cli.js and ${String(code.length - 1)} lazy or shared chunks, ${String(Math.round(bytes / 1024))} KiB`);

/** What is bundled must bring its licence along. */
function writeLicences() {
  const require = createRequire(join(HOST, "package.json"));
  const texts = BUNDLED.map((name) => `${name}\n\n${readFileSync(join(dirname(require.resolve(`${name}/package.json`)), "LICENSE"), "utf8")}`);
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), texts.join("\n\n"));
}
