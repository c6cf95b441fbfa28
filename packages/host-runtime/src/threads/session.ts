import type { HarnessAdapter, HarnessError, HarnessEvent, HarnessSession, SessionOptions } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";
import type { Schedule } from "../schedule.ts";
import { changedOptions, openRequest } from "./session-options.ts";

/** After so many events in a row the event loop gets its turn: writes leave, other threads go on. */
const EVENTS_AT_ONCE = 256;
/** How long the next session waits for the last one's end; a harness may refuse two at a time. */
const LAST_END_PATIENCE_MS = 10_000;

export interface SessionHolderOptions {
  /** One event of the session, in order. */
  event(event: HarnessEvent): void;
  /** The session is over: no more events. `error` says why, null after a `close` of ours. */
  ended(error: HarnessError | null): void;
  /** An unused session was let go, and is gone. */
  released(): void;
  /** May an unused session be let go now? Asked only when nothing came from it for `idleMs`. */
  mayRelease(): boolean;
  /** Milliseconds without use after which a session is let go; null = never. */
  idleMs: number | null;
  now: () => number;
  schedule: Schedule;
  log: Logger;
}

/** Which session: the saved one where there is one. */
export interface Wanted {
  nativeSessionId: string | null;
  options: SessionOptions;
}

/**
 * A thread's harness session: opened when it is first needed, read by one consumer, let go when it is not used for a
 * while, replaced once it has ended.
 */
export class SessionHolder {
  readonly #options: SessionHolderOptions;
  #opening: Promise<HarnessSession> | null = null;
  #session: HarnessSession | null = null;
  /** What the session runs with, as far as it was told. */
  #selected: SessionOptions | null = null;
  /** Resolves when the sessions before are gone. */
  #lastEnd: Promise<void> = Promise.resolve();
  #closing = false;
  #usedAt = 0;
  #callOffRelease: () => void = () => undefined;

  constructor(options: SessionHolderOptions) {
    this.#options = options;
  }

  /** The open session, or null. */
  get current(): HarnessSession | null {
    return this.#session;
  }

  /** The session, opened if there is none. Rejects with the adapter's readable message. */
  open(adapter: HarnessAdapter, wanted: () => Wanted): Promise<HarnessSession> {
    if (this.#session !== null) return Promise.resolve(this.#session);
    return (this.#opening ??= this.#start(adapter, wanted));
  }

  async #start(adapter: HarnessAdapter, wanted: () => Wanted): Promise<HarnessSession> {
    try {
      await this.#lastEnd;
      const { nativeSessionId, options } = wanted();
      this.#selected = options;
      const session = await adapter.open(openRequest(adapter, nativeSessionId, options));
      if (this.#closing) {
        await this.#quietly(session);
        throw new Error("the thread was closed");
      }
      this.#take(session);
      return session;
    } finally {
      // In one step with the session's arrival: whoever asks in between must not open a second one.
      this.#opening = null;
    }
  }

  /** Tells the open session what is different from what it runs with. Rejects when the harness refuses it. */
  async select(adapter: HarnessAdapter, options: SessionOptions): Promise<void> {
    const change = changedOptions(adapter, this.#selected, options);
    if (change === null) return;
    await this.#session?.select(change);
    this.#selected = options;
  }

  /** Goes on with a session that was opened elsewhere, with these options; the one that is open ends. */
  adopt(session: HarnessSession, options: SessionOptions): void {
    void this.discard();
    this.#selected = options;
    this.#take(session);
  }

  /** Resolves when no session is being opened any more. Never rejects. */
  async settled(): Promise<void> {
    await this.#opening?.catch(() => undefined);
  }

  /** Ends the session for good; a turn that runs in it ends as cancelled. Never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#callOffRelease();
    const session = this.#session ?? (await this.#opening?.catch(() => null)) ?? null;
    await Promise.all([this.#quietly(session), this.#lastEnd]);
  }

  /** Drops a session that is not used, or does not do what it is told; the next use opens a new one. */
  discard(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#callOffRelease();
    if (session === null) return Promise.resolve();
    const ended = this.#quietly(session);
    const patience = new Promise<void>((resolve) => this.#options.schedule(LAST_END_PATIENCE_MS, resolve));
    this.#lastEnd = Promise.race([Promise.all([this.#lastEnd, ended]).then(() => undefined), patience]);
    return ended;
  }

  #take(session: HarnessSession): void {
    this.#session = session;
    this.#usedAt = this.#options.now();
    this.#scheduleRelease(this.#options.idleMs ?? 0);
    void this.#read(session);
  }

  /** One timer, however many events: it looks at the time of the last one when it fires. */
  #scheduleRelease(ms: number): void {
    const { idleMs, schedule } = this.#options;
    this.#callOffRelease();
    if (idleMs !== null) this.#callOffRelease = schedule(ms, () => this.#releaseIfIdle(idleMs));
  }

  #releaseIfIdle(idleMs: number): void {
    const left = this.#usedAt + idleMs - this.#options.now();
    if (left > 0) this.#scheduleRelease(left);
    else if (this.#options.mayRelease()) void this.discard().then(() => this.#options.released());
    else this.#scheduleRelease(idleMs);
  }

  async #quietly(session: HarnessSession | null): Promise<void> {
    try {
      await session?.close();
    } catch (error) {
      this.#options.log.error("closing a session failed", { error });
    }
  }

  async #read(session: HarnessSession): Promise<void> {
    const options = this.#options;
    let error: HarnessError | null = null;
    try {
      let left = EVENTS_AT_ONCE;
      for await (const event of session.events) {
        if (this.#session !== session) break;
        this.#usedAt = options.now();
        options.event(event);
        if (event.type === "fault") error = event.error;
        left -= 1;
        if (left > 0) continue;
        left = EVENTS_AT_ONCE;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (thrown) {
      options.log.error("a session's events threw", { error: thrown });
      error = { message: thrown instanceof Error ? thrown.message : String(thrown) };
    }
    if (this.#session !== session) return;
    // Before anybody is told: who starts the next turn from there must wait for this one's end.
    const gone = this.discard();
    options.ended(error ?? (this.#closing ? null : { message: "the harness ended unexpectedly" }));
    await gone;
  }
}
