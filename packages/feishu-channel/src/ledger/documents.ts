import type { z } from "zod";

/** The part of an SQLite connection that is needed here; whoever composes the program opens it. Synchronous. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: (string | number | null)[]): unknown; get(...values: (string | number | null)[]): unknown; all(...values: (string | number | null)[]): unknown[] };
  close(): void;
}

/** Rows of one kind, each a JSON document under its key, with the time (Unix milliseconds) at which it was last put. */
export interface Table<T> {
  get(key: string): T | null;
  put(key: string, value: T): void;
  delete(key: string): void;
  all(): readonly (readonly [string, T])[];
  /** False when the key is there already; else it is there now. One step, also between two processes. */
  claim(key: string, value: T): boolean;
  /** Removes rows last put before this time, and of the rest the oldest beyond `keep`. */
  prune(before: number, keep: number): void;
}

/**
 * What the channel must still know after a crash: what was delivered, which messages were seen, who is bound to which
 * thread, which buttons are good. Every `put` outlives this process when it returns, however that dies. What a power cut
 * may take is up to `onWrite`: a commit that waited for the disk would hold up every other chat, twenty times a turn.
 */
export class Documents {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  readonly #onWrite: () => void;

  /** `onWrite`: called after each change; the place to bring the log of the database onto the disk, soon and aside. */
  constructor(database: SqlDatabase, now: () => number, onWrite: () => void = () => undefined) {
    this.#database = database;
    this.#now = now;
    this.#onWrite = onWrite;
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;");
    database.exec("CREATE TABLE IF NOT EXISTS documents (kind TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID; CREATE INDEX IF NOT EXISTS documents_by_age ON documents (kind, at);");
  }

  /** A row that does not fit the schema (a later version wrote it) reads as absent; it is left as it is. */
  table<T>(kind: string, schema: z.ZodType<T>): Table<T> {
    const statements = {
      get: this.#database.prepare("SELECT value FROM documents WHERE kind = ? AND key = ?"),
      put: this.#database.prepare("INSERT INTO documents VALUES (?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET at = excluded.at, value = excluded.value"),
      claim: this.#database.prepare("INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?) RETURNING key"),
      delete: this.#database.prepare("DELETE FROM documents WHERE kind = ? AND key = ?"),
      all: this.#database.prepare("SELECT key, value FROM documents WHERE kind = ? ORDER BY at, key"),
      age: this.#database.prepare("DELETE FROM documents WHERE kind = ? AND at < ?"),
      excess: this.#database.prepare("DELETE FROM documents WHERE kind = ? AND key IN (SELECT key FROM documents WHERE kind = ? ORDER BY at DESC LIMIT -1 OFFSET ?)"),
    };
    const read = (text: string): T | null => schema.safeParse(JSON.parse(text)).data ?? null;
    return {
      get: (key) => {
        const row = statements.get.get(kind, key) as { value: string } | undefined;
        return row === undefined ? null : read(row.value);
      },
      put: (key, value) => {
        statements.put.run(kind, key, this.#now(), JSON.stringify(value));
        this.#onWrite();
      },
      claim: (key, value) => {
        const isNew = statements.claim.all(kind, key, this.#now(), JSON.stringify(value)).length > 0;
        this.#onWrite();
        return isNew;
      },
      delete: (key) => {
        statements.delete.run(kind, key);
        this.#onWrite();
      },
      all: () => (statements.all.all(kind) as { key: string; value: string }[]).flatMap(({ key, value }) => {
        const document = read(value);
        return document === null ? [] : [[key, document] as const];
      }),
      prune: (before, keep) => {
        statements.age.run(kind, before);
        statements.excess.run(kind, kind, keep);
      },
    };
  }
}
