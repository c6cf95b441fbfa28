import { CARD_LIMITS, type CardSize } from "../card/budget.ts";
import type { TurnCard } from "../card/document.ts";
import { duration } from "../card/duration.ts";
import { ClosedPages, layoutTurn } from "../card/pages.ts";
import type { TurnCardInput } from "../card/render.ts";
import { CARD_TEXTS, endWord } from "../card/texts.ts";
import { CardWriter, WRITER_TIMES, type WriterClock, type WriterTimes, type WriteResult } from "../card/writer.ts";
import type { FeishuPort, Refusal } from "../platform/port.ts";
import type { Table } from "../ledger/documents.ts";
import { answerParts, FORMS, partBody } from "./fallback.ts";
import { noticeCard } from "./notice.ts";
import type { CardRecord, TurnRecord } from "./record.ts";
import { SEND_TIMES, sendOnce, type SendTimes } from "./sender.ts";

/** Nothing else would be taken now either, and the same thing may be later: the app's token, its secret, or the way to Feishu. */
function isPassing({ kind, retryable }: Refusal): boolean {
  return retryable || kind === "unreachable" || kind === "unauthorized";
}

/** What a card's state is made from, without what the ledger knows. */
export type TurnState = Omit<TurnCardInput, "maskMail" | "tables" | "mark">;

export interface DeliveryDeps {
  readonly port: FeishuPort;
  readonly table: Table<TurnRecord>;
  readonly clock: WriterClock;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly writerTimes?: WriterTimes;
  readonly sendTimes?: SendTimes;
  /** Who started a turn that ran at least so long gets a message of its own when it is over, since nobody is told of a card that changes; 0 = never. */
  readonly pingAfterMs?: number;
}

/** `later`: not confirmed in all tries; `finish` may be called again, now or after a restart. */
export type DeliveryResult = "delivered" | "undeliverable" | "later";

const SCALES = [1, 0.7, 0.45] as const;
const SEQUENCES_AHEAD = 50;
const LATE_MS = 50;
const LATE_FACTOR = 8;
const MOST_LATE_MS = 5_000;

/**
 * One turn in one chat: its cards while it runs, its answer exactly once when it is done. Everything that is about to
 * be done stands in the ledger first, so that a new process can go on from any point.
 */
export class TurnDelivery {
  readonly #deps: DeliveryDeps;
  readonly record: TurnRecord;
  readonly #writers = new Map<number, CardWriter>();
  #wanted: TurnState | null = null;
  #ended = false;
  #pump: Promise<void> | null = null;
  #finishing: Promise<DeliveryResult> | null = null;
  #closed = false;
  /** No card of the running turn is taken. */
  #isMute = false;
  readonly #pages = new ClosedPages();
  /** Ends the pause between two drawings. */
  #hurry: () => void = () => undefined;

  constructor(deps: DeliveryDeps, record: TurnRecord) {
    this.#deps = deps;
    this.record = record;
  }

  /** The newest state of the running turn. Cheap: it is drawn when there is room for a write. */
  show(state: TurnState): void {
    if (this.#ended || this.#closed || this.#isMute) return;
    this.#wanted = state;
    this.#start();
  }

  /** The turn is over. Resolves when its answer is confirmed, or cannot be for now. Asked again meanwhile it begins nothing anew. */
  finish(state: TurnState): Promise<DeliveryResult> {
    return (this.#finishing ??= this.#bringToEnd(state).finally(() => (this.#finishing = null)));
  }

  async #bringToEnd(state: TurnState): Promise<DeliveryResult> {
    this.#ended = true;
    this.#wanted = null;
    this.#hurry();
    await this.#pump;
    if (this.record.state === "running") this.#save({ state: "ended" });
    if (this.record.state === "delivered" || this.record.state === "undeliverable") return this.record.state;
    if (this.record.parts.length > 0) return this.#deliverParts(state);
    return this.#deliverCards(state);
  }

  /** Writes nothing more; the ledger keeps what is open. */
  close(): void {
    this.#closed = true;
    for (const writer of this.#writers.values()) writer.close();
  }

  #isOver(): boolean {
    return this.#closed;
  }

  #isEnding(): boolean {
    return this.#ended;
  }

