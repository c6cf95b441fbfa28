import { open, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { idsInName } from "./session-meta.ts";

/** Codex keeps rollouts in `sessions/<year>/<month>/<day>` and, flat, in `archived_sessions`. */
const LEVELS = 3;
const MAX_SIBLINGS = 500;
const HEAD_BYTES = 4096;

/**
 * The rollout that another one goes on from, by the last id in its name: in the same folder, then in the
 * Codex home that the folder belongs to. Where no name says it, the first lines in the same folder do. Null when it is
 * not there.
 */
export async function findRollout(id: string, besides: string): Promise<string | null> {
  const folder = dirname(besides);
  const names = await namesIn(folder);
  const own = basename(besides);
  const named = names.find((name) => idsInName(name)?.part === id);
  if (named !== undefined) return join(folder, named);
  for (const root of sessionFolders(folder)) {
    const found = await findNamed(id, root, LEVELS);
    if (found !== null) return found;
  }
  for (const name of names.filter((each) => each.endsWith(".jsonl") && each !== own).slice(0, MAX_SIBLINGS)) {
    if (await beginsWithSession(join(folder, name), id)) return join(folder, name);
  }
  return null;
}

function sessionFolders(folder: string): string[] {
  const home = codexHomeOf(folder);
  return home === null ? [] : [join(home, "sessions"), join(home, "archived_sessions")];
}

/** The Codex home that a folder of rollouts belongs to; null when it is no such folder. */
export function codexHomeOf(folder: string): string | null {
  let at = folder;
  for (let level = 0; level <= LEVELS; level++) {
    const name = basename(at);
    if (name === "sessions" || name === "archived_sessions") return dirname(at);
    at = dirname(at);
  }
  return null;
}

async function findNamed(id: string, folder: string, levels: number): Promise<string | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const file = entries.find((entry) => entry.isFile() && idsInName(entry.name)?.part === id);
  if (file !== undefined) return join(folder, file.name);
  if (levels === 0) return null;
  // The newest first: forks are made of what somebody is at.
  for (const entry of entries.filter((each) => each.isDirectory()).sort((a, b) => (a.name < b.name ? 1 : -1))) {
    const found = await findNamed(id, join(folder, entry.name), levels - 1);
    if (found !== null) return found;
  }
  return null;
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function beginsWithSession(path: string, id: string): Promise<boolean> {
  const file = await open(path).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0]!;
    return head.includes("\"session_meta\"") && new RegExp(`"id":\\s*"${id.replace(/[^\w-]/g, "")}"`).test(head);
  } catch {
    return false;
  } finally {
    await file.close();
  }
}
