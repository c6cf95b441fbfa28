import { randomBytes } from "node:crypto";
import type { InteractionAnswer } from "@foldcast/protocol-core/harness";
import { changesOf, fromServerRequest, type InteractionAnswerResult, type InteractionPayload, mayAnswer, payloadInLocale, payloadOf, readEvent, toServerReply } from "@foldcast/protocol-core/interaction";
import type { Locale } from "@foldcast/protocol-core/tools";
import type { RequestId, ServerRequestMethod, ThreadItem } from "@foldcast/protocol-core/wire";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { z } from "zod";
import { plainText } from "../card/markdown/inline.ts";
import type { WriterClock } from "../card/writer.ts";
import { CHANNEL_TEXTS } from "../channel/texts.ts";
import { CHANNEL } from "../client/host-client.ts";
import { type Place, sendOnce, type SendTimes, SEND_TIMES } from "../delivery/sender.ts";
import type { Table } from "../ledger/documents.ts";
import { shapeOf } from "../platform/event-dispatch.ts";
import type { CardActionEvent, CardDocument, FeishuPort, MessageBody, PersonIds } from "../platform/port.ts";
import { formAnswers, hasButton, interactionCard, interactionText, maskedPayload } from "./card.ts";
import type { InteractionRow } from "./row.ts";

export interface DeskDeps {
  readonly port: FeishuPort;
  readonly table: Table<InteractionRow>;
  readonly clock: WriterClock;
  readonly locale: Locale;
  readonly approvers: readonly string[];
  /** Gives a person's answer to the server of a foreign thread. */
  readonly answer: (params: object) => Promise<InteractionAnswerResult>;
  /** Answers a request of native Codex. False: there is no connection, and the answer did not leave. */
  readonly respond: (id: RequestId, result: object) => boolean;
  /** Carries out a command that a button stands for; resolves with what to say. */
  readonly command: (text: string, press: Press) => Promise<string>;
  readonly nameOf: (openId: string, chatId: string) => Promise<string>;
  /** The open id of whoever pressed, by another id where the event has none; null = not known. */
  readonly openIdOf: (ids: PersonIds) => string | null;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly sendTimes?: SendTimes;
}

/** A command's button that was pressed; `topicId`: of the topic that it stands in. */
export interface Press {
  readonly chatId: string;
  readonly topicId: string | null;
  readonly openId: string;
  readonly messageId: string;
  readonly eventId: string;
}

const ButtonValue = z.object({ interaction_id: z.string().min(1).max(64), action_id: z.string().max(200), action_value: z.string().max(4_000) });
/** Feishu shows an error after three seconds; what takes longer is told by the card itself. */
const ANSWER_PATIENCE_MS = 2_000;
const MAX_PATCH_PAUSE_MS = 15_000;
const WHY_PATIENCE_MS = 2_000;

export interface Asked {
  readonly threadId: string;
  readonly place: Place;
  readonly startedBy: string | null;
  readonly item: ThreadItem | null;
}

/** All buttons of the channel: what was asked, who may press, and what became of it. */
export class InteractionDesk {
  readonly #deps: DeskDeps;
  /** What waits, with its thread: asked for at every news of a turn, so not from the ledger. */
  readonly #byRequest = new Map<RequestId, { readonly key: string; readonly threadId: string | null }>();
  /** Cards with a click that waits: what is written to them before it is answered is lost. */
  readonly #clicked = new Set<string>();
  /** Cards on their way into the chat. */
  readonly #sending = new Set<string>();
  #closed = false;
  /** What the server told of a request while an answer of ours was on its way. */
  readonly #told = new Map<string, { readonly outcome: string; readonly by: string | null }>();

  constructor(deps: DeskDeps) {
    this.#deps = deps;
    for (const [key, row] of deps.table.all()) if (row.requestId !== null && row.state !== "settled") this.#byRequest.set(row.requestId, { key, threadId: row.threadId });
  }

