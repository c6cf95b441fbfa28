import type { ThreadRecord, ThreadStore } from "../store/store.ts";
import { nativeKey } from "./found-sessions.ts";
import type { SavedSessions } from "./saved-sessions.ts";
import { statFile } from "./session-files.ts";

/** A session may be written by its own program while we look: so much later than our own note counts as news. */
const NEWS_MS = 1_000;

/**
 * All threads there are, loaded or not: those of the store, and saved sessions that nobody here has touched yet. A session
 * is one thread: where the store has a row for it, that is the thread, under whatever id.
 */
export class KnownThreads {
  readonly #store: ThreadStore;
  readonly #saved: SavedSessions;

  constructor(store: ThreadStore, saved: SavedSessions) {
    this.#store = store;
    this.#saved = saved;
  }

  /** Threads that may be listed: those that have had a turn, or were put away. In no particular order. */
  async records(): Promise<ThreadRecord[]> {
    const found = await this.#saved.records();
    const taken = new Set<string>();
    const records: ThreadRecord[] = [];
    for (const row of this.#store.threads()) {
      if (row.harness === null && !row.archived) continue;
      if (row.harness !== null && row.nativeSessionId !== null) taken.add(nativeKey(row.harness, row.nativeSessionId));
      records.push(this.#asSeen(row));
    }
    for (const { harness, nativeSessionId } of this.#store.hiddenSessions()) taken.add(nativeKey(harness, nativeSessionId));
    for (const record of found) if (!taken.has(nativeKey(record.harness!, record.nativeSessionId!))) records.push(record);
    return records;
  }

  async find(id: string): Promise<ThreadRecord | null> {
    const row = this.#store.thread(id);
    if (row !== null) return this.#withFile(this.#asSeen(row));
    const record = await this.#saved.find(id);
    if (record === null || this.#store.threadByNative(record.harness!, record.nativeSessionId!) !== null) return null;
    const isHidden = [...this.#store.hiddenSessions()].some((hidden) => hidden.harness === record.harness && hidden.nativeSessionId === record.nativeSessionId);
    return isHidden ? null : record;
  }

  /** Its program may have put the file elsewhere. */
  #withFile(row: ThreadRecord): ThreadRecord {
    const seen = row.harness === null || row.nativeSessionId === null ? null : this.#saved.seen(row.harness, row.nativeSessionId);
    return seen === null || seen.file === row.file || (row.file !== null && statFile(row.file) !== null) ? row : { ...row, file: seen.file };
  }

  /** A row with what the session's own program did since: it may have gone on with it, or named it. */
  #asSeen(row: ThreadRecord): ThreadRecord {
    const seen = row.harness === null || row.nativeSessionId === null ? null : this.#saved.seen(row.harness, row.nativeSessionId);
    if (seen === null) return row;
    const isNews = seen.updatedAt > row.updatedAt + NEWS_MS;
    return {
      ...row,
      file: row.file ?? seen.file,
      name: row.name ?? seen.name,
      preview: row.preview === "" ? seen.preview : row.preview,
      ...(isNews ? { updatedAt: seen.updatedAt, recencyAt: seen.recencyAt } : {}),
    };
  }
}

/** The row to change of a thread. That of a session that was only found takes no name: its program may still change it. */
export function rowOf(store: ThreadStore, record: ThreadRecord): ThreadRecord {
  return store.thread(record.id) ?? { ...record, name: null };
}
