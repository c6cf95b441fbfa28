import { open, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { DiagnosticCounter } from "@foldcast/adapter-kit";
import type { SessionPeek } from "@foldcast/protocol-core/harness";
import { idInName } from "./session-meta.ts";
import { SessionScan } from "./session-scan.ts";

/** Instructions for the model stand before the first prompt; the first part is doubled while none is found, to the limit. */
const HEAD_BYTES = 64 * 1024;
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
/** A name that was given last, and the time of the last line. */
const TAIL_BYTES = 64 * 1024;

/** What a list shows of a session, from the ends of its file. Rejects when it cannot be read. */
export async function peekSession(path: string): Promise<SessionPeek | null> {
  if (!path.endsWith(".jsonl")) return null;
  const file = await open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const head = new SessionScan(new DiagnosticCounter());
    const read = await readHead(file, size, head);
    const { turns } = head.list;
    if (head.lines === 0 || (turns.length === 0 && read === size)) return null;
    const tail = read === size ? head : new SessionScan(new DiagnosticCounter());
    if (tail !== head) await tail.read(file, { from: Math.max(read, size - TAIL_BYTES) });
    const { meta } = head;
    return {
      nativeSessionId: meta?.id ?? idInName(basename(path)) ?? basename(path, ".jsonl"),
      cwd: head.cwd,
      title: tail.title ?? head.title,
      prompt: turns.find((turn) => turn.prompt !== "")?.prompt ?? "",
      startedAt: turns.find((turn) => turn.startedAt !== null)?.startedAt ?? meta?.startedAt ?? null,
      updatedAt: tail.lastAt ?? Math.floor(mtimeMs),
      kind: meta?.isChild === true ? "child" : "session",
      parentNativeSessionId: meta?.parentId ?? null,
    };
  } finally {
    await file.close();
  }
}

/** Gives the number of bytes read. */
async function readHead(file: FileHandle, size: number, scan: SessionScan): Promise<number> {
  for (let to = Math.min(size, HEAD_BYTES); ; to = Math.min(size, to * 2)) {
    await scan.read(file, { to });
    if (to === size || to >= MAX_HEAD_BYTES || scan.list.turns.some((turn) => turn.prompt !== "")) return to;
  }
}