  /** Notes anew what waits, which is not old then. */
  renew(): void {
    for (const { key } of this.#byRequest.values()) this.#change(key, {});
  }

  /** Forgets what is older, or more, than anybody can still press. */
  prune(before: number, keep: number): void {
    this.#deps.table.prune(before, keep);
  }

  /** Writes nothing more: the ledger may be closed. */
  close(): void {
    this.#closed = true;
  }

  /** How many requests of this thread wait. */
  openOf(threadId: string): number {
    let count = 0;
    for (const open of this.#byRequest.values()) if (open.threadId === threadId) count += 1;
    return count;
  }

  /** A request of the server. False when it is of a kind that cannot be shown. One that comes again keeps its card. */
  ask(id: RequestId, method: string, params: unknown, { threadId, place, startedBy, item }: Asked): boolean {
    if (!isJsonObject(params)) return false;
    const own = isJsonObject(params["foldcast"]) ? (params["foldcast"]["interaction"] as InteractionPayload | undefined) : undefined;
    const read = fromServerRequest(method, params, item);
    const here = read === null ? null : payloadOf(read, { interactionId: own?.interactionId ?? String(id), expiresAt: own?.expiresAt ?? null, locale: this.#deps.locale, changes: changesOf(read, item) });
    const payload = own === undefined ? here : here !== null && saysTheSame(here, own) ? here : payloadInLocale(own, this.#deps.locale);
    if (payload === null) return false;
    const known = this.#byRequest.get(id)?.key;
    const row = known === undefined ? null : this.#row(known);
    // The ledger may have forgotten it.
    if (known !== undefined && row !== null) {
      if (row.state === "answering") this.#put(known, { ...row, state: "open" });
      // An earlier process, or a bad hour of Feishu's, has left it without a card.
      if (row.messageId === null) void this.#send(known, place);
      return true;
    }
    this.open(payload, { requestId: id, native: own === undefined ? { method, params } : null, threadId, place, startedBy });
    return true;
  }

  /** Puts a card up. Resolves when it is in the chat, or cannot be. */
  open(payload: InteractionPayload, to: { readonly requestId: RequestId | null; readonly native: { readonly method: string; readonly params: unknown } | null; readonly threadId: string | null; readonly place: Place; readonly startedBy: string | null }): void {
    const key = `i${randomBytes(12).toString("hex")}`;
    const row: InteractionRow = {
      requestId: to.requestId, native: to.native === null ? null : { method: to.native.method, params: to.native.params }, threadId: to.threadId, chatId: to.place.chatId, messageId: null, triedAt: null,
      startedBy: to.startedBy, expiresAt: payload.expiresAt, payload, state: "open", outcome: null, by: null, shown: false, form: "card", maskMail: false, answers: {},
    };
    this.#put(key, row);
    if (to.requestId !== null) this.#byRequest.set(to.requestId, { key, threadId: to.threadId });
    void this.#send(key, to.place);
  }

  async #send(key: string, place: Place): Promise<void> {
    if (this.#sending.has(key)) return;
    this.#sending.add(key);
    try {
      await this.#sendForms(key, place);
    } finally {
      this.#sending.delete(key);
    }
  }

  /** As a card, else as text with lines to type; again and again as long as nobody can say whether it arrived. */
  async #sendForms(key: string, place: Place): Promise<void> {
    const { port, clock, log, sendTimes } = this.#deps;
    const times = sendTimes ?? SEND_TIMES;
    for (let row = this.#row(key); row !== null && row.messageId === null; row = this.#row(key)) {
      const { form, maskMail } = row;
      const result = await sendOnce({ port, clock, log, times, isClosed: () => this.#closed }, {
        place, body: this.#body(key, row), uuid: `${key}-${form[0]!}${maskMail ? "m" : ""}`, mark: key.slice(0, 10), triedAt: row.triedAt, note: (triedAt) => this.#change(key, { triedAt }),
      });
      if (result.kind === "sent") {
        this.#change(key, { messageId: result.messageId });
        // It may have been settled while it was on its way.
        if (this.#row(key)?.state === "settled") void this.#showSettled(key);
      } else if (result.kind === "uncertain") {
        if (this.#row(key)?.state === "settled") return;
        await clock.sleep(times.maxBackoffMs);
      } else if (result.refusal.kind === "audit" && !maskMail) this.#change(key, { maskMail: true, triedAt: null });
      else if (form === "card") this.#change(key, { form: "text", triedAt: null });
      else return;
    }
  }

  #body(key: string, row: InteractionRow): MessageBody {
    return row.form === "card" ? { type: "card", card: this.#card(key, row) } : { type: "text", text: interactionText(key, shownPayload(row), this.#deps.locale) };
  }

  /**
   * Codex's own word that a request is over, without a why. Of a foreign thread the server's other notification says
   * more, before or after it; it is waited for, not for ever.
   */
  gone(requestId: RequestId): void {
    const key = this.#byRequest.get(requestId)?.key;
    if (key === undefined) return;
    if (this.#row(key)?.native !== null) return this.resolved(requestId, "elsewhere", null);
    void this.#deps.clock.sleep(WHY_PATIENCE_MS).then(() => this.resolved(requestId, "elsewhere", null));
  }

  /** The server says that a request is over. `outcome`: a key of the texts' outcomes. */
  resolved(requestId: RequestId, outcome: string, by: string | null): void {
    const key = this.#byRequest.get(requestId)?.key;
    if (key === undefined) return;
    // Our own answer may be the one: whoever gave it is known there.
    if (this.#row(key)?.state === "answering") this.#told.set(key, this.#told.get(key) ?? { outcome, by });
    else this.#settle(key, outcome, by);
  }

  /** Requests of a thread that the server did not ask again after a new connection are over. */
  expireAllBut(threadId: string, asked: ReadonlySet<RequestId>): void {
    for (const [requestId, open] of [...this.#byRequest]) if (open.threadId === threadId && !asked.has(requestId)) this.#settle(open.key, "expired", null);
  }

  /** After a start: cards whose end was not shown yet. */
  repair(): void {
    for (const [key, row] of this.#deps.table.all()) if (row.state === "settled" && !row.shown && row.messageId !== null) void this.#showSettled(key);
  }

  /** A press of any button of the channel's cards. Never rejects. */
  async click(event: CardActionEvent): Promise<void> {
    const key = ButtonValue.safeParse(event.action.value).data?.interaction_id ?? "";
    this.#clicked.add(key);
    try {
      await this.#click(event);
    } finally {
      this.#clicked.delete(key);
      if (this.#row(key)?.state === "settled") void this.#showSettled(key);
    }
  }

  /** A click. Answered within three seconds, whatever happens; every refusal says why. */
  async #click(event: CardActionEvent): Promise<void> {
    const { locale } = this.#deps;
    const { toast } = CHANNEL_TEXTS[locale];
    const read = ButtonValue.safeParse(event.action.value);
    if (!read.success) {
      this.#deps.log("a click of an unknown form", { value: shapeOf(event.action.value) });
      return this.#reply(event, { toast: { type: "warning", content: toast.unknown } });
    }
    const { interaction_id: key, action_id: actionId, action_value: actionValue } = read.data;
    const row = this.#row(key);
    const openId = this.#deps.openIdOf(event.operator);
    if (row === null || openId === null || row.chatId !== event.chatId || (row.messageId !== null && row.messageId !== event.messageId)) {
      return this.#reply(event, { toast: { type: "warning", content: toast.unknown } });
    }
    if (!this.#mayPress(row, openId)) return this.#reply(event, { toast: { type: "error", content: toast.refused } });
    if (!hasButton(row.payload, actionId, actionValue)) return this.#reply(event, { toast: { type: "warning", content: toast.invalid } });
    if (row.requestId === null && row.payload.kind === "command") {
      const said = this.#deps.command(actionValue, { chatId: row.chatId, topicId: row.threadId, openId, messageId: event.messageId, eventId: event.eventId });
      const inTime = await this.#withinPatience(said);
      return this.#reply(event, { toast: { type: "info", content: (inTime ?? toast.working).slice(0, 200) } });
    }
    if (row.state === "settled") return this.#reply(event, { toast: { type: "info", content: toast.late }, card: this.#card(key, row) });
    if (row.state === "answering") return this.#reply(event, { toast: { type: "info", content: toast.late } });
    const value = event.action.formValue === null || actionId === "deny" ? actionValue : JSON.stringify(formAnswers(row.payload, event.action.formValue));
    this.#change(key, { state: "answering" });
    const working = this.#take(key, row, { actionId: event.action.formValue === null || actionId === "deny" ? actionId : "submit", actionValue: value, openId, at: event.createTimeMs });
    const result = await this.#withinPatience(working);
    if (result === null) return this.#reply(event, { toast: { type: "info", content: toast.working } });
    const now = this.#row(key) ?? row;
    await event.respond({
      toast: { type: result.status === "accepted" ? "success" : result.status === "refused" || result.status === "invalid" ? "error" : "info", content: result.status === "accepted" && result.open.length > 0 ? toast.partial : toast[result.status] },
      ...(now.state === "settled" ? { card: this.#card(key, now) } : {}),
    });
  }

  /** A typed answer `/_interaction <key> <value>`: the same gate and way as for a button. Null: the id is none of ours. */
  async typed(key: string, value: string, from: { readonly chatId: string; readonly openId: string; readonly at: number }): Promise<string | null> {
    const { toast } = CHANNEL_TEXTS[this.#deps.locale];
    const row = this.#row(key);
    if (row === null || row.chatId !== from.chatId || row.requestId === null) return null;
    if (!this.#mayPress(row, from.openId)) return toast.refused;
    if (row.state !== "open") return toast.late;
    this.#change(key, { state: "answering" });
    const result = await this.#take(key, row, { actionId: "", actionValue: value, openId: from.openId, at: from.at });
    return result.status === "accepted" && result.open.length > 0 ? toast.partial : toast[result.status];
  }

  async #reply(event: CardActionEvent, answer: Parameters<CardActionEvent["respond"]>[0]): Promise<void> {
    await event.respond(answer);
  }

  #mayPress(row: InteractionRow, openId: string): boolean {
    const startedBy = row.startedBy === null ? null : { channel: CHANNEL, chatId: row.chatId, senderId: row.startedBy };
    return mayAnswer({ channel: CHANNEL, chatId: row.chatId, senderId: openId }, startedBy, this.#deps.approvers);
  }

  async #take(key: string, row: InteractionRow, given: { readonly actionId: string; readonly actionValue: string; readonly openId: string; readonly at: number }): Promise<InteractionAnswerResult> {
    const result = row.native === null ? await this.#ofServer(row, given) : this.#ofNative(key, row, row.native, given);
    if (result.status === "accepted" && result.open.length === 0) {
      const by = await this.#deps.nameOf(given.openId, row.chatId);
      this.#settle(key, outcomeOf(given), by);
    } else if (result.status === "late" || result.status === "expired" || result.status === "unknown") {
      const told = this.#told.get(key) ?? { outcome: result.status === "late" ? "elsewhere" : result.status, by: null };
      this.#settle(key, told.outcome, told.by);
    } else if (this.#told.has(key)) this.#settle(key, this.#told.get(key)!.outcome, this.#told.get(key)!.by);
    else if (this.#row(key)?.state === "answering") this.#change(key, { state: "open" });
    this.#told.delete(key);
    return result;
  }

  async #ofServer(row: InteractionRow, { actionId, actionValue, openId, at }: { readonly actionId: string; readonly actionValue: string; readonly openId: string; readonly at: number }): Promise<InteractionAnswerResult> {
    try {
      return await this.#deps.answer({ interactionId: String(row.requestId), actionId, actionValue, channel: CHANNEL, chatId: row.chatId, senderId: openId, timestamp: at, metadata: {} });
    } catch (error) {
      this.#deps.log("an answer did not reach the server", { reason: error instanceof Error ? error.message : String(error) });
      return { status: "invalid", message: "", open: [], command: null };
    }
  }

  #ofNative(key: string, row: InteractionRow, { method, params }: { readonly method: string; readonly params?: unknown }, { actionId, actionValue }: { readonly actionId: string; readonly actionValue: string }): InteractionAnswerResult {
    const request = fromServerRequest(method, params, null);
    const read = request === null ? null : readEvent(request, { actionId, actionValue, metadata: {} }, row.answers);
    if (read?.kind === "partial") {
      this.#change(key, { answers: { ...read.answers } });
      return { status: "accepted", message: "", open: read.open, command: null };
    }
    if (read?.kind !== "answer") return { status: "invalid", message: "", open: [], command: null };
    const answer: InteractionAnswer = read.answer;
    const sent = this.#deps.respond(row.requestId!, toServerReply(method as ServerRequestMethod, params, answer));
    return { status: sent ? "accepted" : "invalid", message: "", open: [], command: null };
  }

  #settle(key: string, outcome: string, by: string | null): void {
    const row = this.#row(key);
    if (row === null || row.state === "settled") return;
    if (row.requestId !== null) this.#byRequest.delete(row.requestId);
    this.#put(key, { ...row, state: "settled", outcome, by, shown: false });
    if (!this.#clicked.has(key)) void this.#showSettled(key);
  }

  /** A card by the message's id: silent, idempotent, good for fourteen days. A text cannot be changed so: another one follows it. */
  async #showSettled(key: string): Promise<void> {
    if (this.#closed) return;
    const { port, clock } = this.#deps;
    for (let tries = 0; !this.#isOver(); tries += 1) {
      const row = this.#row(key);
      if (row?.messageId == null || row.shown) return;
      const options = { chatId: row.chatId, priority: "final" } as const;
      const outcome = row.form === "card"
        ? await port.patchMessageCard(row.messageId, this.#card(key, row), options)
        : await port.replyMessage({ messageId: row.messageId, body: { type: "text", text: plainText(settledLine(row, this.#deps.locale)) }, inThread: false, uuid: `${key}-s` }, options);
      if (this.#isOver()) return;
      if (outcome.kind === "refused" && outcome.refusal.kind === "audit" && !row.maskMail) {
        this.#change(key, { maskMail: true });
        continue;
      }
      // Buttons that look as if they were good stay until Feishu has said yes or no, however long it is away.
      if (outcome.kind === "ok" || (outcome.kind === "refused" && !outcome.refusal.retryable && outcome.refusal.kind !== "unauthorized")) return this.#change(key, { shown: true });
      await clock.sleep(Math.min(400 * 2 ** Math.min(tries, 10), MAX_PATCH_PAUSE_MS));
    }
  }

  #isOver(): boolean {
    return this.#closed;
  }

  #card(key: string, row: InteractionRow): CardDocument {
    const { locale, clock } = this.#deps;
    const minutes = row.expiresAt === null ? null : Math.max(1, Math.round((row.expiresAt - clock.now()) / 60_000));
    const outcome = outcomeWord(row, locale);
    return interactionCard({ key, payload: shownPayload(row), locale, settled: outcome === null ? null : { outcome, by: row.by }, expiresInMinutes: minutes });
  }

  async #withinPatience<T>(work: Promise<T>): Promise<T | null> {
    return Promise.race([work.catch(() => null), new Promise<null>((resolve) => setTimeout(() => resolve(null), ANSWER_PATIENCE_MS))]);
  }

  #change(key: string, changes: Partial<InteractionRow>): void {
    const row = this.#row(key);
    if (row !== null) this.#put(key, { ...row, ...changes });
  }

  /** After the end the ledger may be closed: then nothing is there, and nothing is put. */
  #row(key: string): InteractionRow | null {
    return this.#closed ? null : this.#deps.table.get(key);
  }

  #put(key: string, row: InteractionRow): void {
    if (!this.#closed) this.#deps.table.put(key, row);
  }
}

function shownPayload({ payload, maskMail: isMasked }: InteractionRow): InteractionPayload {
  return isMasked ? maskedPayload(payload) : payload;
}

function outcomeWord({ outcome }: InteractionRow, locale: Locale): string | null {
  return outcome === null ? null : ((CHANNEL_TEXTS[locale].outcomes as Readonly<Record<string, string>>)[outcome] ?? outcome);
}

function settledLine(row: InteractionRow, locale: Locale): string {
  return [outcomeWord(row, locale) ?? "", ...(row.by === null ? [] : [CHANNEL_TEXTS[locale].settledBy(row.by)])].join(" · ");
}

function outcomeOf({ actionValue }: { readonly actionValue: string }): string {
  const word = actionValue.trim().split(/\s/)[0] ?? "";
  return word === "approve" || word === "deny" || word === "always" ? word : "answered";
}

/** The server's payload is in its own language; one that is made here from the same request may stand for it where nothing is lost. */
function saysTheSame(here: InteractionPayload, own: InteractionPayload): boolean {
  const shape = ({ kind, actions, fields }: InteractionPayload): string => JSON.stringify([kind, actions.map(({ id, value }) => [id, value]), fields.map(({ id, options }) => [id, options.map(({ value }) => value)])]);
  const lines = ({ body }: InteractionPayload): number => body.split("\n").length;
  return shape(here) === shape(own) && lines(here) >= lines(own);
}
