#!/usr/bin/env node
// Refuses imports and names that cross the borders between the packages. Prints one line a fault and exits 1, or one
// summary line and exits 0. `--root DIR` checks another tree of the same layout (the tests of this check use it).

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkImports } from "./boundaries/import-rules.mjs";
import { registeredHarnessIds } from "./boundaries/harness-ids.mjs";
import { listSources } from "./boundaries/sources.mjs";
import { checkSource } from "./boundaries/source-rules.mjs";

const { values } = parseArgs({ options: { root: { type: "string" } } });
const root = resolve(values.root ?? join(import.meta.dirname, ".."));
const configuration = createRequire(import.meta.url)("../.dependency-cruiser.cjs");

if (!existsSync(join(root, "packages"))) {
  console.error(`no packages/ under ${root}`);
  process.exit(2);
}
const sources = listSources(root);
const harnessIds = registeredHarnessIds(root, sources);
const faults = [
  ...harnessIds.faults,
  ...sources.flatMap((path) => checkSource({ path, text: readFileSync(join(root, path), "utf8"), harnessIds: harnessIds.ids })),
  ...(await checkImports(root, configuration)),
];
for (const fault of faults) console.log(`${fault.path}${fault.line === undefined ? "" : `:${fault.line}`}  ${fault.rule}  ${fault.message}`);
if (faults.length > 0) {
  console.log(`${faults.length} boundary fault(s) in ${sources.length} files`);
  process.exit(1);
}
console.log(`boundaries: ${sources.length} files, harnesses ${[...harnessIds.ids].sort().join(", ")}: no fault`);
