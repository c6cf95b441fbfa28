import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder, and those above it that are missing, with this mode. Throws at once where that cannot be: Node 20's own
 * `recursive` never returns on a path below which the system knows no folders, such as one in /proc.
 */
export function makeFolder(path: string, mode: number): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const folder of missing.toReversed()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Somebody else may have made it in between.
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  if (!statSync(path).isDirectory()) throw new Error(`${path} is no folder`);
}
