import type { VirtualClock } from "./clock.ts";
import type { PushFaults } from "./socket/event-queue.ts";

/** What can be made to go wrong. Times in milliseconds, of real time where a client waits for them. */
export type Fault =
  /** HTTP 429 with `x-ogw-ratelimit-reset`; calls of this API before its end break a rule. */
  | { readonly kind: "rateLimit"; readonly resetSeconds: number }
  /** HTTP 5xx, with or without the request having been done. */
  | { readonly kind: "serverError"; readonly status: 500 | 502 | 503 | 504; readonly effect: boolean }
  /** The request is done, the connection is cut before its answer. */
  | { readonly kind: "lostAnswer" }
  /** The connection is cut, the request is not done. */
  | { readonly kind: "cut" }
  /** The request is done after, or answered after, this time. */
  | { readonly kind: "slow"; readonly delayMs: number; readonly when: "before" | "after" }
  /** Feishu's no with this code, though nothing is wrong. */
  | { readonly kind: "refuse"; readonly code: number; readonly msg: string; readonly status?: number }
  /** All long connections are cut, or go on without a word, after the call. */
  | { readonly kind: "closeSocket" }
  | { readonly kind: "silentSocket" }
  /** The fake's time jumps ahead after the call: uuids, tokens, streaming and entities grow old. */
  | { readonly kind: "clockJump"; readonly ms: number }
  /** On an event: pushed twice, pushed late, or first pushed at its first repetition. */
  | { readonly kind: "duplicateEvent"; readonly afterMs: number }
  | { readonly kind: "lateEvent"; readonly delayMs: number }
  | { readonly kind: "lostEvent" };

export type FaultKind = Fault["kind"];

/** `on`: the n-th call (from 1) of an API, of any API with `*`, or the n-th event of a type or `*`, counted from when the fault was planned. */
export interface PlannedFault {
  readonly id: string;
  readonly on: { readonly api: string; readonly nth: number } | { readonly event: string; readonly nth: number };
  readonly fault: Fault;
}

export interface FiredFault {
  readonly id: string;
  readonly kind: FaultKind;
  readonly on: string;
  readonly atMs: number;
}

/** The faults that are planned, each fires once; what fired is counted, what did not is told. */
export class FaultPlan {
  readonly #clock: VirtualClock;
  #planned: { readonly plan: PlannedFault; seen: number }[] = [];
  readonly #fired: FiredFault[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  add(faults: readonly PlannedFault[]): void {
    this.#planned.push(...faults.map((plan) => ({ plan, seen: 0 })));
  }

  clear(): void {
    this.#planned = [];
  }

  get pending(): readonly PlannedFault[] {
    return this.#planned.map(({ plan }) => plan);
  }

  get fired(): readonly FiredFault[] {
    return this.#fired;
  }

  onCall(api: string): readonly Fault[] {
    return this.#match(api, (on) => ("api" in on ? on.api : null));
  }

  onEvent(eventType: string): PushFaults {
    const faults = this.#match(eventType, (on) => ("event" in on ? on.event : null));
    const late = faults.find((fault) => fault.kind === "lateEvent")?.delayMs ?? faults.find((fault) => fault.kind === "duplicateEvent")?.afterMs ?? 0;
    return { duplicate: faults.some((fault) => fault.kind === "duplicateEvent"), lost: faults.some((fault) => fault.kind === "lostEvent"), lateMs: late };
  }

  #match(name: string, keyOf: (on: PlannedFault["on"]) => string | null): Fault[] {
    const firing = this.#planned.filter((entry) => {
      const key = keyOf(entry.plan.on);
      if (key !== name && key !== "*") return false;
      entry.seen += 1;
      return entry.seen >= entry.plan.on.nth;
    });
    // One request can be done only one thing to; the others wait for the next.
    const chosen: typeof firing = [];
    for (const entry of firing) if (isSideEffect(entry.plan.fault) || !chosen.some((other) => !isSideEffect(other.plan.fault))) chosen.push(entry);
    this.#planned = this.#planned.filter((entry) => !chosen.includes(entry));
    for (const { plan } of chosen) this.#fired.push({ id: plan.id, kind: plan.fault.kind, on: name, atMs: this.#clock.now() });
    return chosen.map(({ plan }) => plan.fault);
  }
}

function isSideEffect(fault: Fault): boolean {
  return fault.kind === "closeSocket" || fault.kind === "silentSocket" || fault.kind === "clockJump";
}

/** A small deterministic generator (mulberry32): numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface PlanOptions {
  /** How many faults at most; two that fall on the same call become one. */
  readonly count: number;
  /** The APIs that the run is sure to call, with how often at least: a fault planned beyond that would never fire. */
  readonly calls: Readonly<Record<string, number>>;
  /** Events that are sure to come, with how many. */
  readonly events?: Readonly<Record<string, number>>;
  readonly kinds?: readonly FaultKind[];
  /** The longest a slow answer takes. */
  readonly maxDelayMs?: number;
}

const allKinds: readonly FaultKind[] = [
  "rateLimit", "serverError", "lostAnswer", "cut", "slow", "refuse", "closeSocket", "silentSocket", "clockJump", "duplicateEvent", "lateEvent", "lostEvent",
];

/** The same faults for the same seed, each placed where it will fire. */
export function planFaults(seed: number, options: PlanOptions): PlannedFault[] {
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const apis = Object.entries(options.calls);
  const events = Object.entries(options.events ?? {});
  const plans: PlannedFault[] = [];
  // One call has one fault done to it: a second one at the same place might wait for a call that never comes.
  const taken = new Set<string>();
  for (let index = 0; index < options.count; index += 1) {
    const kind = pick(options.kinds ?? allKinds);
    if (kind === undefined) break;
    const fault = makeFault(kind, random, options.maxDelayMs ?? 300);
    const onEvent = kind.endsWith("Event");
    const place = pick(onEvent ? events : apis);
    if (place === undefined) continue;
    const nth = 1 + Math.floor(random() * place[1]);
    if (!isSideEffect(fault) && taken.has(`${place[0]}/${nth}`)) continue;
    if (!isSideEffect(fault)) taken.add(`${place[0]}/${nth}`);
    plans.push({ id: `${seed}-${index}`, on: onEvent ? { event: place[0], nth } : { api: place[0], nth }, fault });
  }
  return plans;
}

function makeFault(kind: FaultKind, random: () => number, maxDelayMs: number): Fault {
  switch (kind) {
    case "rateLimit": return { kind, resetSeconds: 1 };
    case "serverError": return { kind, status: ([500, 502, 503, 504] as const)[Math.floor(random() * 4)]!, effect: random() < 0.5 };
    case "slow": return { kind, delayMs: Math.floor(random() * maxDelayMs), when: random() < 0.5 ? "before" : "after" };
    // A passing internal error: the one code that asks to try again with the next sequence.
    case "refuse": return { kind, code: 300120, msg: "server internal error, please retry later" };
    case "clockJump": return { kind, ms: [61_000, 601_000, 3_700_000][Math.floor(random() * 3)]! };
    case "duplicateEvent": return { kind, afterMs: Math.floor(random() * 50) };
    case "lateEvent": return { kind, delayMs: Math.floor(random() * maxDelayMs) };
    case "lostAnswer": case "cut": case "closeSocket": case "silentSocket": case "lostEvent": return { kind };
  }
}
