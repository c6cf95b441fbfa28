import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** The name of the Codex program on the search path. */
export const CODEX = "codex";

/** Where a program is; null when it is nowhere. */
export async function findProgram(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const endings = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];
  const folders = /[\\/]/.test(name) ? [""] : (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const ending of endings) {
      const path = folder === "" ? `${name}${ending}` : join(folder, `${name}${ending}`);
      if (await isProgram(path)) return path;
    }
  }
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Of `codex-cli 0.171.0`; null where the program says something else or fails. */
export async function versionOf(path: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { env, signal, maxBuffer: 1 << 16, shell: path.endsWith(".cmd") });
    return /\b(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
