import type { ApiName, PaceOptions, PaceTarget, Permit, Priority } from "./port.ts";

/** At most `count` calls in any `windowMs`. */
export interface Limit {
  readonly count: number;
  readonly windowMs: number;
}

export interface PaceLimits {
  /** Of one API of the app. */
  readonly apiSecond: Limit;
  readonly apiMinute: Limit;
  /** Messages to one chat (a group's is shared by all its bots), and patches of one message. */
  readonly chat: Limit;
  readonly message: Limit;
  /** Writes to one card, by whatever call. */
  readonly card: Limit;
}

/**
 * The platform's documented limits: 50 a second and 1,000 a minute per API, 5 a second per chat and per patched message,
 * 10 a second per card. The windows are a little wider, since calls spread evenly here may arrive closer together.
 */
export const platformLimits: PaceLimits = {
  apiSecond: { count: 50, windowMs: 1_200 },
  apiMinute: { count: 1_000, windowMs: 61_000 },
  chat: { count: 5, windowMs: 1_200 },
  message: { count: 5, windowMs: 1_200 },
  card: { count: 10, windowMs: 1_200 },
};

/** `live` text must not use up what a final answer will need. */
const liveShare = 0.75;
const order: readonly Priority[] = ["final", "normal", "live"];

interface Waiter {
  readonly windows: readonly Window[];
  readonly priority: Priority;
  readonly grant: () => void;
}

/** Raised when a wait for a place was ended by its signal or by closing. */
export class PaceAbortedError extends Error {
  override readonly name = "PaceAbortedError";
}

/** Lets calls go only as fast as the platform allows, the more important first. Cost per call is that of its few windows. */
export class Pacer {
  readonly #windows = new Map<string, Window>();
  readonly #queues = new Map<ApiName, Map<Priority, Set<Waiter>>>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #rejects = new Map<Waiter, (error: Error) => void>();
  readonly #limits: PaceLimits;
  readonly #now: () => number;

  constructor(limits: PaceLimits = platformLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  async pace(api: ApiName, target: PaceTarget, options: PaceOptions = {}): Promise<Permit> {
    const { priority = "normal", signal } = options;
    if (this.#closed || signal?.aborted === true) throw new PaceAbortedError("not sent: the wait was ended");
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        this.#forget(api, waiter);
        reject(new PaceAbortedError("not sent: the wait was ended"));
      };
      const waiter: Waiter = {
        windows: this.#windowsOf(api, target),
        priority,
        grant: () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#rejects.set(waiter, abort);
      this.#queue(api, priority).add(waiter);
      this.#pump();
    });
    return { api, grantedAtMs: this.#now() };
  }

  /** Feishu said "too fast": nothing of this API (or only to this target) before the time is over. */
  hold(api: ApiName, target: PaceTarget | null, forMs: number): void {
    const until = this.#now() + forMs;
    const held = target === null ? [] : this.#windowsOf(api, target).slice(2);
    // A limit per chat or message concerns that one only; without a target that can be named the whole API waits.
    for (const window of held.length > 0 ? held : [this.#window(`api:${api}:second`, this.#limits.apiSecond)]) window.holdUntil(until);
    this.#pump();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const reject of [...this.#rejects.values()]) reject(new PaceAbortedError("not sent: closed"));
  }

  #pump(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#closed) return;
    const now = this.#now();
    let next = Infinity;
    for (const [api, queues] of this.#queues) {
      for (const priority of order) {
        for (const waiter of queues.get(priority) ?? []) {
          const share = priority === "live" ? liveShare : 1;
          const free = Math.max(...waiter.windows.map((window) => window.freeAt(now, share)));
          if (free <= now) {
            for (const window of waiter.windows) window.take(now);
            this.#forget(api, waiter);
            waiter.grant();
          } else next = Math.min(next, free);
        }
      }
    }
    if (next !== Infinity) this.#timer = setTimeout(() => this.#pump(), Math.max(1, Math.ceil(next - now)));
    if (this.#windows.size > 2_000) this.#dropIdle(now);
  }

  #forget(api: ApiName, waiter: Waiter): void {
    this.#queues.get(api)?.get(waiter.priority)?.delete(waiter);
    this.#rejects.delete(waiter);
  }

  #queue(api: ApiName, priority: Priority): Set<Waiter> {
    const queues = this.#queues.get(api) ?? new Map<Priority, Set<Waiter>>();
    this.#queues.set(api, queues);
    const queue = queues.get(priority) ?? new Set<Waiter>();
    queues.set(priority, queue);
    return queue;
  }

  #windowsOf(api: ApiName, target: PaceTarget): Window[] {
    const { apiSecond, apiMinute, chat, message, card } = this.#limits;
    const windows = [this.#window(`api:${api}:minute`, apiMinute), this.#window(`api:${api}:second`, apiSecond)];
    if (target.chatId !== undefined) windows.push(this.#window(`chat:${target.chatId}`, chat));
    if (target.messageId !== undefined) windows.push(this.#window(`message:${target.messageId}`, message));
    if (target.cardId !== undefined) windows.push(this.#window(`card:${target.cardId}`, card));
    return windows;
  }

  #window(key: string, limit: Limit): Window {
    const window = this.#windows.get(key) ?? new Window(limit);
    this.#windows.set(key, window);
    return window;
  }

  #dropIdle(now: number): void {
    for (const [key, window] of this.#windows) if (window.idle(now)) this.#windows.delete(key);
  }
}

/** The times of the last `count` calls, in a ring. */
class Window {
  readonly #limit: Limit;
  readonly #times: number[] = [];
  #next = 0;
  #heldUntil = -Infinity;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** When the next call may go, if only `share` of the places may be used. */
  freeAt(now: number, share: number): number {
    const usable = Math.max(1, Math.floor(this.#limit.count * share));
    const back = this.#times.length < usable ? undefined : this.#times[(this.#next - usable + this.#times.length) % this.#times.length];
    return Math.max(this.#heldUntil, back === undefined ? now : back + this.#limit.windowMs);
  }

  take(now: number): void {
    if (this.#times.length < this.#limit.count) this.#times.push(now);
    else this.#times[this.#next] = now;
    this.#next = (this.#next + 1) % this.#limit.count;
  }

  holdUntil(until: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, until);
  }

  idle(now: number): boolean {
    const last = this.#times[(this.#next - 1 + this.#times.length) % this.#times.length];
    return this.#heldUntil <= now && (last === undefined || last + this.#limit.windowMs <= now);
  }
}
