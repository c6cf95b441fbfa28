import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle, HOST } from "../../tools/bundle.mjs";
import { BUNDLE_VARIABLE } from "./program.ts";

/**
 * Before all tests of a run: a folder for all temporary files, of tests that are cut off, too; and the source bundled
 * once, since starting it from source each time costs more than all else. After them, both are gone.
 */
export default async function setup(): Promise<(() => void) | undefined> {
  // Once for all projects of a run.
  if (process.env[BUNDLE_VARIABLE] !== undefined) return undefined;
  // A short name: the paths of sockets have a limit.
  const temporary = mkdtempSync(join(tmpdir(), "fc-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = temporary;
  // Its dependencies are found from there, and tools that look through the tree pass it by.
  const cache = join(HOST, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "foldcast-"));
  try {
    await bundle(folder);
    process.env[BUNDLE_VARIABLE] = join(folder, "cli.js");
  } catch (error) {
    if (process.env["CI"] !== undefined) throw error;
    // Half-written source somewhere else should not keep one from running the tests of one file.
    process.stderr.write(`the source cannot be bundled; tests start it as it is: ${String(error)}\n`);
  }
  return () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    for (const each of [temporary, folder]) rmSync(each, { recursive: true, force: true, maxRetries: 10 });
  };
}
