import { randomUUID } from "node:crypto";
import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import { fromServerReply, payloadOf, readTyped, refusal, toServerRequest } from "@foldcast/protocol-core/interaction";
import type { RequestId } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";
import { notificationFrame } from "../rpc/frame.ts";
import type { Frame } from "../rpc/frame.ts";
import { MemoryInteractionStore } from "../store/interactions.ts";
import type { InteractionStore, Settlement } from "../store/interactions.ts";
import { Pending } from "./pending.ts";
import type { Answerer, InteractionResolved } from "./pending.ts";
import type { InteractionHome, InteractionPolicy, Screen, WaitingFlag } from "./policy.ts";

/** Who may answer an interaction. Fails closed: what is not clearly allowed is refused. */
export type AnswerGate = (answerer: Answerer, pending: Pending) => boolean;

/** Whoever is connected is the operator. A channel speaks for people: each needs a rule of its own that lets them. */
export const operatorOnly: AnswerGate = ({ sender }) => sender === null;

export interface InteractionManagerOptions {
  log: Logger;
  now: () => number;
  /** Milliseconds until an interaction that nobody answers is denied. */
  expiryMs?: number;
  mayAnswer?: AnswerGate;
  /** Runs `work` after so many milliseconds; gives the way to call it off. */
  schedule?: (ms: number, work: () => void) => () => void;
  newId?: () => string;
  /** What became of earlier ones; in memory by default. */
  store?: InteractionStore;
}

/** What became of a typed answer, in words for whoever typed it. */
export interface TypedOutcome {
  ok: boolean;
  message: string;
}

export const DEFAULT_EXPIRY_MS = 30 * 60_000;
/** A harness that was told `cancel` ends its turn by itself, with the item shown as declined; if not, it is interrupted. */
const CANCEL_GRACE_MS = 1_000;
/** JSON-RPC's "method not found": a client that cannot draw the request has not decided anything. */
const CANNOT_DRAW = -32601;

const ENDED: Readonly<Record<Settlement, string>> = {
  answered: "has been answered already", skipped: "was skipped", unreadable: "was declined, since an answer to it could not be read", expired: "has expired",
  interrupted: "is over: its turn has ended", closedByHarness: "is over: the agent no longer asks",
};

