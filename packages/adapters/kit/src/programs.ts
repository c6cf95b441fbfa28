import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";

/** The program that a name means, as a shell would find it; null where there is none that can be run. */
export async function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  if (name.includes("/")) return (await isProgram(resolve(name))) ? resolve(name) : null;
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (isAbsolute(folder) && (await isProgram(path))) return path;
  }
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  const isFile = await stat(path).then((stats) => stats.isFile(), () => false);
  return isFile && access(path, constants.X_OK).then(() => true, () => false);
}
