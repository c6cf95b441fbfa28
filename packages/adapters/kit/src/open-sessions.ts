import type { HarnessSession } from "@foldcast/protocol-core/harness";

/** The sessions of an adapter that run, each once: two programs on one session would write over each other's turns. */
export class OpenSessions<Session extends HarnessSession & { readonly isOver: boolean }> {
  readonly #name: string;
  readonly #sessions = new Map<string, Session>();
  readonly #opening = new Set<string>();
  #closed = false;

  /** `name` as in "Kimi Code". */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Starts a session; `id` null = it gets its id while it starts. `start` is given what is to be called when the session
   * is over. Rejects with a readable message for one that is open, and after `close`.
   */
  async open(id: string | null, start: (onEnd: () => void) => Promise<Session>): Promise<Session> {
    this.demandOpen();
    if (id !== null && (this.#sessions.has(id) || this.#opening.has(id))) throw new Error(`The session ${id} is open already.`);
    if (id !== null) this.#opening.add(id);
    try {
      const session: Session = await start(() => {
        for (const [key, each] of this.#sessions) if (each.isOver) this.#sessions.delete(key);
      });
      if (this.#closed) {
        await session.close();
        this.demandOpen();
      }
      if (!session.isOver) this.#sessions.set(session.nativeSessionId, session);
      return session;
    } finally {
      if (id !== null) this.#opening.delete(id);
    }
  }

  /** Throws when the adapter was closed. */
  demandOpen(): void {
    if (this.#closed) throw new Error(`${this.#name} is closed.`);
  }

  /** Closes all of them; none can be opened afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }
}
