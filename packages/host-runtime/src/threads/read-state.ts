import { ErrorCode, WireError } from "@foldcast/protocol-core/wire";

interface WireReadState {
  firstUnread: { type: "turn"; turnId: string } | null;
  revision: string;
}

/** What of a thread nobody has read yet, as Codex 0.171 keeps it for all clients together. */
export class ReadState {
  readonly #newId: () => string;
  #firstUnread: string | null = null;
  #lastTurn: string | null = null;
  #revision: string;

  constructor(threadId: string, newId: () => string) {
    this.#newId = newId;
    this.#revision = `initial:${threadId}`;
  }

  turnEnded(turnId: string): void {
    this.#firstUnread ??= turnId;
    this.#lastTurn = turnId;
    this.#revision = this.#newId();
  }

  /** Of the turns only these are left, oldest first. False when that changes nothing. */
  keep(turnIds: readonly string[]): boolean {
    const isThere = (id: string | null): boolean => id === null || turnIds.includes(id);
    if (isThere(this.#firstUnread) && isThere(this.#lastTurn)) return false;
    if (!isThere(this.#firstUnread)) this.#firstUnread = null;
    this.#lastTurn = turnIds.at(-1) ?? null;
    this.#revision = this.#newId();
    return true;
  }

  /** Refused when the client saw an older state, with the present one in the error, as the real server does. */
  set(operation: string, expectedRevision: string): WireReadState {
    if (expectedRevision !== this.#revision) {
      throw new WireError(ErrorCode.invalidRequest, "read state changed", { reason: "readStateConflict", readState: this.toWire() });
    }
    this.#firstUnread = operation === "unread" ? this.#lastTurn : null;
    this.#revision = this.#newId();
    return this.toWire();
  }

  toWire(): WireReadState {
    return { firstUnread: this.#firstUnread === null ? null : { type: "turn", turnId: this.#firstUnread }, revision: this.#revision };
  }
}
