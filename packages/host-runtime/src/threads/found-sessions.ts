import { open } from "node:fs/promises";
import { timeOrNull, type HarnessAdapter, type HistorySource, type SessionPeek } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";
import type { ThreadRecord } from "../store/store.ts";
import { threadIdFor } from "./ids.ts";
import type { KnownFile } from "./session-cache.ts";

const HEAD_BYTES = 8192;

/** A file with a session in it. */
export type Session = KnownFile & { harness: string; peek: SessionPeek };

export function isSession(known: KnownFile): known is Session {
  return known.harness !== null && known.peek !== null;
}

export const nativeKey = (harness: string, nativeSessionId: string): string => `${harness}\0${nativeSessionId}`;

/**
 * Those of the files, newest first, that are threads: no sub-agent's file, no copy of what another one says, and one
 * file a session.
 */
export async function threadsAmong(known: readonly Session[], adapters: ReadonlyMap<string, HarnessAdapter>, log: Logger): Promise<Session[]> {
  const sessions = known.filter(({ peek }) => peek.kind === "session");
  const dropped = await superseded(sessions, adapters, log);
  const threads = new Map<string, Session>();
  for (const session of sessions) {
    const key = nativeKey(session.harness, session.peek.nativeSessionId);
    // Of two files with the same session, the one that was written last is the one that goes on.
    if (!dropped.has(session.file) && !threads.has(key)) threads.set(key, session);
  }
  for (const copy of known) {
    if (copy.peek.kind !== "copy") continue;
    const { nativeSessionId, parentNativeSessionId: original } = copy.peek;
    const key = nativeKey(copy.harness, nativeSessionId);
    if (!threads.has(key) && (original === null || !threads.has(nativeKey(copy.harness, original)))) threads.set(key, copy);
  }
  return [...threads.values()];
}

async function superseded(sessions: readonly Session[], adapters: ReadonlyMap<string, HarnessAdapter>, log: Logger): Promise<ReadonlySet<string>> {
  const all = new Set<string>();
  for (const [harness, { history }] of adapters) {
    if (history?.copies === undefined) continue;
    try {
      for (const file of await history.copies(sessions.filter((session) => session.harness === harness))) all.add(file);
    } catch (error) {
      log.warn("cannot tell copies of saved sessions", { harness, error });
    }
  }
  return all;
}

/** The adapter that says that a file is one of its own. Rejects when the file cannot be read. */
export async function recogniser(file: string, adapters: ReadonlyMap<string, HarnessAdapter>): Promise<HarnessAdapter | undefined> {
  const handle = await open(file, "r");
  let head: string;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    head = buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
  return [...adapters.values()].find(({ history }) => history!.recognises(file, head));
}

/** What a list shows of a session, for an adapter that only makes whole indexes. */
export async function peekByIndex(source: HistorySource, file: string): Promise<SessionPeek | null> {
  const index = await source.open(file);
  try {
    const { turns, nativeSessionId, cwd, title, parentNativeSessionId } = index;
    if (turns.length === 0) return null;
    return {
      nativeSessionId, cwd, title, parentNativeSessionId,
      prompt: turns.find((turn) => turn.prompt !== "")?.prompt ?? "",
      startedAt: turns.find((turn) => turn.startedAt !== null)?.startedAt ?? null,
      updatedAt: turns.map((turn) => turn.completedAt ?? turn.startedAt).findLast((at) => at !== null) ?? null,
      kind: "session",
    };
  } finally {
    await index.close();
  }
}

/** Hashing thousands of ids again whenever one file changes would take longer than all else. */
const records = new WeakMap<Session, ThreadRecord>();

/** The thread of a session that was found and not started by us. */
export function recordOf(session: Session): ThreadRecord {
  const made = records.get(session) ?? makeRecord(session);
  records.set(session, made);
  return made;
}

function makeRecord({ file, harness, mtimeMs, peek }: Session): ThreadRecord {
  const writtenAt = timeOrNull(mtimeMs) ?? 0;
  const updatedAt = timeOrNull(peek.updatedAt) ?? writtenAt;
  return {
    id: threadIdFor(harness, peek.nativeSessionId),
    harness,
    nativeSessionId: peek.nativeSessionId,
    file,
    model: null,
    effort: null,
    cwd: peek.cwd ?? "/",
    name: peek.title,
    preview: peek.prompt,
    archived: false,
    ephemeral: false,
    threadSource: null,
    originator: null,
    forkedFromId: null,
    section: null,
    gitInfo: null,
    createdAt: timeOrNull(peek.startedAt) ?? Math.min(updatedAt, writtenAt),
    updatedAt,
    recencyAt: updatedAt,
  };
}
