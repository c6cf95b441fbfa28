import { readFile, realpath } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { filledString, objectOf, parseRecord } from "@foldcast/adapter-kit";

const PACKAGE = "@openai/codex";
const MAX_LEVELS = 4;

/** A `codex` program on this machine. `version` is null where no package beside it says which one it is. */
export interface InstalledCodex {
  path: string;
  version: string | null;
}

/**
 * Looks for `codex` in the folders of `PATH`. The version is that of the npm package that the program belongs to, read
 * from its file: nothing is started. Null when there is no such program. Never rejects.
 */
export async function findInstalled(searchPath: string): Promise<InstalledCodex | null> {
  const names = process.platform === "win32" ? ["codex.exe", "codex.cmd"] : ["codex"];
  for (const folder of searchPath.split(delimiter)) {
    for (const name of folder === "" ? [] : names) {
      const path = await realpath(join(folder, name)).catch(() => null);
      if (path !== null) return { path, version: await packageVersion(path) };
    }
  }
  return null;
}

async function packageVersion(program: string): Promise<string | null> {
  let folder = dirname(program);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const text = await readFile(join(folder, "package.json"), "utf8").catch(() => null);
    const manifest = text === null ? null : objectOf(parseRecord(text));
    if (manifest !== null && manifest["name"] === PACKAGE) return filledString(manifest["version"]);
    folder = dirname(folder);
  }
  return null;
}
