import { open, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { DiagnosticCounter, MAX_LINE_BYTES } from "@foldcast/adapter-kit";
import type { SessionPeek } from "@foldcast/protocol-core/harness";
import { findRollout } from "./fork-parent.ts";
import { idsInName } from "./session-meta.ts";
import { SessionScan } from "./session-scan.ts";
import { nameOf } from "./thread-names.ts";

/** Instructions for the model stand before the first prompt; the first part is doubled while none is found, to the limit. */
const HEAD_BYTES = 64 * 1024;
const MAX_HEAD_BYTES = 2 * 1024 * 1024;
/** A name that was given last, and the time of the last line. */
const TAIL_BYTES = 64 * 1024;
/** Forks of forks that are followed for a first prompt. */
const MAX_FORKS = 32;

/** What a list shows of a session, from the ends of its file. Rejects when it cannot be read. */
export async function peekSession(path: string): Promise<SessionPeek | null> {
  if (!path.endsWith(".jsonl")) return null;
  const file = await open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const head = new SessionScan(new DiagnosticCounter());
    const read = await readHead(file, size, head);
    const { meta, list: { turns } } = head;
    if (head.lines === 0 || (turns.length === 0 && read === size && meta?.base == null)) return null;
    const tail = read === size ? head : new SessionScan(new DiagnosticCounter());
    if (tail !== head) await tail.read(file, { from: Math.max(read, size - TAIL_BYTES) });
    return {
      nativeSessionId: meta?.id ?? idsInName(basename(path))?.session ?? basename(path, ".jsonl"),
      cwd: head.cwd,
      title: (await nameOf(meta?.id ?? null, path)) ?? tail.title ?? head.title,
      prompt: (await firstPrompt(head, path, 0)) ?? "",
      startedAt: turns.find((turn) => turn.startedAt !== null)?.startedAt ?? meta?.startedAt ?? null,
      updatedAt: tail.lastAt ?? Math.floor(mtimeMs),
      kind: meta?.isChild === true ? "child" : "session",
      parentNativeSessionId: meta?.parentId ?? null,
    };
  } finally {
    await file.close();
  }
}

/** A fork begins with what its parent was asked first. */
async function firstPrompt(head: SessionScan, path: string, forks: number): Promise<string | null> {
  const base = head.meta?.base ?? null;
  const parent = base === null || forks > MAX_FORKS ? null : await findRollout(base.id, path);
  const file = parent === null ? null : await open(parent).catch(() => null);
  const own = head.list.turns.find((turn) => turn.prompt !== "")?.prompt ?? null;
  if (base === null || parent === null || file === null) return own;
  try {
    const inherited = new SessionScan(new DiagnosticCounter(), base.before);
    await readHead(file, (await file.stat()).size, inherited);
    return (await firstPrompt(inherited, parent, forks + 1)) ?? own;
  } finally {
    await file.close();
  }
}

/** Gives the number of bytes read. */
async function readHead(file: FileHandle, size: number, scan: SessionScan): Promise<number> {
  for (let to = Math.min(size, HEAD_BYTES); ; to = Math.min(size, to * 2)) {
    await scan.read(file, { to });
    // A line that has begun is read to its end: an image in a prompt can be several megabytes.
    const inLine = to - scan.scanned >= to / 2 && to < MAX_LINE_BYTES;
    if (to === size || (to >= MAX_HEAD_BYTES && !inLine) || scan.list.turns.some((turn) => turn.prompt !== "")) return to;
  }
}

/**
 * A revert of turns goes on in a new file of the same session, which refers to the old one; the old one is left with
 * what was taken back. The part that was made last is the session.
 */
export function supersededFiles(sessions: readonly { file: string; peek: SessionPeek }[]): Promise<ReadonlySet<string>> {
  const last = new Map<string, { file: string; part: string }>();
  const superseded = new Set<string>();
  for (const { file, peek } of sessions) {
    const ids = idsInName(basename(file));
    if (ids === null || peek.kind !== "session" || ids.session !== peek.nativeSessionId) continue;
    const known = last.get(ids.session);
    // Ids of parts tell their time, and the first part's is that of the session.
    const isOlder = known !== undefined && ids.part < known.part;
    if (known !== undefined) superseded.add(isOlder ? file : known.file);
    if (!isOlder) last.set(ids.session, { file, part: ids.part });
  }
  return Promise.resolve(superseded);
}
