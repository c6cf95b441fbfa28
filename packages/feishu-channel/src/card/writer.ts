import type { ApiName, FeishuPort, Outcome, Permit, Priority, Refusal } from "../platform/port.ts";
import type { TurnCard } from "./document.ts";
import { afterChange, type CardChange, nextChange } from "./plan.ts";

export interface WriterClock {
  /** Milliseconds. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

export interface WriterTimes {
  /** Between two writes while the turn runs. */
  readonly intervalMs: number;
  /** Streaming is opened anew when it has been open for this long; the platform closes it after ten minutes. */
  readonly reopenMs: number;
  /** First wait after an answer that says nothing; doubles up to `maxBackoffMs`. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}
export const WRITER_TIMES: WriterTimes = { intervalMs: 500, reopenMs: 8 * 60_000, backoffMs: 400, maxBackoffMs: 15_000 };

export interface CardWriterOptions {
  readonly port: Pick<FeishuPort, "pace" | "updateCard" | "batchUpdate" | "updateElementContent" | "setCardSettings">;
  readonly cardId: string;
  readonly chatId: string;
  /** What the card is at this moment; null = not known, then the first write is the whole card. */
  readonly shadow: TurnCard | null;
  /** When streaming was opened with what `shadow` says: before the request that did it was sent. */
  readonly openedAt: number;
  /** The last sequence that was used for this card, 0 for a new one. */
  readonly sequence: number;
  /** Notes durably that this sequence is used, before it is. */
  readonly reserve: (sequence: number) => void | Promise<void>;
  readonly clock: WriterClock;
  readonly times?: WriterTimes;
  /** The newest state of the running turn, asked for when a write may go out; null = what was shown last. */
  readonly newest?: () => TurnCard | null;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/**
 * `written`: Feishu confirmed the last state. `refused`: it will not take it (too large, gone, forbidden …), render
 * another or go another way. `uncertain`: no readable answer in all tries; the same card may be given again.
 */
export type WriteResult = { readonly kind: "written" } | { readonly kind: "refused"; readonly refusal: Refusal } | { readonly kind: "uncertain" };

const MAX_TRIES = 12;
const MAX_REFUSALS = 3;
/** Codes that say "a sequence like this was used": far beyond whatever an unknown writer may have reached. */
const SEQUENCE_JUMP = 1_000;

/**
 * The only one who writes one card. One request in flight; what is given while it is on its way replaces what waits;
 * the sequence grows with every try, also after one whose answer was lost. Nothing is sent when nothing differs.
 */
export class CardWriter {
  readonly #options: CardWriterOptions;
  readonly #times: WriterTimes;
  #shadow: TurnCard | null;
  #sequence: number;
  #openedAt: number;
  #wanted: TurnCard | null = null;
  #finalCard: TurnCard | null = null;
  #finals: ((result: WriteResult) => void)[] = [];
  #running = false;
  #lastWriteAt = -Infinity;
  #tries = 0;
  /** What was refused for good; the same card is not tried again. */
  #refused: { readonly card: TurnCard; readonly refusal: Refusal } | null = null;
  #idlers: (() => void)[] = [];
  #news: Refusal | null = null;
  /** For good, one after the other. */
  #refusals = 0;
  #closed = false;
  /** Aborted when the last state is there, or none will come: what waits for a place among live writes waits no longer. */
  readonly #hurry = new AbortController();

  constructor(options: CardWriterOptions) {
    this.#options = options;
    this.#times = options.times ?? WRITER_TIMES;
    this.#shadow = options.shadow;
    this.#sequence = options.sequence;
    this.#openedAt = options.openedAt;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** What ended a try for good since this was asked last; null: nothing did. Each refusal is given once. */
  takeRefusal(): Refusal | null {
    const news = this.#news;
    this.#news = null;
    return news;
  }

  /** The newest state while the turn runs; an older one that waits is dropped. */
  show(card: TurnCard): void {
    if (this.#closed || this.#finalCard !== null || this.#isHopeless()) return;
    this.#wanted = card;
    this.#start();
  }

  /** Live states that are refused again and again, or of a card that is no more, are not worth a request each. */
  #isHopeless(): boolean {
    const kind = this.#refused?.refusal.kind;
    return this.#refusals >= MAX_REFUSALS || kind === "gone" || kind === "forbidden";
  }

  /** Resolves when nothing waits to be written. */
  idle(): Promise<void> {
    return this.#running ? new Promise((resolve) => this.#idlers.push(resolve)) : Promise.resolve();
  }

  /** The last state: written as a whole, streaming closed first, and tried until Feishu has said yes or no. */
  finish(card: TurnCard): Promise<WriteResult> {
    return new Promise((resolve) => {
      this.#finalCard = card;
      this.#wanted = card;
      this.#tries = 0;
      this.#refused = null;
      this.#finals.push(resolve);
      this.#hurry.abort();
      this.#start();
    });
  }

  /** Writes nothing more. A `finish` that waits becomes `uncertain`. */
  close(): void {
    this.#closed = true;
    this.#hurry.abort();
    this.#settle({ kind: "uncertain" });
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#run().catch((error: unknown) => {
      this.#options.log("a card write failed", { error: error instanceof Error ? error.message : String(error) });
      this.#settle({ kind: "uncertain" });
    });
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const wanted = this.#wanted;
        if (this.#closed || wanted === null || this.#refused?.card === wanted) return;
        const step = this.#nextStep(wanted);
        if (step === null) {
          if (this.#finalCard === wanted) this.#settle({ kind: "written" });
          return;
        }
        await this.#write(step);
      }
    } finally {
      // At once, not a tick later: what is given in between would find a writer that seems to run and does not.
      this.#running = false;
      for (const wake of this.#idlers.splice(0)) wake();
    }
  }

