import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bundle, HOST } from "../../tools/bundle.mjs";
import { BUNDLE_VARIABLE } from "./program.ts";

/** Bundles the source once for all tests of a run: starting it from source each time costs more than all else. */
export default async function setup(): Promise<(() => void) | undefined> {
  if (process.env[BUNDLE_VARIABLE] !== undefined) return undefined;
  // Its dependencies are found from there, and tools that look through the tree pass it by.
  const cache = join(HOST, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "foldcast-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await bundle(folder);
  } catch (error) {
    remove();
    if (process.env["CI"] !== undefined) throw error;
    // Half-written source somewhere else should not keep one from running the tests of one file.
    process.stderr.write(`the source cannot be bundled; tests start it as it is: ${String(error)}\n`);
    return undefined;
  }
  process.env[BUNDLE_VARIABLE] = join(folder, "cli.js");
  return remove;
}
