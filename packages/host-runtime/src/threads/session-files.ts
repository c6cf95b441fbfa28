import { statSync } from "node:fs";
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../log/logger.ts";

/** A folder to look for sessions in. */
export interface SessionFolder {
  folder: string;
  /** How many levels of folders below it are looked at. */
  depth: number;
  /** The harness whose files these are; null = every adapter is asked. */
  harness: string | null;
}

/** A file that may hold a session, as it is now. */
export interface SessionFile {
  file: string;
  harness: string | null;
  size: number;
  mtimeMs: number;
}

/** A folder can be anything: so many names are looked at and no more. */
const MAX_NAMES = 200_000;
/** Looking at files is so quick that a thread pool would double its time; others get their turn in between. */
const SLICE_MS = 8;

/** All files in the folders, newest first; none comes twice. A folder that is not there has none. */
export async function findSessionFiles(folders: readonly SessionFolder[], log: Logger): Promise<SessionFile[]> {
  const paths = new Map<string, string | null>();
  for (const { folder, depth, harness } of folders) await walk(folder, depth, (path) => void (paths.has(path) || paths.set(path, harness)), log);
  if (paths.size >= MAX_NAMES) log.warn("too many files in the folders of saved sessions; the rest is left out", { limit: MAX_NAMES });
  const files: SessionFile[] = [];
  let sliceEnds = performance.now() + SLICE_MS;
  for (const [file, harness] of paths) {
    const found = statFile(file);
    if (found !== null) files.push({ file, harness, ...found });
    if (performance.now() < sliceEnds) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceEnds = performance.now() + SLICE_MS;
  }
  return files.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
}

/** Null for what is gone, or no file. */
export function statFile(file: string): { size: number; mtimeMs: number } | null {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true ? { size: stats.size, mtimeMs: stats.mtimeMs } : null;
  } catch {
    return null;
  }
}

async function walk(root: string, depth: number, onFile: (path: string) => void, log: Logger): Promise<void> {
  let left = MAX_NAMES;
  let level = [root];
  for (let at = 0; at <= depth && level.length > 0; at += 1) {
    const below: string[] = [];
    for (const folder of level) {
      for (const entry of await entriesOf(folder, log)) {
        if ((left -= 1) < 0) return;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) below.push(path);
        else if (entry.isFile() || entry.isSymbolicLink()) onFile(path);
      }
    }
    level = below;
  }
}

async function entriesOf(folder: string, log: Logger): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (!isMissing) log.warn("cannot read a folder of saved sessions", { folder, error });
    return [];
  }
}