  #nextStep(wanted: TurnCard): Step | null {
    const isFinal = this.#finalCard === wanted;
    const shadow = this.#shadow;
    if (isFinal) {
      if (this.#isSame(wanted)) return null;
      // Closed first, so that the chat list shows the answer even where the card itself is not taken.
      if (shadow?.config.streaming_mode === true) return { api: "card.settings", wanted };
      return { api: "card.update", wanted, change: { kind: "full", card: wanted } };
    }
    if (shadow === null) return { api: "card.update", wanted, change: { kind: "full", card: wanted } };
    const isOld = shadow.config.streaming_mode && this.#options.clock.now() - this.#openedAt > this.#times.reopenMs;
    if (isOld && wanted.config.streaming_mode) this.#shadow = withoutStreaming(shadow);
    const change = nextChange(this.#shadow ?? shadow, wanted);
    return change === null ? null : { api: API_OF[change.kind], wanted, change };
  }

  /** The final state is always written as a whole once: what a batch left behind must not stay. */
  #writtenFinal: TurnCard | null = null;
  #isSame(wanted: TurnCard): boolean {
    return this.#writtenFinal === wanted;
  }

  async #write(step: Step): Promise<void> {
    const { clock } = this.#options;
    if (this.#finalCard === null) await this.#pause(this.#lastWriteAt + this.#times.intervalMs - clock.now());
    const permit = await this.#permit(step);
    if (permit === null) return;
    const current = this.#newestStep(step);
    if (current === null) return;
    this.#sequence += 1;
    await this.#options.reserve(this.#sequence);
    const sentAt = (this.#lastWriteAt = clock.now());
    const outcome = await this.#send(current, permit);
    await this.#digest(outcome, current, sentAt);
  }

  /** Something newer may have come while the write waited for its turn; what needs another call than that waits for the next. */
  #newestStep({ api }: Step): Step | null {
    if (this.#closed || this.#wanted === null) return null;
    const newest = this.#finalCard === null ? (this.#options.newest?.() ?? null) : null;
    const fresh = newest === null ? null : this.#nextStep(newest);
    if (newest !== null && fresh?.api === api) {
      this.#wanted = newest;
      return fresh;
    }
    const shown = this.#nextStep(this.#wanted);
    return shown?.api === api ? shown : null;
  }

  /** Null: the last state came while a live one waited, which has no turn any more. */
  async #permit({ api, change }: Step): Promise<Permit | null> {
    const { port, cardId, chatId } = this.#options;
    const target = { cardId, chatId };
    if (this.#finalCard !== null) return port.pace(api, target, { priority: "final" });
    const priority: Priority = change?.kind === "content" ? "live" : "normal";
    try {
      return await port.pace(api, target, { priority, signal: this.#hurry.signal });
    } catch (error) {
      if (this.#hurry.signal.aborted) return null;
      throw error;
    }
  }

  /** Of a live card ends with the turn. */
  async #pause(ms: number): Promise<void> {
    const { clock } = this.#options;
    if (ms <= 0) return;
    if (this.#finalCard !== null) return clock.sleep(ms);
    const { signal } = this.#hurry;
    if (signal.aborted) return;
    let wake: () => void = () => undefined;
    const hurried = new Promise<void>((resolve) => (wake = resolve));
    signal.addEventListener("abort", wake, { once: true });
    await Promise.race([clock.sleep(ms), hurried]);
    signal.removeEventListener("abort", wake);
  }

  #send({ change, wanted }: Step, permit: Permit): Promise<Outcome<null>> {
    const { port, cardId, chatId } = this.#options;
    const write = { cardId, sequence: this.#sequence };
    const options = { permit, chatId };
    if (change === undefined) return port.setCardSettings({ ...write, streaming: false, summary: wanted.config.summary.content }, options);
    switch (change.kind) {
      case "full":
        return port.updateCard({ ...write, card: change.card }, options);
      case "batch":
        return port.batchUpdate({ ...write, actions: change.actions }, options);
      case "content":
        return port.updateElementContent({ ...write, elementId: change.elementId, content: change.content }, options);
    }
  }

  async #digest(outcome: Outcome<null>, { change, wanted }: Step, sentAt: number): Promise<void> {
    if (outcome.kind === "ok") {
      this.#tries = 0;
      this.#accept(change, wanted, sentAt);
      return;
    }
    this.#tries += 1;
    const { log } = this.#options;
    if (outcome.kind === "uncertain") {
      log("a card write was not answered", { reason: outcome.uncertainty.reason, detail: outcome.uncertainty.detail });
      // It may have worked: only the whole card with a higher sequence is right in both cases.
      this.#shadow = null;
      return this.#again(null, wanted);
    }
    const { refusal } = outcome;
    log("a card write was refused", { kind: refusal.kind, code: refusal.code, subCode: refusal.subCode });
    switch (refusal.kind) {
      case "rateLimited":
      case "serverBusy":
      case "unreachable":
        return this.#again(refusal, wanted);
      case "cardBusy":
        return this.#options.clock.sleep(refusal.retryAfterMs ?? 500);
      case "sequence":
        this.#sequence += SEQUENCE_JUMP;
        this.#shadow = null;
        return this.#again(null, wanted, true);
      case "streamingClosed":
        this.#shadow = this.#shadow === null ? null : withoutStreaming(this.#shadow);
        return;
      case "alreadyApplied":
        this.#accept(change, wanted, sentAt);
        return;
      case "outOfSync":
        if (change?.kind === "full") return this.#giveUp(refusal, wanted);
        this.#shadow = null;
        return;
      default:
        if (change === undefined) {
          // Streaming that cannot be closed by itself is closed by the whole card.
          this.#shadow = null;
          if (refusal.kind !== "gone") return;
        }
        this.#giveUp(refusal, wanted);
    }
  }

  #accept(change: CardChange | undefined, wanted: TurnCard, sentAt: number): void {
    const before = this.#shadow;
    this.#refusals = 0;
    if (change === undefined) this.#shadow = before === null ? null : withoutStreaming(before);
    else this.#shadow = before === null ? wanted : afterChange(before, wanted, change);
    if (change?.kind === "full" && this.#finalCard === wanted) this.#writtenFinal = wanted;
    if (this.#shadow?.config.streaming_mode === true && before?.config.streaming_mode !== true) this.#openedAt = sentAt;
  }

  /** After a pause; when all tries are used, a final card is given back and a live one waits for its successor. */
  async #again(refusal: Refusal | null, wanted: TurnCard, atOnce = false): Promise<void> {
    if (this.#tries >= MAX_TRIES && this.#finalCard !== null) {
      this.#wanted = null;
      this.#settle(refusal === null ? { kind: "uncertain" } : { kind: "refused", refusal });
      return;
    }
    if (atOnce) return;
    const backoff = Math.min(this.#times.backoffMs * 2 ** Math.min(this.#tries - 1, 10), this.#times.maxBackoffMs);
    await this.#pause(Math.max(refusal?.retryAfterMs ?? 0, backoff));
    if (this.#wanted === null) this.#wanted = wanted;
  }

  #giveUp(refusal: Refusal, wanted: TurnCard): void {
    this.#refused = { card: wanted, refusal };
    this.#news = refusal;
    this.#refusals += 1;
    if (this.#finalCard === wanted) this.#settle({ kind: "refused", refusal });
  }

  #settle(result: WriteResult): void {
    const waiting = this.#finals;
    this.#finals = [];
    for (const resolve of waiting) resolve(result);
  }
}

interface Step {
  readonly api: ApiName;
  readonly wanted: TurnCard;
  /** Absent: close streaming. */
  readonly change?: CardChange;
}

const API_OF = { full: "card.update", batch: "card.batchUpdate", content: "card.content" } as const;

function withoutStreaming(card: TurnCard): TurnCard {
  return { ...card, config: { ...card.config, streaming_mode: false } };
}
