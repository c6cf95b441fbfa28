import { createHash, randomUUID } from "node:crypto";
import type { AgentRequest, InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import { changesOf, fromServerReply, mayAnswer, payloadOf, refusal, toServerRequest } from "@foldcast/protocol-core/interaction";
import type { InteractionAnswerResult, InteractionEvent, InteractionPayload } from "@foldcast/protocol-core/interaction";
import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { RequestId } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";
import { notificationFrame } from "../rpc/frame.ts";
import type { Frame } from "../rpc/frame.ts";
import { MemoryInteractionStore } from "../store/interactions.ts";
import type { InteractionStore, KeptInteraction, NativeRequest, Settlement } from "../store/interactions.ts";
import { readGiven } from "./given.ts";
import type { Given } from "./given.ts";
import { Pending } from "./pending.ts";
import type { Answerer, Chosen, InteractionResolved } from "./pending.ts";
import type { InteractionHome, InteractionPolicy, Screen, WaitingFlag } from "./policy.ts";

/** Who may answer an interaction. Fails closed: what is not clearly allowed is refused. */
export type AnswerGate = (answerer: Answerer, home: InteractionHome) => boolean;

/**
 * Whoever is connected is the operator, and may answer. A channel speaks for people: without one behind it its answer is
 * refused, and each of them is judged by `mayAnswer`.
 */
export const defaultGate: AnswerGate = ({ channel, sender }, { startedBy }) => {
  if (sender === null) return channel === null;
  return (channel === null || channel.name === sender.channel) && mayAnswer(sender, startedBy, channel?.approvers ?? []);
};

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

/** What a channel puts up for its people to choose from. */
export type OfferSpec = Pick<InteractionPayload, "title" | "body" | "actions"> & { kind: "quickReply" | "command"; /** Milliseconds; null = as all others. */ expiresInMs: number | null };

export const DEFAULT_EXPIRY_MS = 30 * 60_000;
/** A harness that was told `cancel` ends its turn by itself, with the item shown as declined; if not, it is interrupted. */
const CANCEL_GRACE_MS = 1_000;
/** JSON-RPC's "method not found": a client that cannot draw the request has not decided anything. */
const CANNOT_DRAW = -32601;
/** What a channel may have up on one thread at a time. */
const MAX_OFFERS = 20;

const ENDED: Readonly<Record<Settlement, string>> = {
  answered: "has been answered already", skipped: "was skipped", unreadable: "was declined, since an answer to it could not be read", expired: "has expired",
  interrupted: "is over: its turn has ended", closedByHarness: "is over: the agent no longer asks", superseded: "is over: the conversation has gone on",
  restarted: "has expired: the server that asked has ended",
};

function schedule(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

function result(status: InteractionAnswerResult["status"], message: string, more: Partial<InteractionAnswerResult> = {}): InteractionAnswerResult {
  return { status, message, open: [], command: null, ...more };
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
    this.#mayAnswer = options.mayAnswer ?? defaultGate;
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
    const startedAt = this.#now();
    const expiresAt = startedAt + this.#expiryMs;
    const native = request.kind === "quickReply" || home.turnKey === null ? null : nativeOf(request, home.threadId, home.turnKey);
    // A harness that outlived the server that it asked first: the buttons of then work again.
    const known = native === null ? null : this.#keep(() => this.#store.revive(native, home.turnId, expiresAt));
    const id = known ?? `foldcast:${this.#newId()}`;
    const payload = payloadOf(request, { interactionId: id, expiresAt, changes: changesOf(request, home.item) });
    const asked = request.kind === "quickReply" ? null : { request, wire: toServerRequest(request, { ...home, startedAt }, id) };
    if (known === null) this.#keep(() => this.#store.add({ id, threadId: home.threadId, turnId: home.turnId, kind: payload.kind, native, createdAt: startedAt, expiresAt }));
    this.#show(new Pending(home, payload, request.id, asked), this.#expiryMs);
  }

  /** Puts up what a channel wants chosen: nobody waits for it. Throws where too much is up already. Gives the payload. */
  offer(spec: OfferSpec, home: InteractionHome): InteractionPayload {
    if (this.#offersOf(home.threadId).length >= MAX_OFFERS) throw invalidRequest("too many offers are open on this thread");
    const id = `foldcast:${this.#newId()}`;
    const createdAt = this.#now();
    const expiryMs = spec.expiresInMs ?? this.#expiryMs;
    const payload: InteractionPayload = { interactionId: id, kind: spec.kind, title: spec.title, body: spec.body, actions: spec.actions, fields: [], expiresAt: createdAt + expiryMs };
    this.#keep(() => this.#store.add({ id, threadId: home.threadId, turnId: home.turnId, kind: spec.kind, native: null, createdAt, expiresAt: createdAt + expiryMs }));
    this.#show(new Pending(home, payload, null, null), expiryMs);
    return payload;
  }

  closed(turnId: string, requestId: string): void {
    const pending = this.#find(turnId, requestId);
    if (pending !== null) this.#settle(pending, "closedByHarness", null, null);
  }

  turnOver(turnId: string): void {
    for (const pending of this.#ofTurn(turnId)) if (pending.asked !== null) this.#settle(pending, "interrupted", null, null);
  }

  turnBegins(threadId: string): void {
    for (const pending of this.#offersOf(threadId)) this.#settle(pending, "superseded", null, null);
  }

  threadOver(threadId: string): void {
    for (const pending of this.#pending.values()) if (pending.home.threadId === threadId) this.#settle(pending, "interrupted", null, null);
  }

  /** Shows a client that joined what is open on the thread, under the same ids as to all others. */
  replay(threadId: string, screen: Screen): void {
    for (const pending of this.#pending.values()) {
      const { home } = pending;
      if (home.threadId !== threadId || pending.shownTo.has(screen)) continue;
      const frame = pending.frameFor(screen);
      if (frame === null) continue;
      // A client that follows by completions was not given this item with the state that it joined on.
      if (home.item !== null && screen.session?.policy.messages === "held") {
        const params = { threadId, turnId: home.turnId, item: home.item, startedAtMs: home.item.startedAtMs ?? this.#now() };
        screen.send(notificationFrame("item/started", params, this.#now()));
      }
      screen.send(frame);
    }
  }

  /**
   * A client's answer to a request of ours. False for one that changes nothing: late, repeated, of an unknown id, or of
   * somebody who may not answer. Clients that asked to know are told so.
   */
  reply(screen: Screen, id: RequestId, outcome: { result: unknown } | { error: unknown }): boolean {
    const told = this.#reply(screen, id, outcome);
    if (told === null) return true;
    if (screen.session?.interaction === true) this.#tell(screen, "foldcast/interaction/notAccepted", { requestId: id, status: told.status, message: told.message });
    return false;
  }

  #reply(screen: Screen, id: RequestId, outcome: { result: unknown } | { error: unknown }): InteractionAnswerResult | null {
    const pending = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (pending?.asked == null || !pending.shownTo.has(screen)) return this.#over(String(id), null);
    const { session } = screen;
    const answerer: Answerer = { client: session?.name ?? "", channel: session?.channel ?? null, sender: null };
    if (!this.#mayAnswer(answerer, pending.home)) return refused(pending.id);
    const { request, wire } = pending.asked;
    if ("error" in outcome) {
      const { code } = Object(outcome.error) as { code?: unknown };
      if (code === CANNOT_DRAW) this.#abstain(pending, screen, answerer);
      else this.#settle(pending, "unreadable", answerer, refusal(request));
      return null;
    }
    const read = fromServerReply(wire.method, request, outcome.result);
    if (read.kind === "empty") {
      this.#abstain(pending, screen, answerer);
      if (request.kind === "elicitation") this.#warn(screen, pending, `This form cannot be filled in here; ${this.#pending.has(pending.id) ? "it waits for another screen" : "the agent goes on without it"}.`);
    } else if (read.kind === "unreadable") this.#settle(pending, "unreadable", answerer, refusal(request));
    else {
      this.#settle(pending, "answered", answerer, read.answer, read.interrupt);
      if (read.narrowed) this.#warn(screen, pending, narrowed(read.answer));
    }
    return null;
  }

  /** What a client is told whose own dialog would say something else. */
  #warn(screen: Screen, { home }: Pending, message: string): void {
    this.#tell(screen, "warning", { threadId: home.threadId, message });
  }

  #tell(screen: Screen, method: string, params: object): void {
    if (screen.wants(method)) screen.send(notificationFrame(method, params, this.#now()));
  }

  /** A typed answer, `/_interaction <id> <value>`. An id of another thread is unknown here. */
  typed(threadId: string, id: string, value: string, answerer: Answerer): InteractionAnswerResult {
    const pending = this.#pending.get(id);
    if (pending?.home.threadId !== threadId) return this.#over(id, threadId);
    return this.#take(pending, answerer, { typed: value });
  }

  /** What a channel's person pressed or filled in. */
  event(event: InteractionEvent, answerer: Answerer): InteractionAnswerResult {
    const pending = this.#pending.get(event.interactionId);
    return pending === undefined ? this.#over(event.interactionId, null) : this.#take(pending, answerer, { event });
  }

  /** The one way of everything that comes with a person's words: the gate first, whether button or text. */
  #take(pending: Pending, answerer: Answerer, given: Given): InteractionAnswerResult {
    if (!this.#mayAnswer(answerer, pending.home)) return refused(pending.id);
    const read = readGiven(pending, given);
    switch (read.kind) {
      case "answer":
      case "quickReply":
      case "command":
        if (!this.#settle(pending, "answered", answerer, read.kind === "answer" ? read.answer : read)) return this.#over(pending.id, null);
        return result("accepted", "Answered.", read.kind === "command" ? { command: read.command } : {});
      case "partial":
        pending.answers = read.answers;
        return result("accepted", `Noted. Still open: ${read.open.join(", ")}.`, { open: read.open });
      case "unreadable":
        return result("invalid", `That is no answer to the interaction ${pending.id}. Expected: ${read.expected}.`);
    }
  }

  /** What to say of an interaction that is not open. */
  #over(id: string, threadId: string | null): InteractionAnswerResult {
    const row: KeptInteraction | null = this.#keep(() => this.#store.find(id));
    if (row === null || row.status === "pending" || (threadId !== null && row.threadId !== threadId)) {
      return result("unknown", `There is no interaction ${id === "" ? "without an id" : id}${threadId === null ? "" : " on this thread"}.`);
    }
    return result(row.status === "expired" || row.status === "restarted" ? "expired" : "late", `The interaction ${id} ${ENDED[row.status]}.`);
  }

  /** Chose nothing. It counts only when no other screen can still choose: Desktop sends it by itself when left alone. */
  #abstain(pending: Pending, screen: Screen, answerer: Answerer): void {
    pending.abstained.add(screen);
    for (const other of pending.home.screens.subscribers) if (!pending.abstained.has(other)) return;
    const { request } = pending.asked!;
    this.#settle(pending, "skipped", answerer, request.kind === "elicitation" ? { kind: "elicitation", action: "cancel" } : refusal(request));
  }

  #show(pending: Pending, expiryMs: number): void {
    const { home, flag } = pending;
    const flags = this.#flags(home.turnId);
    this.#pending.set(pending.id, pending);
    pending.stopTimer = this.#schedule(expiryMs, () => this.#expire(pending, expiryMs));
    if (flag !== null && !flags.includes(flag)) home.waiting(this.#flags(home.turnId));
    home.screens.each((screen) => pending.frameFor(screen));
  }

  #expire(pending: Pending, expiryMs: number): void {
    this.#settle(pending, "expired", null, pending.asked === null ? null : refusal(pending.asked.request, `Nobody answered within ${describeDuration(expiryMs)}.`));
  }

  /** The only place where an interaction ends; false where it has. `answer` null: nobody waits for one. */
  #settle(pending: Pending, how: Settlement, by: Answerer | null, answer: InteractionAnswer | Chosen | null, interrupt = false): boolean {
    const { id, home } = pending;
    // Taken out first: whatever the calls below cause finds it settled.
    if (!this.#pending.delete(id)) return false;
    pending.stopTimer();
    // A store that fails decides nothing; one that has it as settled does, and the harness must not wait.
    const won = this.#keep(() => this.#store.settle(id, how, this.#now())) ?? true;
    const given = won || pending.asked === null || answer === null ? answer : refusal(pending.asked.request);
    this.#announce(pending, how, by, given);
    if (pending.flag !== null) {
      const flags = this.#flags(home.turnId);
      // Where the turn ends with it, its status says so by itself.
      if (how !== "interrupted" && !flags.includes(pending.flag)) home.waiting(flags);
    }
    if (given !== null && won) this.#act(pending, by, given, interrupt);
    else if (given !== null) this.#act(pending, null, given, false);
    return won;
  }

  #act({ id, home, asked }: Pending, by: Answerer | null, answer: InteractionAnswer | Chosen, interrupt: boolean): void {
    if (answer.kind === "quickReply") return home.input(answer.text, { sender: by?.sender ?? null, interactionId: id });
    if (answer.kind === "command" || asked === null) return;
    const { request } = asked;
    if (answer.kind !== "approval" || request.kind !== "approval") return home.answer(answer, null);
    const { text, ...silent } = answer;
    // Only a person's words are worth a message of their own; that time is over is not.
    if (text === undefined || home.takesDenyText) home.answer(answer, null);
    else home.answer(silent, by === null ? null : text);
    const offered = request.offers.includes(answer.decision);
    if (interrupt && offered && answer.decision === "cancel") this.#schedule(CANCEL_GRACE_MS, () => home.interrupt());
    // A harness that offers no way to say no cannot be told: its turn ends instead.
    else if (interrupt || !offered) home.interrupt();
  }

  #announce({ id, home, asked, shownTo }: Pending, how: Settlement, by: Answerer | null, answer: InteractionResolved["answer"]): void {
    const { threadId, turnId } = home;
    if (asked !== null) {
      const resolved = notificationFrame("serverRequest/resolved", { threadId, requestId: id }, this.#now());
      home.screens.each((screen) => (screen.wants("serverRequest/resolved") ? resolved : null));
    }
    const params: InteractionResolved = { threadId, turnId, requestId: id, how, by: by === null ? null : { client: by.client, sender: by.sender }, answer };
    let told: Frame | null = null;
    home.screens.each((screen) => (screen.session?.interaction === true && shownTo.has(screen) && screen.wants("foldcast/interaction/resolved") ? (told ??= notificationFrame("foldcast/interaction/resolved", params, this.#now())) : null));
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
    return [...new Set(this.#ofTurn(turnId).flatMap(({ flag }) => flag ?? []))].sort();
  }

  #ofTurn(turnId: string): Pending[] {
    return [...this.#pending.values()].filter(({ home }) => home.turnId === turnId);
  }

  #offersOf(threadId: string): Pending[] {
    return [...this.#pending.values()].filter(({ home, asked }) => asked === null && home.threadId === threadId);
  }

  #find(turnId: string, requestId: string): Pending | null {
    return this.#ofTurn(turnId).find((pending) => pending.requestId === requestId) ?? null;
  }
}

function refused(id: string): InteractionAnswerResult {
  return result("refused", `You may not answer the interaction ${id}.`);
}

/** What a client is told whose decision is not on offer; its dialog listed it all the same. */
function narrowed(answer: InteractionAnswer): string {
  return answer.kind === "approval" && answer.decision === "accept" ? "Approved once: this agent cannot remember an approval." : "Declined: this agent does not take that answer.";
}

function nativeOf(request: AgentRequest, threadId: string, turnKey: string): NativeRequest {
  return { threadId, turnKey, requestId: request.id, digest: createHash("sha256").update(JSON.stringify([threadId, turnKey, request])).digest("hex") };
}

function describeDuration(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 1000)} seconds`;
}
