import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** What a program's file may end with, the likeliest first. */
const ENDINGS = process.platform === "win32" ? [".exe", ".cmd", ""] : [""];

/** The program that a name or a path means, as a shell would find it; null where there is none that can be run. */
export async function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  for await (const path of programsNamed(name, env)) return path;
  return null;
}

/** All programs of that name, in the order of the search path; for a path, that one file. */
export async function* programsNamed(name: string, env: Readonly<Record<string, string | undefined>>): AsyncGenerator<string> {
  const folders = /[\\/]/.test(name) ? [null] : (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    for (const ending of ENDINGS) {
      const path = folder === null ? `${resolve(name)}${ending}` : join(folder, `${name}${ending}`);
      if (await isProgram(path)) yield path;
    }
  }
}

/** Whether this process may run the file. */
export async function isProgram(path: string): Promise<boolean> {
  const isFile = await stat(path).then((stats) => stats.isFile(), () => false);
  return isFile && access(path, constants.X_OK).then(() => true, () => false);
}
