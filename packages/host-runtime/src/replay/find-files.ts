import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Bytes of a file that adapters look at to recognise their own. */
const HEAD_BYTES = 64 * 1024;
const MAX_DEPTH = 32;

export interface FoundFiles {
  folder: boolean;
  files: string[];
  closed: Map<string, unknown>;
}

/**
 * The files below a path in the order of their names; a file is itself the list. Links are not followed. Rejects with a
 * readable message when there is no such path. `closed`: folders that cannot be read, and why.
 */
export async function findFiles(path: string): Promise<FoundFiles> {
  const info = await stat(path).catch(() => null);
  if (info === null) throw new Error(`there is no file or folder ${path}`);
  if (info.isFile()) return { folder: false, files: [path], closed: new Map() };
  // Reading a pipe or a device may never end.
  if (!info.isDirectory()) throw new Error(`${path} is neither a file nor a folder`);
  const found: FoundFiles = { folder: true, files: [], closed: new Map() };
  await walk(path, 0, found);
  found.files.sort((a, b) => (a < b ? -1 : 1));
  return found;
}

async function walk(folder: string, depth: number, found: FoundFiles): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    found.closed.set(folder, error);
    return [];
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isFile()) found.files.push(path);
    else if (entry.isDirectory() && depth < MAX_DEPTH) await walk(path, depth + 1, found);
  }
}

export async function readHead(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
