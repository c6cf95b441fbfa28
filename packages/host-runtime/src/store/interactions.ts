import type { InteractionKind } from "@foldcast/protocol-core/interaction";
import type { SqlDatabase } from "./sqlite-driver.ts";

/** How an interaction ended. */
export type Settlement = "answered" | "skipped" | "unreadable" | "expired" | "interrupted" | "closedByHarness" | "superseded" | "restarted";

/** By what a harness that outlives this process is known to ask the same again: never in words, `digest` is a hash. */
export interface NativeRequest {
  threadId: string;
  turnKey: string;
  requestId: string;
  digest: string;
}

/** What is kept of an interaction: never what was asked or answered. Times in Unix milliseconds. */
export interface InteractionRow {
  id: string;
  threadId: string;
  turnId: string;
  kind: InteractionKind;
  native: NativeRequest | null;
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
  find(id: string): KeptInteraction | null;
  /** For the start: no harness of an earlier process waits any more, as far as is known. Gives how many were pending. */
  expirePending(at: number): number;
  /** A harness asks again what it asked the earlier process: the id under which that one waits again, or null. */
  revive(native: NativeRequest, turnId: string, expiresAt: number): string | null;
}

type NewRow = Omit<InteractionRow, "status" | "settledAt">;
export type KeptInteraction = Omit<InteractionRow, "native">;

export const MAX_KEPT_INTERACTIONS = 1_000;

export class MemoryInteractionStore implements InteractionStore {
  readonly #rows = new Map<string, InteractionRow>();

  add(row: NewRow): void {
    this.#rows.set(row.id, { ...row, status: "pending", settledAt: null });
    if (this.#rows.size <= MAX_KEPT_INTERACTIONS) return;
    const oldest = [...this.#rows.values()].find(({ status }) => status !== "pending");
    if (oldest !== undefined) this.#rows.delete(oldest.id);
  }

  settle(id: string, status: Settlement, at: number): boolean {
    const row = this.#rows.get(id);
    if (row?.status !== "pending") return false;
    this.#rows.set(id, { ...row, status, settledAt: at });
    return true;
  }

  find(id: string): KeptInteraction | null {
    return this.#rows.get(id) ?? null;
  }

  expirePending(at: number): number {
    return [...this.#rows.keys()].filter((id) => this.settle(id, "restarted", at)).length;
  }

  revive(native: NativeRequest, turnId: string, expiresAt: number): string | null {
    const row = [...this.#rows.values()].find((each) => each.status === "restarted" && each.native !== null && sameNative(each.native, native));
    if (row === undefined) return null;
    this.#rows.set(row.id, { ...row, turnId, expiresAt, status: "pending", settledAt: null });
    return row.id;
  }
}

function sameNative(a: NativeRequest, b: NativeRequest): boolean {
  return a.threadId === b.threadId && a.turnKey === b.turnKey && a.requestId === b.requestId && a.digest === b.digest;
}

/** In the database of the threads, whose migrations make the table. */
export class SqliteInteractionStore implements InteractionStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  add({ id, threadId, turnId, kind, native, createdAt, expiresAt }: NewRow): void {
    this.#database
      .prepare("INSERT INTO interactions (id, thread_id, turn_id, kind, status, created_at, expires_at, turn_key, request_id, digest) VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?)")
      .run(id, threadId, turnId, kind, createdAt, expiresAt, native?.turnKey ?? null, native?.requestId ?? null, native?.digest ?? null);
    this.#database.prepare("DELETE FROM interactions WHERE seq <= (SELECT MAX(seq) FROM interactions) - ? AND status <> 'pending'").run(MAX_KEPT_INTERACTIONS);
  }

  settle(id: string, status: Settlement, at: number): boolean {
    // One statement is one transaction: the row that it gives back is the one that it changed.
    return this.#database.prepare("UPDATE interactions SET status = ?, settled_at = ? WHERE id = ? AND status = 'pending' RETURNING id").all(status, at, id).length === 1;
  }

  find(id: string): KeptInteraction | null {
    const row = this.#database
      .prepare("SELECT id, thread_id AS threadId, turn_id AS turnId, kind, status, created_at AS createdAt, expires_at AS expiresAt, settled_at AS settledAt FROM interactions WHERE id = ?")
      .get(id);
    return row === undefined ? null : { ...(row as KeptInteraction) };
  }

  expirePending(at: number): number {
    return this.#database.prepare("UPDATE interactions SET status = 'restarted', settled_at = ? WHERE status = 'pending' RETURNING id").all(at).length;
  }

  revive({ threadId, turnKey, requestId, digest }: NativeRequest, turnId: string, expiresAt: number): string | null {
    const [row] = this.#database
      .prepare("UPDATE interactions SET status = 'pending', settled_at = NULL, turn_id = ?, expires_at = ? WHERE thread_id = ? AND turn_key = ? AND request_id = ? AND digest = ? AND status = 'restarted' RETURNING id")
      .all(turnId, expiresAt, threadId, turnKey, requestId, digest) as { id: string }[];
    return row?.id ?? null;
  }
}
