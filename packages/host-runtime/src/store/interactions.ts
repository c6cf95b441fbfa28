import type { SqlDatabase } from "./sqlite-driver.ts";

/** How an interaction ended. */
export type Settlement = "answered" | "skipped" | "unreadable" | "expired" | "interrupted" | "closedByHarness";

/** What is kept of an interaction: never what was asked or answered. Times in Unix milliseconds. */
export interface InteractionRow {
  id: string;
  threadId: string;
  turnId: string;
  kind: "approval" | "question";
  status: "pending" | Settlement;
  createdAt: number;
  expiresAt: number;
  settledAt: number | null;
}

/** Keeps the newest interactions, so that an answer to an old one can be told what became of it. */
export interface InteractionStore {
  add(row: Omit<InteractionRow, "status" | "settledAt">): void;
  /** Only what is pending is settled, in one step: of two that try, the second gets false. */
  settle(id: string, status: Settlement, at: number): boolean;
  find(id: string): InteractionRow | null;
  /** For the start: no harness of an earlier process waits any more. Gives how many were pending. */
  expirePending(at: number): number;
}

export const MAX_KEPT_INTERACTIONS = 1_000;

export class MemoryInteractionStore implements InteractionStore {
  readonly #rows = new Map<string, InteractionRow>();

  add(row: Omit<InteractionRow, "status" | "settledAt">): void {
    this.#rows.set(row.id, { ...row, status: "pending", settledAt: null });
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > MAX_KEPT_INTERACTIONS && oldest !== undefined) this.#rows.delete(oldest);
  }

  settle(id: string, status: Settlement, at: number): boolean {
    const row = this.#rows.get(id);
    if (row?.status !== "pending") return false;
    this.#rows.set(id, { ...row, status, settledAt: at });
    return true;
  }

  find(id: string): InteractionRow | null {
    return this.#rows.get(id) ?? null;
  }

  expirePending(at: number): number {
    return [...this.#rows.keys()].filter((id) => this.settle(id, "expired", at)).length;
  }
}

/** In the database of the threads, whose migrations make the table. */
export class SqliteInteractionStore implements InteractionStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  add({ id, threadId, turnId, kind, createdAt, expiresAt }: Omit<InteractionRow, "status" | "settledAt">): void {
    this.#database.prepare("INSERT INTO interactions (id, thread_id, turn_id, kind, status, created_at, expires_at) VALUES (?, ?, ?, ?, 'pending', ?, ?)")
      .run(id, threadId, turnId, kind, createdAt, expiresAt);
    this.#database.prepare("DELETE FROM interactions WHERE seq <= (SELECT MAX(seq) FROM interactions) - ?").run(MAX_KEPT_INTERACTIONS);
  }

  settle(id: string, status: Settlement, at: number): boolean {
    // One statement is one transaction: the row that it gives back is the one that it changed.
    return this.#database.prepare("UPDATE interactions SET status = ?, settled_at = ? WHERE id = ? AND status = 'pending' RETURNING id").all(status, at, id).length === 1;
  }

  find(id: string): InteractionRow | null {
    const row = this.#database
      .prepare("SELECT id, thread_id AS threadId, turn_id AS turnId, kind, status, created_at AS createdAt, expires_at AS expiresAt, settled_at AS settledAt FROM interactions WHERE id = ?")
      .get(id);
    return row === undefined ? null : { ...(row as InteractionRow) };
  }

  expirePending(at: number): number {
    return this.#database.prepare("UPDATE interactions SET status = 'expired', settled_at = ? WHERE status = 'pending' RETURNING id").all(at).length;
  }
}
