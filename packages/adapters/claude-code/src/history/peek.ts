import { open, stat, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { DiagnosticCounter, MAX_LINE_BYTES, scanLines, filledString, objectOf, parseRecord } from "@foldcast/adapter-kit";
import type { SessionPeek } from "@foldcast/protocol-core/harness";
import { describeFile, isSubAgentFile } from "./session-file.ts";
import { SessionScan } from "./session-scan.ts";

/** A first part of this size holds the first prompt as a rule; it is doubled while it does not, to the limit. */
const HEAD_BYTES = 32 * 1024;
const MAX_HEAD_BYTES = 1024 * 1024;
/** Claude Code itself writes a title again so that it stands in the last 64 KiB. */
const TAIL_BYTES = 64 * 1024;

/** What a list shows of a session, from the ends of its file. Rejects when it cannot be read. */
export async function peekSession(path: string): Promise<SessionPeek | null> {
  if (!path.endsWith(".jsonl")) return null;
  const file = await open(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const scan = new SessionScan(new DiagnosticCounter(), isSubAgentFile(path));
    const complete = await readEnds(file, size, scan);
    const { turns } = scan.ownTurns;
    if (scan.lines === 0 || turns.length === 0) return null;
    const about = await describeFile(path, scan);
    const ended = turns.map((turn) => turn.completedAt ?? turn.startedAt).filter((at) => at !== null);
    return {
      nativeSessionId: about.nativeSessionId,
      cwd: scan.cwd,
      title: scan.title ?? about.description,
      prompt: turns.find((turn) => turn.prompt !== "")?.prompt ?? "",
      startedAt: turns.find((turn) => turn.startedAt !== null)?.startedAt ?? null,
      updatedAt: (complete ? ended.at(-1) : undefined) ?? Math.floor(mtimeMs),
      kind: scan.isSubAgent ? "child" : "session",
      parentNativeSessionId: about.parentNativeSessionId,
      ...(scan.isSubAgent || scan.firstId === null || scan.lastId === null ? {} : { lineage: [scan.firstId, scan.lastId] }),
    };
  } finally {
    await file.close();
  }
}

/** False when no line at the end could be read, so that nothing is known of it. */
async function readEnds(file: FileHandle, size: number, scan: SessionScan): Promise<boolean> {
  let to = size <= HEAD_BYTES + TAIL_BYTES ? size : HEAD_BYTES;
  await scan.read(file, { to });
  // A line that has begun is read to its end: an image in a prompt can be several megabytes.
  const inLine = (): boolean => to - scan.scanned >= to / 2;
  while (to < size && (to < MAX_HEAD_BYTES || inLine()) && to < MAX_LINE_BYTES && !scan.ownTurns.turns.some((turn) => turn.prompt !== "")) {
    to = Math.min(to * 2, size);
    await scan.read(file, { to });
  }
  if (to === size) return true;
  const { lines } = scan;
  await scan.read(file, { from: Math.max(scan.scanned, size - TAIL_BYTES) });
  return scan.lines > lines;
}

type Found = readonly { file: string; peek: SessionPeek }[];

/**
 * Before 2.1 a resume wrote a new file: the old lines with their ids, a new session id, and behind them what came next.
 * The older file says nothing then that the newer one does not say, and gives way to it. A fork looks the same, but both
 * of its sides are sessions: it is known by its marks, or by being newer than that custom.
 */
export async function supersededFiles(sessions: Found): Promise<ReadonlySet<string>> {
  const families = new Map<string, Found[number][]>();
  for (const session of sessions) {
    const [first] = session.peek.lineage ?? [];
    if (first === undefined) continue;
    const family = families.get(first);
    if (family === undefined) families.set(first, [session]);
    else family.push(session);
  }
  const superseded = new Set<string>();
  for (const family of families.values()) {
    if (family.length < 2) continue;
    for (const one of family) {
      for (const other of family) if (one !== other && !superseded.has(other.file) && (await supersedes(other, one))) superseded.add(one.file);
    }
  }
  return superseded;
}

async function supersedes(newer: Found[number], older: Found[number]): Promise<boolean> {
  const last = older.peek.lineage![1]!;
  const after = await lineAfter(newer.file, last).catch(() => null);
  if (after === null) return false;
  if (after !== "end") return !isFork(after);
  // The same conversation twice: the file that was there first stays.
  const [a, b] = await Promise.all([newer.file, older.file].map((file) => stat(file)));
  return a!.birthtimeMs < b!.birthtimeMs || (a!.birthtimeMs === b!.birthtimeMs && basename(newer.file) < basename(older.file));
}

/** The first line of the conversation behind the one with this id: `end` = there is none, null = the id is not there. */
async function lineAfter(path: string, id: string): Promise<Readonly<Record<string, unknown>> | "end" | null> {
  const file = await open(path);
  try {
    const found: { line: Readonly<Record<string, unknown>> | "end" | null } = { line: null };
    await scanLines(file, (bytes, start, end) => {
      if (found.line !== null && found.line !== "end") return;
      if (found.line === null && bytes.subarray(start, end).indexOf(id) === -1) return;
      const record = parseRecord(bytes.toString("utf8", start, end));
      if (record === null) return;
      if (found.line === null && record["uuid"] === id) found.line = "end";
      else if (found.line === "end" && (record["type"] === "user" || record["type"] === "assistant")) found.line = record;
    });
    return found.line;
  } finally {
    await file.close();
  }
}

function isFork(line: Readonly<Record<string, unknown>>): boolean {
  if (filledString(objectOf(line["forkedFrom"])["sessionId"]) !== null) return true;
  const [major = 0, minor = 0] = (filledString(line["version"]) ?? "").split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 1);
}
