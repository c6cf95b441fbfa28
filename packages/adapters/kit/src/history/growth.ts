import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const EDGE_BYTES = 4096;
/** An append that has begun is over by then, also of a process that has to wait for its turn. */
const APPEND_MS = 20;

/** What a file was when it was scanned up to `scanned`. */
export interface FileState {
  size: number;
  modifiedMs: number;
  scanned: number;
  /** Hash of the first bytes and of the last ones before `scanned`. */
  edges: string;
}

export type FileChange = "same" | "grown" | "rewritten";

/** Size and time of an open file. */
export async function lookAt(file: FileHandle): Promise<Pick<FileState, "size" | "modifiedMs">> {
  const { size, mtimeMs } = await file.stat();
  return { size, modifiedMs: mtimeMs };
}

/**
 * State of an open file whose first `scanned` bytes are known. `seen` was looked at before these were read: what was
 * appended meanwhile is news then.
 */
export async function fileState(file: FileHandle, seen: Pick<FileState, "size" | "modifiedMs">, scanned: number): Promise<FileState> {
  return { ...seen, scanned, edges: await edgesOf(file, scanned) };
}

/**
 * What happened to a file since `before`. A harness appends to its files, so equal edges of the known part count as
 * growth; a file that became shorter, whose known edges differ, or that was written and has not grown, was rewritten.
 */
export async function changeSince(file: FileHandle, before: FileState): Promise<FileChange> {
  let now = await lookAt(file);
  // Measured: an append moves a file's time before its size.
  if (now.size === before.size && now.modifiedMs !== before.modifiedMs) {
    await delay(APPEND_MS);
    now = await lookAt(file);
  }
  if (now.size === before.size) return now.modifiedMs === before.modifiedMs ? "same" : "rewritten";
  return (await hasKnownPart(file, now.size, before)) ? "grown" : "rewritten";
}

/**
 * Throws where another file has come into the place of the one that was looked at last: of that the places of lines say
 * nothing. That its time alone is another one says nothing here: something may be on its way to its end.
 */
export async function demandSameFile(file: FileHandle, path: string, before: FileState): Promise<void> {
  const { size, modifiedMs } = await lookAt(file);
  if (size === before.size && modifiedMs === before.modifiedMs) return;
  if (!(await hasKnownPart(file, size, before))) throw new Error(`${path} was written anew while it was read; ask again`);
}

/** Whether the file still begins with what was known of it, as far as that was scanned. Looks at its bytes in any case. */
export async function stillBeginsWith(file: FileHandle, before: FileState): Promise<boolean> {
  return (await changeSince(file, before)) !== "rewritten" && (await edgesOf(file, before.scanned)) === before.edges;
}

async function hasKnownPart(file: FileHandle, size: number, { scanned, edges }: FileState): Promise<boolean> {
  return size >= scanned && (await edgesOf(file, scanned)) === edges;
}

async function edgesOf(file: FileHandle, scanned: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(EDGE_BYTES);
  for (const from of [0, Math.max(0, scanned - EDGE_BYTES)]) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(EDGE_BYTES, scanned), from);
    hash.update(buffer.subarray(0, bytesRead));
  }
  return hash.digest("hex");
}
