import type { VirtualClock } from "../clock.ts";
import { Refused } from "../refusal.ts";
import type { RuleBook } from "../rule-book.ts";

interface Window {
  readonly count: number;
  readonly windowMs: number;
}

/** Feishu's documented frequencies. */
const perSecond: Window = { count: 50, windowMs: 1_000 };
const perMinute: Window = { count: 1_000, windowMs: 60_000 };
const perTarget: Window = { count: 5, windowMs: 1_000 };
const perCard: Window = { count: 10, windowMs: 1_000 };

const onTheWayMs = 250;

/** Counts calls in sliding windows and refuses those that come too fast; also those that come before an ordered pause is over. */
export class RateRules {
  readonly #clock: VirtualClock;
  readonly #rules: RuleBook;
  readonly #times = new Map<string, number[]>();
  readonly #pauses = new Map<string, { readonly from: number; readonly until: number }>();
  enabled = true;

  constructor(clock: VirtualClock, rules: RuleBook) {
    this.#clock = clock;
    this.#rules = rules;
  }

  /** A 429 that was ordered by a test: calls of this API before its end are a fault of the client. */
  pause(api: string, forMs: number): void {
    const now = this.#clock.now();
    this.#pauses.set(api, { from: now, until: now + forMs });
  }

  call(appId: string, api: string): void {
    if (!this.enabled) return;
    const now = this.#clock.now();
    const pause = this.#pauses.get(api);
    if (pause !== undefined && pause.until > now) {
      // What was on its way when the 429 went out is no fault of the client.
      if (now - pause.from < onTheWayMs) throw rateLimited(Math.ceil((pause.until - now) / 1_000));
      throw this.#tooFast("rate.ignoredReset", api, pause.until - now);
    }
    const wait = Math.max(this.#take(`${appId}/${api}/second`, perSecond, now), this.#take(`${appId}/${api}/minute`, perMinute, now));
    if (wait > 0) throw this.#tooFast("rate.api", api, wait);
  }

  /** Sends to a chat, by all bots together, and patches of one message. */
  target(kind: "chat" | "message", id: string, api: string): void {
    if (!this.enabled || this.#take(`${kind}/${id}`, perTarget, this.#clock.now()) === 0) return;
    this.#rules.note(kind === "chat" ? "rate.chat" : "rate.message", api, id);
    throw new Refused(230020, "this operation triggers the frequency limit", 400);
  }

  card(cardId: string, api: string): void {
    if (!this.enabled) return;
    const wait = this.#take(`card/${cardId}`, perCard, this.#clock.now());
    if (wait > 0) throw this.#tooFast("rate.card", api, wait);
  }

  /** Notes the call and returns 0, or the time until one would be free. */
  #take(key: string, window: Window, now: number): number {
    const times = (this.#times.get(key) ?? []).filter((time) => now - time < window.windowMs);
    this.#times.set(key, times);
    if (times.length >= window.count) return times[0]! + window.windowMs - now;
    times.push(now);
    return 0;
  }

  #tooFast(rule: "rate.api" | "rate.card" | "rate.ignoredReset", api: string, waitMs: number): Refused {
    this.#rules.note(rule, api, `${Math.ceil(waitMs)} ms too early`);
    return rateLimited(Math.ceil(waitMs / 1_000));
  }
}

/** The gateway's answer to calls that come too fast. */
export function rateLimited(resetSeconds: number): Refused {
  return new Refused(99991400, "request trigger frequency limit", 429, { "x-ogw-ratelimit-limit": "50", "x-ogw-ratelimit-reset": String(resetSeconds) });
}