  #start(): void {
    if (this.#pump !== null) return;
    this.#pump = this.#follow()
      .catch((error: unknown) => this.#deps.log("a turn's card could not be drawn", { error: error instanceof Error ? error.message : String(error) }))
      .finally(() => (this.#pump = null));
  }

  async #follow(): Promise<void> {
    while (this.#wanted !== null && !this.#closed) {
      const state = this.#wanted;
      const { cards, breaks } = layoutTurn(this.#inputOf(state), this.record.breaks, this.#limits(), this.#pages);
      if (breaks.length !== this.record.breaks.length) this.#save({ breaks: [...breaks] });
      for (const [index, card] of cards.entries()) {
        const writer = await this.#open(index, card);
        if (this.#isOver()) return;
        if (typeof writer === "string" || !(writer instanceof CardWriter)) {
          // It will be tried again with the turn's end, which must arrive; before that only where there is something to do better.
          if (typeof writer !== "string" && !this.#learn(writer.refusal)) this.#isMute = true;
          this.#wanted = null;
          return;
        }
        this.#adapt(writer);
        writer.show(card);
      }
      if (this.#wanted === state) this.#wanted = null;
      if (this.#isEnding()) return;
      const hurried = new Promise<void>((resolve) => (this.#hurry = resolve));
      await Promise.race([this.#written(), hurried]);
    }
  }

  /**
   * Drawing is for writing: while a write waits for its turn, its writer asks for the newest state itself. A process that
   * wakes late is too busy: then turns that run are drawn less often, so that those that end come through.
   */
  async #written(): Promise<void> {
    const { clock, writerTimes = WRITER_TIMES } = this.#deps;
    const due = clock.now() + writerTimes.intervalMs;
    await clock.sleep(writerTimes.intervalMs);
    const late = clock.now() - due;
    if (late > LATE_MS) await clock.sleep(Math.min(late * LATE_FACTOR, MOST_LATE_MS));
    await Promise.all([...this.#writers.values()].map((writer) => writer.idle()));
  }

  /** The open card as it is now; null where nothing is new, or what is new needs a further card. */
  #newest(index: number): TurnCard | null {
    const state = this.#wanted;
    if (state === null || this.#ended || index !== this.record.breaks.length) return null;
    const { cards, breaks } = layoutTurn(this.#inputOf(state), this.record.breaks, this.#limits(), this.#pages);
    return breaks.length === this.record.breaks.length ? cards[index]! : null;
  }

  /** What a live refusal teaches holds for all that follows. */
  #adapt(writer: CardWriter): void {
    const refusal = writer.takeRefusal();
    if (refusal !== null) this.#learn(refusal);
  }

  #learn({ kind }: Refusal): boolean {
    const { scale, tables, maskMail } = this.record;
    if (kind === "audit" && !maskMail) this.#save({ maskMail: true });
    else if (kind === "tableLimit" && tables > 0) this.#save({ tables: 0 });
    else if ((kind === "tooLarge" || kind === "tooManyElements") && scale < SCALES.length) this.#save({ scale: scale + 1, breaks: [] });
    else return false;
    return true;
  }

  async #deliverCards(state: TurnState): Promise<DeliveryResult> {
    for (;;) {
      const { cards, breaks } = layoutTurn(this.#inputOf(state), this.record.breaks, this.#limits(), this.#pages);
      this.#save({ breaks: [...breaks] });
      const opened: CardWriter[] = [];
      let refusal: Refusal | null = null;
      for (const [index, card] of cards.entries()) {
        const writer = await this.#open(index, card);
        if (writer === "uncertain") return "later";
        if (!(writer instanceof CardWriter)) {
          ({ refusal } = writer);
          break;
        }
        opened.push(writer);
      }
      if (this.#closed) return "later";
      if (refusal === null) {
        const results = await Promise.all(opened.map((writer, index) => writer.finish(cards[index]!)));
        if (results.every(({ kind }) => kind === "written")) {
          // A card whose message was taken back still takes writes, and nobody sees them.
          if (await this.#isTakenBack(cards.length)) return this.#turnToParts(state);
          await this.#clearSurplus(cards.length, state);
          this.#save({ state: "delivered" });
          await this.#ping(state);
          return "delivered";
        }
        const refused = results.find((result): result is Extract<WriteResult, { kind: "refused" }> => result.kind === "refused");
        if (refused === undefined) return "later";
        ({ refusal } = refused);
      }
      if (isPassing(refusal)) return "later";
      if (this.#learn(refusal)) continue;
      return this.#turnToParts(state);
    }
  }

  /** Best effort: the answer has arrived, this only says so. */
  async #ping({ turn, locale }: TurnState): Promise<void> {
    const { pingAfterMs = 0 } = this.#deps;
    const { mark, startedBy } = this.record;
    if (startedBy === null || pingAfterMs === 0 || turn.durationMs === null || turn.durationMs < pingAfterMs) return;
    const end = `#${mark}.end`;
    await sendOnce(this.#sendDeps(), {
      place: this.record, body: { type: "text", text: `${endWord(turn.status, CARD_TEXTS[locale])} · ${duration(turn.durationMs)} · ${end}` }, uuid: `${mark}-end`, mark: end, triedAt: null, note: () => undefined,
    });
  }

  async #isTakenBack(count: number): Promise<boolean> {
    for (const { messageId } of this.record.cards.slice(0, count)) {
      if (messageId === null) continue;
      const outcome = await this.#deps.port.getMessage(messageId);
      if (outcome.kind === "ok" ? outcome.value.deleted : outcome.kind === "refused" && outcome.refusal.kind === "gone") return true;
    }
    return false;
  }

  /** The cards do not take the answer: they say where it is, and messages of their own carry it. */
  async #turnToParts(state: TurnState): Promise<DeliveryResult> {
    this.#save({ parts: answerParts(this.#inputOf(state)).map(() => ({ form: FORMS[0]!, triedAt: null, messageId: null })) });
    return this.#deliverParts(state);
  }

  async #deliverParts(state: TurnState): Promise<DeliveryResult> {
    await Promise.all(this.record.cards.map((_card, index) => this.#settleCard(index, state)));
    const texts = answerParts(this.#inputOf(state));
    for (const [index, text] of texts.entries()) {
      const result = await this.#deliverPart(index, text);
      if (result !== "delivered") {
        if (result === "undeliverable") this.#save({ state: "undeliverable" });
        return result;
      }
    }
    this.#save({ state: "delivered" });
    return "delivered";
  }

  async #deliverPart(index: number, text: string): Promise<DeliveryResult> {
    const { record } = this;
    const part = (record.parts[index] ??= { form: FORMS[0]!, triedAt: null, messageId: null });
    for (;;) {
      if (part.messageId !== null) return "delivered";
      const mark = `${record.mark}-${index + 1}`;
      const body = await partBody(this.#deps.port, part.form, text, `#${mark}`, record.maskMail);
      const result = body === null ? null : await sendOnce(this.#sendDeps(), {
        place: record, body, mark, uuid: `${mark}-${part.form}`, triedAt: part.triedAt,
        note: (triedAt) => {
          part.triedAt = triedAt;
          this.#save({});
        },
      });
      if (result?.kind === "sent") {
        part.messageId = result.messageId;
        this.#save({});
        continue;
      }
      if (result === null || result.kind === "uncertain" || isPassing(result.refusal)) return "later";
      if (result.refusal.kind === "audit" && !record.maskMail) {
        this.#save({ maskMail: true });
        continue;
      }
      const next = FORMS[FORMS.indexOf(part.form) + 1];
      if (next === undefined || result.refusal.kind === "forbidden") return "undeliverable";
      part.form = next;
      part.triedAt = null;
      this.#save({});
    }
  }

  /** Best effort: a card that was not taken in full must at least not look as if it were running. */
  async #settleCard(index: number, state: TurnState): Promise<void> {
    const card = this.record.cards[index];
    if (card?.cardId == null) return;
    if (card.messageId === null) {
      // Made, and refused when it was sent: nobody sees it, and it must not go on streaming.
      card.sequence += 1;
      this.#save({});
      await this.#deps.port.setCardSettings({ cardId: card.cardId, sequence: card.sequence, streaming: false }, { priority: "final" });
      return;
    }
    const notice = noticeCard(this.#inputOf(state));
    await this.#writerOf(index, card, null, this.#deps.clock.now()).finish(notice);
  }

  /** After a layout in smaller pieces there are never fewer cards, but after one without tables there may be. */
  async #clearSurplus(count: number, state: TurnState): Promise<void> {
    for (let index = count; index < this.record.cards.length; index += 1) await this.#settleCard(index, state);
  }

  /** The card's writer, once the card is in the chat. */
  async #open(index: number, card: TurnCard): Promise<CardWriter | { readonly refusal: Refusal } | "uncertain"> {
    const { port, clock, log } = this.#deps;
    const known = this.record.cards[index] ?? { cardId: null, messageId: null, triedAt: null, sequence: 0 };
    this.record.cards[index] = known;
    let shadow: TurnCard | null = null;
    let openedAt = clock.now();
    for (let tries = 0; known.cardId === null; tries += 1) {
      if (this.#closed || tries > 8) return "uncertain";
      openedAt = clock.now();
      const outcome = await port.createCard(card, { priority: "final" });
      if (this.#isOver()) return "uncertain";
      if (outcome.kind === "ok") {
        known.cardId = outcome.value.cardId;
        shadow = card;
        this.#save({});
      } else if (outcome.kind === "refused" && !outcome.refusal.retryable && outcome.refusal.kind !== "unreachable") {
        log("a card was not made", { kind: outcome.refusal.kind, code: outcome.refusal.code });
        return { refusal: outcome.refusal };
      } else {
        const asked = outcome.kind === "refused" ? (outcome.refusal.retryAfterMs ?? 0) : 0;
        await clock.sleep(Math.max(asked, Math.min(500 * 2 ** tries, 15_000)));
      }
    }
    if (known.messageId === null) {
      const mark = `${this.record.mark}-c${index + 1}`;
      const result = await sendOnce(this.#sendDeps(), {
        place: this.record, body: { type: "cardEntity", cardId: known.cardId }, uuid: mark, triedAt: known.triedAt,
        // A server may list a card as it was sent, by its id, or as what it shows.
        mark: [`#${this.record.mark}.${index + 1}`, JSON.stringify(known.cardId)],
        note: (triedAt) => {
          known.triedAt = triedAt;
          this.#save({});
        },
      });
      if (result.kind === "uncertain" || this.#closed) return "uncertain";
      if (result.kind === "refused") {
        // An entity that is too old, or was sent by a try whose answer is lost for good: another one takes its place.
        if (result.refusal.kind === "gone") known.cardId = null;
        this.#save({});
        return { refusal: result.refusal };
      }
      known.messageId = result.messageId;
      this.#save({});
    }
    return this.#writerOf(index, known, shadow, openedAt);
  }

  #writerOf(index: number, card: CardRecord, shadow: TurnCard | null, openedAt: number): CardWriter {
    const existing = this.#writers.get(index);
    if (existing !== undefined) return existing;
    const { port, clock, log, writerTimes } = this.#deps;
    const writer = new CardWriter({
      port, clock, log, newest: () => this.#newest(index), cardId: card.cardId ?? "", chatId: this.record.chatId, shadow, openedAt, sequence: card.sequence,
      reserve: (sequence) => {
        if (sequence <= card.sequence) return;
        // Gaps are allowed, and each note costs a synchronisation of the disk.
        card.sequence = sequence + SEQUENCES_AHEAD;
        this.#save({});
      },
      ...(writerTimes === undefined ? {} : { times: writerTimes }),
    });
    this.#writers.set(index, writer);
    return writer;
  }

  #inputOf(state: TurnState): TurnCardInput {
    const { maskMail, tables, mark } = this.record;
    return { ...state, maskMail, tables, mark };
  }

  #limits(): CardSize {
    const share = SCALES[Math.min(this.record.scale, SCALES.length) - 1] ?? 1;
    return { ...CARD_LIMITS, bytes: Math.floor(CARD_LIMITS.bytes * share), elements: Math.floor(CARD_LIMITS.elements * share) };
  }

  #sendDeps(): Parameters<typeof sendOnce>[0] {
    const { port, clock, log, sendTimes } = this.#deps;
    return { port, clock, log, times: sendTimes ?? SEND_TIMES, isClosed: () => this.#closed };
  }

  /** After `close` the ledger belongs to whoever takes up the turn: an answer that comes late must not write to it. */
  #save(changes: Partial<TurnRecord>): void {
    Object.assign(this.record, changes);
    if (this.#closed) return;
    this.#deps.table.put(this.record.turnId, this.record);
  }
}
