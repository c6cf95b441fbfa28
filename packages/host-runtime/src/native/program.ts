import { execFile } from "node:child_process";
import { open, realpath } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { promisify } from "node:util";
import { findProgram, isProgram, programsNamed } from "@foldcast/adapter-kit/programs";
import { bundledPrograms, usualFolders } from "./places.ts";
import type { Surroundings } from "./places.ts";

/** The name of the Codex program on the search path. */
export const CODEX = "codex";

/** Stands at the beginning of every stand-in for `codex` that foldcast writes, so that it is never taken for the real one. */
export const STAND_IN_MARK = "foldcast stands in for codex";
const HEAD_BYTES = 256;

/**
 * Where the Codex program is; null when it is nowhere. `bin` names it, as a path or as a name on the search path; null =
 * look on the search path, then where installers put it, then in Codex Desktop. `desktopFirst` turns that round: for a
 * Desktop its own copy is the right release. A stand-in of ours under that name is passed over.
 */
export async function findCodex(bin: string | null, around: Surroundings, { desktopFirst = false } = {}): Promise<string | null> {
  if (bin !== null) {
    const named = await findProgram(bin, around.env);
    return named === null || (await isOurs(named)) ? null : named;
  }
  const bundled = async (): Promise<string | null> => {
    for (const path of bundledPrograms(around)) if ((await isProgram(path)) && !(await isOurs(path))) return path;
    return null;
  };
  const inFolders = async (path: string): Promise<string | null> => {
    for await (const each of programsNamed(CODEX, { PATH: path })) if (!(await isOurs(each))) return each;
    return null;
  };
  const installed = async (): Promise<string | null> =>
    (await inFolders(around.env["PATH"] ?? "")) ?? (await inFolders((await usualFolders(around)).filter((folder) => isAbsolute(folder)).join(delimiter)));
  return desktopFirst ? ((await bundled()) ?? (await installed())) : ((await installed()) ?? (await bundled()));
}

/** Whether a program is foldcast itself, or a stand-in that it wrote. */
async function isOurs(path: string): Promise<boolean> {
  const [one, running] = await Promise.all([path, process.argv[1] ?? ""].map((each) => realpath(each).catch(() => each)));
  if (one === running) return true;
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.toString("latin1", 0, bytesRead).includes(STAND_IN_MARK);
    } finally {
      await file.close();
    }
  } catch {
    // What may be run but not read is no script of ours.
    return false;
  }
}

/** Of `codex-cli 0.171.0`; null where the program says something else or fails. */
export async function versionOf(path: string, env: Surroundings["env"], signal: AbortSignal): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { env, signal, maxBuffer: 1 << 16, shell: path.endsWith(".cmd") });
    return /\b(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}
