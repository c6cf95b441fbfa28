import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where Claude Code 2.1 keeps its sessions: `projects/<cwd, every other character a dash>/<session id>.jsonl`. */
export function projectsFolder(env: Environment): string {
  const own = env["CLAUDE_CONFIG_DIR"];
  return join(own === undefined || own === "" ? join(env["HOME"] ?? homedir(), ".claude") : own, "projects");
}

/** Where a new session of this folder is written as a rule; very long paths are shortened by the program. */
export async function expectedFile(projects: string, cwd: string, sessionId: string): Promise<string> {
  // The program sees its folder without links in it.
  const real = await realpath(cwd).catch(() => resolve(cwd));
  return join(projects, real.replace(/[^A-Za-z0-9]/g, "-"), `${sessionId}.jsonl`);
}

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The file of a saved session, whichever folder it was made in; null where there is none. */
export async function findSession(projects: string, sessionId: string): Promise<string | null> {
  // Ids become file names.
  if (!SESSION_ID.test(sessionId)) return null;
  for (const folder of await readdir(projects).catch(() => [])) {
    const file = join(projects, folder, `${sessionId}.jsonl`);
    if (await isFile(file)) return file;
  }
  return null;
}

export async function isFile(path: string): Promise<boolean> {
  return stat(path).then((stats) => stats.isFile(), () => false);
}
