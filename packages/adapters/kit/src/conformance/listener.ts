import type { HarnessEvent, HarnessSession } from "@foldcast/protocol-core/harness";

const WAIT_MS = 30_000;

/** Reads a session's events in the background and lets a test wait for what it needs. */
export class SessionListener {
  readonly events: HarnessEvent[] = [];
  /** What the stream threw; it never should. */
  thrown: unknown = undefined;
  /** True once the stream has ended. */
  ended = false;
  readonly #session: HarnessSession;
  #wake: () => void = () => undefined;

  constructor(session: HarnessSession) {
    this.#session = session;
    void this.#read();
  }

  async #read(): Promise<void> {
    try {
      for await (const event of this.#session.events) {
        this.events.push(event);
        this.#wake();
      }
    } catch (error) {
      this.thrown = error;
    }
    this.ended = true;
    this.#wake();
  }

  /** The first event from index `from` on that fits. Throws when none came in time or the stream ended. */
  async until(what: string, fits: (event: HarnessEvent) => boolean, from = 0): Promise<HarnessEvent> {
    let next = from;
    return await this.#wait(what, () => {
      while (next < this.events.length) {
        const event = this.events[next++]!;
        if (fits(event)) return event;
      }
      if (this.ended) throw new Error(`The stream ended before ${what}; events: ${this.#types()}`);
      return undefined;
    });
  }

  /** Waits for the end of the stream. */
  async untilEnded(): Promise<void> {
    await this.#wait("the end of the stream", () => this.ended || undefined);
  }

  /** Events of turn `n` (from 0) up to now; what belongs to the session between turns goes with the turn before it. */
  turn(n: number): HarnessEvent[] {
    const starts = this.events.flatMap((event, index) => event.type === "turn.started" ? [index] : []);
    return starts[n] === undefined ? [] : this.events.slice(starts[n], starts[n + 1]);
  }

  /** Waits for the end of turn `n` (from 0) and returns its events. */
  async turnEnd(n: number): Promise<HarnessEvent[]> {
    await this.#wait(`the end of turn ${n}`, () => {
      if (this.turn(n).some((event) => event.type === "turn.completed" || event.type === "fault")) return true;
      if (this.ended) throw new Error(`The stream ended before the end of turn ${n}; events: ${this.#types()}`);
      return undefined;
    });
    return this.turn(n);
  }

  #types(): string {
    return this.events.map((event) => event.type).join(" ");
  }

  async #wait<T>(what: string, look: () => T | undefined): Promise<T> {
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`No sign of ${what} within ${WAIT_MS} ms; events: ${this.#types()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
