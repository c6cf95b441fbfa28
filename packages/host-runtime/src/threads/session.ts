import type { HarnessAdapter, HarnessError, HarnessEvent, HarnessSession, OpenRequest } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";

/** After so many events in a row the event loop gets its turn: writes leave, other threads go on. */
const EVENTS_AT_ONCE = 256;

export interface SessionEvents {
  /** One event of the session, in order. */
  event(event: HarnessEvent): void;
  /** The session is over: no more events. `error` says why, null after a `close` of ours. */
  ended(error: HarnessError | null): void;
}

/** A thread's harness session: opened when it is first needed, read by one consumer, replaced once it has ended. */
export class SessionHolder {
  readonly #log: Logger;
  readonly #events: SessionEvents;
  #opening: Promise<HarnessSession> | null = null;
  #session: HarnessSession | null = null;
  #closing = false;

  constructor(events: SessionEvents, log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  /** The open session, or null. */
  get current(): HarnessSession | null {
    return this.#session;
  }

  /** The session, opened if there is none. Rejects with the adapter's readable message. */
  open(adapter: HarnessAdapter, request: () => OpenRequest): Promise<HarnessSession> {
    if (this.#session !== null) return Promise.resolve(this.#session);
    return (this.#opening ??= this.#start(adapter, request));
  }

  async #start(adapter: HarnessAdapter, request: () => OpenRequest): Promise<HarnessSession> {
    try {
      // Never ends before its caller has kept the promise, or a failure would be kept for ever.
      const session = await Promise.resolve().then(() => adapter.open(request()));
      if (this.#closing) {
        await this.#quietly(session);
        throw new Error("the thread was closed");
      }
      this.#session = session;
      void this.#read(session);
      return session;
    } finally {
      // In one step with the session's arrival: whoever asks in between must not open a second one.
      this.#opening = null;
    }
  }

  /** Goes on with a session that was opened elsewhere; the one that is open ends. */
  adopt(session: HarnessSession): void {
    const old = this.#session;
    this.#session = session;
    void this.#read(session);
    void this.#quietly(old);
  }

  /** Resolves when no session is being opened any more. Never rejects. */
  async settled(): Promise<void> {
    await this.#opening?.catch(() => undefined);
  }

  /** Ends the session for good; a turn that runs in it ends as cancelled. Never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    const session = this.#session ?? (await this.#opening?.catch(() => null)) ?? null;
    await this.#quietly(session);
  }

  /** Drops a session that does not do what it is told; the next use opens a new one. */
  async discard(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await this.#quietly(session);
  }

  async #quietly(session: HarnessSession | null): Promise<void> {
    try {
      await session?.close();
    } catch (error) {
      this.#log.error("closing a session failed", { error });
    }
  }

  async #read(session: HarnessSession): Promise<void> {
    let error: HarnessError | null = null;
    try {
      let left = EVENTS_AT_ONCE;
      for await (const event of session.events) {
        if (this.#session !== session) break;
        this.#events.event(event);
        if (event.type === "fault") error = event.error;
        left -= 1;
        if (left > 0) continue;
        left = EVENTS_AT_ONCE;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (thrown) {
      this.#log.error("a session's events threw", { error: thrown });
      error = { message: thrown instanceof Error ? thrown.message : String(thrown) };
    }
    if (this.#session !== session) return;
    this.#session = null;
    this.#events.ended(error ?? (this.#closing ? null : { message: "the harness ended unexpectedly" }));
    if (!this.#closing) await this.#quietly(session);
  }
}