function schedule(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Owner of every interaction of foreign harnesses. Each goes to all that watch its thread, under one id that no native
 * request can have; the first valid answer settles it, and everything that can happen to it meets in `#settle`.
 */
export class InteractionManager implements InteractionPolicy {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #expiryMs: number;
  readonly #mayAnswer: AnswerGate;
  readonly #schedule: (ms: number, work: () => void) => () => void;
  readonly #newId: () => string;
  readonly #pending = new Map<string, Pending>();
  readonly #store: InteractionStore;

  constructor(options: InteractionManagerOptions) {
    this.#log = options.log;
    this.#now = options.now;
    this.#expiryMs = options.expiryMs ?? DEFAULT_EXPIRY_MS;
    this.#mayAnswer = options.mayAnswer ?? operatorOnly;
    this.#schedule = options.schedule ?? schedule;
    this.#newId = options.newId ?? randomUUID;
    this.#store = options.store ?? new MemoryInteractionStore();
    this.#keep(() => this.#store.expirePending(this.#now()));
  }

  /** How many wait for an answer. */
  get size(): number {
    return this.#pending.size;
  }

  opened(request: InteractionRequest, home: InteractionHome): void {
    if (this.#find(home.turnId, request.id) !== null) return this.#log.warn("a harness asked twice under one id", { turnId: home.turnId });
    const id = `foldcast:${this.#newId()}`;
    const now = this.#now();
    const wire = toServerRequest(request, { ...home, startedAt: now }, id);
    const pending = new Pending(request, home, wire, payloadOf(request, id, now + this.#expiryMs));
    const flags = this.#flags(home.turnId);
    this.#pending.set(id, pending);
    this.#keep(() => this.#store.add({ id, threadId: home.threadId, turnId: home.turnId, kind: request.kind, createdAt: now, expiresAt: now + this.#expiryMs }));
    pending.stopTimer = this.#schedule(this.#expiryMs, () => this.#expire(pending));
    if (!flags.includes(pending.flag)) home.waiting(this.#flags(home.turnId));
    home.screens.each((screen) => pending.frameFor(screen));
  }

  closed(turnId: string, requestId: string): void {
    const pending = this.#find(turnId, requestId);
    if (pending !== null) this.#settle(pending, "closedByHarness", null, null);
  }

  turnOver(turnId: string): void {
    for (const pending of this.#ofTurn(turnId)) this.#settle(pending, "interrupted", null, null);
  }

  /** Shows a client that joined what is open on the thread, under the same ids as to all others. */
  replay(threadId: string, screen: Screen): void {
    for (const pending of this.#pending.values()) {
      const { home } = pending;
      if (home.threadId !== threadId || pending.shownTo.has(screen)) continue;
      // A client that follows by completions was not given this item with the state that it joined on.
      if (home.item !== null && screen.session?.policy.messages === "held") {
        const params = { threadId, turnId: home.turnId, item: home.item, startedAtMs: home.item.startedAtMs ?? this.#now() };
        screen.send(notificationFrame("item/started", params, this.#now()));
      }
      screen.send(pending.frameFor(screen));
    }
  }

  /** A client's answer to a request of ours. False when no such request is open: late, repeated or never made. */
  reply(screen: Screen, id: RequestId, outcome: { result: unknown } | { error: unknown }): boolean {
    const pending = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (pending === undefined || !pending.shownTo.has(screen)) return false;
    const answerer: Answerer = { client: screen.session?.name ?? "", sender: null };
    if (!this.#mayAnswer(answerer, pending)) return false;
    const { request, wire } = pending;
    if ("error" in outcome) {
      const code = typeof outcome.error === "object" && outcome.error !== null && "code" in outcome.error ? outcome.error.code : null;
      if (code === CANNOT_DRAW) this.#abstain(pending, screen, answerer);
      else this.#settle(pending, "unreadable", answerer, refusal(request));
      return true;
    }
    const read = fromServerReply(wire.method, request, outcome.result);
    if (read.kind === "empty") this.#abstain(pending, screen, answerer);
    else if (read.kind === "unreadable") this.#settle(pending, "unreadable", answerer, refusal(request));
    else this.#settle(pending, "answered", answerer, read.answer, read.interrupt);
    return true;
  }

  /** A typed answer, `/_interaction <id> <value>`. An id of another thread is unknown here. */
  typed(threadId: string, id: string, value: string, answerer: Answerer): TypedOutcome {
    const pending = this.#pending.get(id);
    if (pending?.home.threadId !== threadId) {
      const row = this.#keep(() => this.#store.find(id));
      const how = row?.threadId === threadId && row.status !== "pending" ? row.status : null;
      return { ok: false, message: how === null ? `There is no interaction ${id === "" ? "without an id" : id} on this thread.` : `The interaction ${id} ${ENDED[how]}.` };
    }
    if (!this.#mayAnswer(answerer, pending)) return { ok: false, message: `You may not answer the interaction ${id}.` };
    const read = readTyped(pending.request, value, pending.answers);
    switch (read.kind) {
      case "answer":
        this.#settle(pending, "answered", answerer, read.answer);
        return { ok: true, message: "Answered." };
      case "partial":
        pending.answers = read.answers;
        return { ok: true, message: `Noted. Still open: ${read.open.join(", ")}.` };
      case "unreadable":
        return { ok: false, message: `That is no answer to the interaction ${id}. Expected: ${read.expected}.` };
    }
  }

  /** Chose nothing. It counts only when no other screen can still choose: Desktop sends it by itself when left alone. */
  #abstain(pending: Pending, screen: Screen, answerer: Answerer): void {
    pending.abstained.add(screen);
    for (const other of pending.home.screens.subscribers) if (!pending.abstained.has(other)) return;
    this.#settle(pending, "skipped", answerer, refusal(pending.request));
  }

  #expire(pending: Pending): void {
    this.#settle(pending, "expired", null, refusal(pending.request, `Nobody answered within ${describeDuration(this.#expiryMs)}.`));
  }

  /** The only place where an interaction ends. `answer` null: the harness has let go of it by itself. */
  #settle(pending: Pending, how: Settlement, by: Answerer | null, answer: InteractionAnswer | null, interrupt = false): void {
    const { id, home, request } = pending;
    // Taken out first: whatever the calls below cause finds it settled.
    if (!this.#pending.delete(id)) return;
    pending.stopTimer();
    this.#keep(() => this.#store.settle(id, how, this.#now()));
    this.#announce(pending, how, by, answer);
    const flags = this.#flags(home.turnId);
    // Where the turn ends with it, its status says so by itself.
    if (how !== "interrupted" && !flags.includes(pending.flag)) home.waiting(flags);
    if (answer === null) return;
    home.answer(answer);
    const offered = answer.kind === "question" || (request.kind === "approval" && request.offers.includes(answer.decision));
    if (interrupt && offered && answer.kind === "approval" && answer.decision === "cancel") this.#schedule(CANCEL_GRACE_MS, () => home.interrupt());
    // A harness that offers no way to say no cannot be told: its turn ends instead.
    else if (interrupt || !offered) home.interrupt();
  }

  #announce({ id, home }: Pending, how: Settlement, by: Answerer | null, answer: InteractionAnswer | null): void {
    const { threadId, turnId } = home;
    const resolved = notificationFrame("serverRequest/resolved", { threadId, requestId: id }, this.#now());
    home.screens.each(() => resolved);
    const params: InteractionResolved = { threadId, turnId, requestId: id, how, by, answer };
    let told: Frame | null = null;
    home.screens.each((screen) => (screen.session?.interaction === true ? (told ??= notificationFrame("foldcast/interaction/resolved", params, this.#now())) : null));
  }

  /** Null where the store fails: that must not keep a harness waiting. */
  #keep<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#log.error("the store of interactions failed", { error });
      return null;
    }
  }

  #flags(turnId: string): WaitingFlag[] {
    return [...new Set(this.#ofTurn(turnId).map(({ flag }) => flag))].sort();
  }

  #ofTurn(turnId: string): Pending[] {
    return [...this.#pending.values()].filter(({ home }) => home.turnId === turnId);
  }

  #find(turnId: string, requestId: string): Pending | null {
    return this.#ofTurn(turnId).find(({ request }) => request.id === requestId) ?? null;
  }
}

function describeDuration(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 1000)} seconds`;
}
