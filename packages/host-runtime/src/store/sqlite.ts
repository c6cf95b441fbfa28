import type { SqlDatabase, SqlStatement } from "./sqlite-driver.ts";
import { migrate } from "./migrations.ts";
import { parseQueuedInput, parseSection, parseThreadRecord, parseTurnFact } from "./records.ts";
import type { NativeSession, QueuedInput, Section, ThreadRecord, ThreadStore, TurnFact } from "./store.ts";

/**
 * Threads in one SQLite file. WAL with `synchronous = NORMAL`: what was saved survives the death of this process at any
 * moment; the death of the machine may cost the last moments, never the file.
 */
export class SqliteThreadStore implements ThreadStore {
  readonly #database: SqlDatabase;
  readonly #statements = new Map<string, SqlStatement>();
  /** All rows, once somebody has asked for all: nobody else writes, and reading thousands for each list costs too much. */
  #threads: Map<string, ThreadRecord> | null = null;
  #depth = 0;

  constructor(database: SqlDatabase) {
    this.#database = database;
    // Rows are few hundred bytes and read by their key: the 16 MiB of pages that better-sqlite3 would keep serve nobody.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000; PRAGMA cache_size = -2048");
    migrate(database);
  }

  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#database.exec("BEGIN IMMEDIATE");
    this.#depth += 1;
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  thread(id: string): ThreadRecord | null {
    return recordOf(this.#sql("SELECT record FROM threads WHERE id = ?").get(id));
  }

  threadByNative(harness: string, nativeSessionId: string): ThreadRecord | null {
    return recordOf(this.#sql("SELECT record FROM threads WHERE harness = ? AND native_id = ?").get(harness, nativeSessionId));
  }

  threads(): Iterable<ThreadRecord> {
    this.#threads ??= new Map(this.#sql("SELECT record FROM threads").all().map(recordOf).filter((record) => record !== null).map((record) => [record.id, record]));
    return this.#threads.values();
  }

  saveThread(record: ThreadRecord): void {
    this.#sql("INSERT INTO threads (id, harness, native_id, record) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET harness = excluded.harness, native_id = excluded.native_id, record = excluded.record")
      .run(record.id, record.harness, record.nativeSessionId, JSON.stringify(record));
    this.#threads?.set(record.id, { ...record });
  }

  deleteThread(id: string): void {
    this.transaction(() => {
      this.#sql("DELETE FROM turns WHERE thread_id = ?").run(id);
      this.#sql("DELETE FROM queued_inputs WHERE thread_id = ?").run(id);
      this.#sql("DELETE FROM threads WHERE id = ?").run(id);
    });
    this.#threads?.delete(id);
  }

  hiddenSessions(): Iterable<NativeSession> {
    return this.#sql("SELECT harness, native_id AS nativeSessionId FROM hidden_sessions").all() as NativeSession[];
  }

  hideSession({ harness, nativeSessionId }: NativeSession): void {
    this.#sql("INSERT OR IGNORE INTO hidden_sessions (harness, native_id) VALUES (?, ?)").run(harness, nativeSessionId);
  }

  turns(threadId: string): readonly TurnFact[] {
    return this.#sql("SELECT fact FROM turns WHERE thread_id = ? ORDER BY seq").all(threadId).map(factOf).filter((fact) => fact !== null);
  }

  turnByKey(threadId: string, turnKey: string): TurnFact | null {
    // A harness that was killed before it wrote a turn down gives its key again: it means the later turn.
    return factOf(this.#sql("SELECT fact FROM turns WHERE thread_id = ? AND turn_key = ? ORDER BY seq DESC LIMIT 1").get(threadId, turnKey));
  }

  saveTurn(threadId: string, fact: TurnFact): void {
    this.#sql(
      `INSERT INTO turns (thread_id, turn_id, turn_key, fact, seq)
       VALUES (?, ?, ?, ?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM turns WHERE thread_id = ?))
       ON CONFLICT (thread_id, turn_id) DO UPDATE SET turn_key = excluded.turn_key, fact = excluded.fact`,
    ).run(threadId, fact.turnId, fact.turnKey, JSON.stringify(fact), threadId);
  }

  deleteTurn(threadId: string, turnId: string): void {
    this.#sql("DELETE FROM turns WHERE thread_id = ? AND turn_id = ?").run(threadId, turnId);
  }

  queue(threadId: string): readonly QueuedInput[] {
    return this.#sql("SELECT queued FROM queued_inputs WHERE thread_id = ? ORDER BY seq").all(threadId)
      .map((row) => parseQueuedInput((row as { queued: string }).queued)).filter((queued) => queued !== null);
  }

  saveQueued(threadId: string, queued: QueuedInput): void {
    this.#sql(
      `INSERT INTO queued_inputs (thread_id, id, queued, seq)
       VALUES (?, ?, ?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM queued_inputs WHERE thread_id = ?))
       ON CONFLICT (thread_id, id) DO UPDATE SET queued = excluded.queued`,
    ).run(threadId, queued.id, JSON.stringify(queued), threadId);
  }

  deleteQueued(threadId: string, id: string): void {
    this.#sql("DELETE FROM queued_inputs WHERE thread_id = ? AND id = ?").run(threadId, id);
  }

  sections(): readonly Section[] {
    return this.#sql("SELECT section FROM sections ORDER BY seq").all().map((row) => parseSection((row as { section: string }).section)).filter((section) => section !== null);
  }

  saveSection(section: Section): void {
    this.#sql("INSERT INTO sections (id, section) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET section = excluded.section").run(section.id, JSON.stringify(section));
  }

  deleteSection(id: string): void {
    this.#sql("DELETE FROM sections WHERE id = ?").run(id);
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  /** A full disk can end the transaction by itself; then there is nothing to roll back. */
  #rollBack(): void {
    this.#threads = null;
    try {
      this.#database.exec("ROLLBACK");
    } catch {
      // The error that brought us here is the one to tell.
    }
  }

  #sql(text: string): SqlStatement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      const prepared = this.#database.prepare(text);
      statement = { get: (...values) => prepared.get(...values), all: (...values) => prepared.all(...values), run: (...values) => this.#run(prepared, values) };
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #run(statement: SqlStatement, values: Parameters<SqlStatement["run"]>): unknown {
    try {
      return statement.run(...values);
    } catch (error) {
      if (this.#depth > 0 || !(error instanceof Error && /full|I\/O/i.test(error.message))) throw error;
      // It may be the log of changes alone that has no room; taken over into the file it starts anew.
      this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return statement.run(...values);
    }
  }
}

function recordOf(row: unknown): ThreadRecord | null {
  return row === undefined ? null : parseThreadRecord((row as { record: string }).record);
}

function factOf(row: unknown): TurnFact | null {
  return row === undefined ? null : parseTurnFact((row as { fact: string }).fact);
}
