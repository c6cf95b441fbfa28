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
    const prompt = turns.find((turn) => turn.prompt !== "")?.prompt ?? "";
    const ended = turns.map((turn) => turn.completedAt ?? turn.startedAt).filter((at) => at !== null);
    return {
      nativeSessionId: about.nativeSessionId,
      cwd: scan.cwd,
      title: scan.title ?? about.description,
      prompt,
      startedAt: turns.find((turn) => turn.startedAt !== null)?.startedAt ?? null,
      updatedAt: (complete ? ended.at(-1) : undefined) ?? Math.floor(mtimeMs),
      kind: scan.isSubAgent ? "child" : "session",
      parentNativeSessionId: about.parentNativeSessionId,
      // Ids are only as good as whoever made the file: that of the first line counts together with what was said first.
      ...(scan.isSubAgent || scan.firstId === null || scan.lastId === null ? {} : { lineage: [`${scan.firstId} ${prompt}`, scan.lastId] }),
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

interface Found {
  file: string;
  peek: SessionPeek;
}
/** What a file has behind a line: nothing more, what a resume went on with, or the first line of a fork. */
type Behind = "end" | "more" | "fork";

/** Of files that have not changed since they were read: what stands behind the lines that were looked for. */
const readBefore = new WeakMap<Found, { ids: string; behind: ReadonlyMap<string, Behind> }>();

/**
 * Before 2.1 a resume wrote a new file: the old lines with their ids, a new session id, and behind them what came next.
 * The older file says nothing then that the newer one does not say, and gives way to it. A fork looks the same, but both
 * of its sides are sessions: it is known by its marks, or by being newer than that custom.
 */
export async function supersededFiles(sessions: readonly Found[]): Promise<ReadonlySet<string>> {
  const families = new Map<string, Found[]>();
  for (const session of sessions) {
    const [first] = session.peek.lineage ?? [];
    if (first === undefined) continue;
    const family = families.get(first);
    if (family === undefined) families.set(first, [session]);
    else family.push(session);
  }
  const superseded = new Set<string>();
  for (const family of families.values()) if (family.length > 1) for (const file of await supersededIn(family)) superseded.add(file);
  return superseded;
}

/** Each file is read once, however many there are: a session may have been resumed a hundred times. */
async function supersededIn(family: readonly Found[]): Promise<ReadonlySet<string>> {
  const lastIds = new Set(family.map(lastIdOf));
  const ids = [...lastIds].sort().join(" ");
  const members: { file: string; lastId: string; behind: ReadonlyMap<string, Behind>; bornMs: number }[] = [];
  for (const session of family) {
    const known = readBefore.get(session);
    const behind = known?.ids === ids ? known.behind : await readBehind(session.file, lastIds).catch(() => null);
    if (behind === null) continue;
    readBefore.set(session, { ids, behind });
    const bornMs = await stat(session.file).then((stats) => stats.birthtimeMs, () => Infinity);
    members.push({ file: session.file, lastId: lastIdOf(session), behind, bornMs });
  }
  const superseded = new Set<string>();
  for (const one of members) {
    const givesWay = members.some((other) => {
      if (one === other || superseded.has(other.file)) return false;
      const behind = other.behind.get(one.lastId);
      if (behind !== "end") return behind === "more";
      // The same conversation twice: the file that was there first stays.
      return other.bornMs < one.bornMs || (other.bornMs === one.bornMs && basename(other.file) < basename(one.file));
    });
    if (givesWay) superseded.add(one.file);
  }
  return superseded;
}

const lastIdOf = ({ peek }: Found): string => peek.lineage![1]!;

/** Of those of the lines that are in the file. Rejects when it cannot be read. */
async function readBehind(path: string, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, Behind>> {
  const behind = new Map<string, Behind>();
  /** After which nothing was said yet. */
  const last = new Set<string>();
  const file = await open(path);
  try {
    await scanLines(file, (bytes, start, end) => {
      const record = parseRecord(bytes.toString("utf8", start, end));
      if (record === null) return;
      if (last.size > 0 && (record["type"] === "user" || record["type"] === "assistant")) {
        for (const id of last) behind.set(id, isFork(record) ? "fork" : "more");
        last.clear();
      }
      const id = filledString(record["uuid"]);
      if (id === null || !ids.has(id) || behind.has(id)) return;
      behind.set(id, "end");
      last.add(id);
    });
  } finally {
    await file.close();
  }
  return behind;
}

function isFork(line: Readonly<Record<string, unknown>>): boolean {
  if (filledString(objectOf(line["forkedFrom"])["sessionId"]) !== null) return true;
  const [major = 0, minor = 0] = (filledString(line["version"]) ?? "").split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 1);
}
