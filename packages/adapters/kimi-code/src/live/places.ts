import { readdir, readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { filledString, objectOf, parseRecord } from "@foldcast/adapter-kit";

type Environment = Readonly<Record<string, string | undefined>>;

/** Ids become names of folders. */
const SESSION_ID = /^session_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Where Kimi Code keeps its settings, its login and its sessions. */
export function homeFolder(env: Environment): string {
  const own = env["KIMI_CODE_HOME"];
  return own === undefined || own === "" ? join(env["HOME"] ?? homedir(), ".kimi-code") : own;
}

export interface SavedSession {
  folder: string;
  /** The working directory that it was made in; a session goes on only there (2.1.0). */
  cwd: string | null;
}

/** The folder of a session, whichever working directory it is of; null where there is none. */
export async function findSession(home: string, sessionId: string): Promise<SavedSession | null> {
  if (!SESSION_ID.test(sessionId)) return null;
  const sessions = join(home, "sessions");
  for (const workspace of await readdir(sessions).catch(() => [])) {
    const folder = join(sessions, workspace, sessionId);
    const state = await readFile(join(folder, "state.json"), "utf8").catch(() => null);
    if (state !== null) return { folder, cwd: filledString(objectOf(parseRecord(state))["cwd"]) };
    if (await stat(folder).then((stats) => stats.isDirectory(), () => false)) return { folder, cwd: null };
  }
  return null;
}

/** What the session's own agent writes. */
export function wireFileOf(session: SavedSession): string {
  return join(session.folder, "agents", "main", "wire.jsonl");
}
