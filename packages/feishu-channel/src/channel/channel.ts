import { join } from "node:path";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import type { InteractionAnswerResult, InteractionPayload } from "@foldcast/protocol-core/interaction";
import { parseInteractionCommand } from "@foldcast/protocol-core/interaction";
import type { Notification, RequestId, Thread, ThreadItem, UserInput } from "@foldcast/protocol-core/wire";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { z } from "zod";
import { InteractionDesk, type Press } from "../approvals/desk.ts";
import { InteractionRow } from "../approvals/row.ts";
import type { WriterClock } from "../card/writer.ts";
import { HostClient } from "../client/host-client.ts";
import { TurnRecord } from "../delivery/record.ts";
import type { Place } from "../delivery/sender.ts";
import { type Approach, isWithin, judge, limitsOf, type Verdict } from "../inbound/access.ts";
import { type CommandName, readTyped } from "../inbound/command.ts";
import { mentionsBot, readContent } from "../inbound/message.ts";
import type { Documents, Table } from "../ledger/documents.ts";
import type { CardActionEvent, FeishuEvent, FeishuPort, MessageReceivedEvent } from "../platform/port.ts";
import { takeAttachment } from "./attachments.ts";
import { Beginning, Binding, InboxRow, sessionKey } from "./binding.ts";
import { folderOf, modelOfNewThread, runCommand } from "./commands.ts";
import type { FeishuSettings } from "./config.ts";
import { whyNot, wordsOf } from "./errors.ts";
import type { Follower } from "./follower.ts";
import { Followers } from "./followers.ts";
import { sendPrompt } from "./prompting.ts";
import { nameOf, type SaidTo, say } from "./saying.ts";
import { CHANNEL_TEXTS } from "./texts.ts";

export interface ChannelOptions {
  readonly port: FeishuPort;
  readonly connect: () => Promise<ClientTransport>;
  readonly documents: Pick<Documents, "table">;
  readonly settings: FeishuSettings;
  /** Where files that people send are kept. */
  readonly dataDir: string;
  readonly version: string;
  readonly clock: WriterClock;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const MAX_SEEN = 20_000;
const PRUNE_EVERY_MS = 3_600_000;
const OWNER = "owner";
/** Characters. */
const MAX_TOAST = 120;
const READY_MS = 20_000;
const SETTLE_STEP_MS = 50;
/** The Feishu channel: a client of the server on one side, the bot of an app on the other. */
export class FeishuChannel {
  readonly #options: ChannelOptions;
  readonly #client: HostClient;
  readonly #desk: InteractionDesk;
  readonly #bindings: Table<Binding>;
  readonly #inbox: Table<InboxRow>;
  readonly #turns: Table<TurnRecord>;
  readonly #beginnings: Table<Beginning>;
  /** Message → its thread: a reply to an old card finds it. */
  readonly #facts: Table<string>;
  /** Other ids of people → their open id. For good: who only presses buttons would be unknown again, else. */
  readonly #people: Table<string>;
  /** Who claimed the bot. For good: whoever writes next would own it, else. */
  readonly #owner: Table<string>;
  readonly #followers: Followers;
  readonly #queues = new Map<string, Promise<void>>();
  #botOpenId = "";
  #prunedAt = 0;
  #ticker: NodeJS.Timeout | null = null;
  #closed = false;
  /** Messages that an earlier process has begun to carry out. */
  readonly #recovered = new Set<string>();

  constructor(options: ChannelOptions) {
    this.#options = options;
    const { documents, settings, log, clock } = options;
    // Two apps in one chat get the same messages under the same ids.
    const table = <T>(kind: string, schema: z.ZodType<T>): Table<T> => documents.table(`${settings.appId}/${kind}`, schema);
    this.#bindings = table("binding", Binding);
    this.#inbox = table("inbox", InboxRow);
    this.#turns = table("turn", TurnRecord);
    this.#facts = table("fact", z.string());
    this.#people = table("person", z.string());
    this.#owner = table("owner", z.string());
    this.#beginnings = table("beginning", Beginning);
    this.#client = new HostClient({
      connect: options.connect, version: options.version, approvers: settings.approvers, log, sleep: (ms) => clock.sleep(ms),
      onConnected: () => this.#followers.rejoin(),
      onNotification: (method, params) => this.#onNotification(method, params),
      onRequest: (id, method, params) => this.#onRequest(id, method, params),
    });
    this.#desk = new InteractionDesk({
      port: options.port, table: table("interaction", InteractionRow), clock, locale: settings.locale, approvers: settings.approvers, log,
      answer: (params) => this.#client.request<InteractionAnswerResult>("foldcast/interaction/answer", params),
      respond: (id, result) => this.#client.respond(id, result),
      command: (text, press) => this.#pressCommand(text, press),
      openIdOf: ({ openId, userId, unionId }) => openId ?? [userId, unionId].flatMap((id) => (id === null ? [] : [this.#people.get(id)])).find((id) => id !== null) ?? null,
      nameOf: (openId, chatId) => nameOf(openId, chatId, options.port),
    });
    this.#followers = new Followers({
      port: options.port, clock, log, settings, desk: this.#desk, turns: this.#turns, bindings: this.#bindings, beginnings: this.#beginnings,
      request: (method, params, read) => this.#client.request(method, params, read),
    });
  }

  /** Connects both sides, then takes up what an earlier process has left. Rejects when one side cannot be reached. */
  async start(): Promise<void> {
    const { port, settings, clock } = this.#options;
    await this.#client.start();
    const bot = await port.botInfo();
    // Without its own id the bot would take no mention for one.
    if (bot.kind !== "ok") throw new Error(whyNot(bot));
    this.#botOpenId = bot.value.openId;
    this.#prune();
    await port.start((event) => this.#onEvent(event));
    await this.#connected();
    this.#desk.repair();
    for (const [, row] of this.#inbox.all()) if (row.state === "waiting") {
      this.#recovered.add(row.messageId);
      this.#enqueue(row);
    }
    this.#ticker = setInterval(() => {
      this.#followers.tick();
      if (clock.now() - this.#prunedAt < PRUNE_EVERY_MS) return;
      // What waits for a person may wait long.
      this.#followers.renew();
      this.#desk.renew();
      this.#prune();
    }, settings.idleMs);
  }

  /** Takes out of the ledger what nobody needs any more: a process may run for months. */
  #prune(): void {
    const { clock, settings } = this.#options;
    this.#prunedAt = clock.now();
    const oldest = this.#prunedAt - settings.ledgerAgeMs;
    for (const table of [this.#inbox, this.#facts, this.#turns, this.#beginnings, this.#desk]) table.prune(oldest, MAX_SEEN);
  }

  /** Ready means that messages arrive. One that cannot be reached is tried for ever, and the log says why. */
  async #connected(): Promise<void> {
    const { port, clock } = this.#options;
    for (let waited = 0; port.connection().state !== "connected" && waited < READY_MS; waited += 50) await clock.sleep(50);
    const { state, reason } = port.connection();
    if (state !== "connected") this.#options.log("Feishu is not connected yet", { reason });
  }

  /** Waits until the answers of turns that are over have arrived, at most so long. */
  async settle(patienceMs: number): Promise<void> {
    const { clock } = this.#options;
    for (let waited = 0; waited < patienceMs && this.#followers.owe; waited += SETTLE_STEP_MS) await clock.sleep(SETTLE_STEP_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#ticker !== null) clearInterval(this.#ticker);
    this.#followers.close();
    this.#desk.close();
    this.#client.close();
    await this.#options.port.close();
  }

  // --- the server's side

  #onNotification(method: string, params: unknown): void {
    if (!isJsonObject(params)) return;
    if (method === "foldcast/interaction/resolved") return this.#onResolved(params);
    const threadId = typeof params["threadId"] === "string" ? params["threadId"] : "";
    const follower = this.#followers.get(threadId);
    this.#followers.hear(method, threadId);
    if (method === "serverRequest/resolved") {
      if (typeof params["requestId"] === "string" || typeof params["requestId"] === "number") this.#desk.gone(params["requestId"]);
      return follower?.tick();
    }
    if (method === "foldcast/interaction/opened" && follower !== undefined) {
      const { interaction, turnId } = params;
      if (isJsonObject(interaction)) this.#onRequest(String(interaction["interactionId"]), method, { ...params, turnId, foldcast: { interaction } });
      return;
    }
    // Of a method that the view does not know, it changes nothing.
    follower?.notify({ method, params } as unknown as Notification);
  }

  #onResolved({ requestId, how, by, answer }: Readonly<Record<string, unknown>>): void {
    if (typeof requestId !== "string") return;
    const decision = isJsonObject(answer) ? answer["decision"] : undefined;
    const words: Readonly<Record<string, string>> = { accept: "approve", acceptForSession: "always", decline: "deny", cancel: "deny" };
    const outcome = how === "answered" ? (words[String(decision)] ?? "answered") : how === "expired" || how === "restarted" ? "expired" : how === "skipped" ? "skipped" : how === "interrupted" ? "interrupted" : "elsewhere";
    const client = isJsonObject(by) && typeof by["client"] === "string" && by["client"] !== "foldcast-feishu" ? by["client"] : null;
    this.#desk.resolved(requestId, outcome, client);
  }

  #onRequest(id: RequestId, method: string, params: unknown): void {
    const given = isJsonObject(params) ? params : {};
    const threadId = typeof given["threadId"] === "string" ? given["threadId"] : "";
    const follower = this.#followers.get(threadId);
    if (follower === undefined) return this.#client.refuse(id, "no chat follows this thread");
    const turnId = typeof given["turnId"] === "string" ? given["turnId"] : "";
    const item = this.#itemOf(follower, turnId, given["itemId"]);
    follower.asked.add(id);
    const shown = this.#desk.ask(id, method, params, { threadId, place: follower.placeOf(turnId), startedBy: follower.startedBy(turnId), item });
    if (!shown) return this.#client.refuse(id, `a chat cannot answer ${method}`);
    follower.tick();
  }

  #itemOf(follower: Follower, turnId: string, itemId: unknown): ThreadItem | null {
    return typeof itemId === "string" ? (follower.view.turns.get(turnId)?.items.get(itemId)?.item ?? null) : null;
  }

  // --- Feishu's side

  /** Notes the event durably and returns: it is acknowledged when this settles. */
  #onEvent(event: FeishuEvent): void | Promise<void> {
    if (event.type === "message") return this.#onMessage(event);
    if (event.type === "cardAction") return this.#onClick(event);
  }

  #onMessage(event: MessageReceivedEvent): void {
    if (event.sender.kind !== "user") return;
    const row: InboxRow = {
      state: "waiting", messageId: event.messageId, chatId: event.chatId, chatType: event.chatType, openId: event.sender.openId, createTimeMs: event.createTimeMs, messageType: event.messageType,
      content: event.content, mentions: event.mentions.map((mention) => ({ ...mention })), rootId: event.rootId, parentId: event.parentId, threadId: event.threadId,
    };
    this.#notePerson(event.sender);
    // Events come twice and late; the first one is carried out.
    if (this.#inbox.claim(event.messageId, row)) this.#enqueue(row);
  }

  /** Some clicks carry no open id: then the person is known by another id of a message of theirs. */
  #notePerson({ openId, userId, unionId }: MessageReceivedEvent["sender"]): void {
    for (const id of [userId, unionId]) if (openId !== null && id !== null && this.#people.get(id) === null) this.#people.put(id, openId);
  }

  /** Messages of one session one after the other, of different ones side by side. */
  #enqueue(row: InboxRow): void {
    const key = sessionKey(row);
    const before = this.#queues.get(key) ?? Promise.resolve();
    const work = before.then(() => this.#carryOut(row)).catch((error: unknown) => this.#complain(row, error));
    this.#queues.set(key, work);
    void work.finally(() => {
      if (this.#closed) return;
      // What was carried out needs no words any more: only that it was seen.
      this.#inbox.put(row.messageId, { ...row, state: "done", content: "", mentions: [] });
      if (this.#queues.get(key) === work) this.#queues.delete(key);
    });
  }

  async #complain(row: InboxRow, error: unknown): Promise<void> {
    this.#options.log("a message could not be carried out", { reason: wordsOf(error) });
    await this.#say(row, this.#texts.failed(wordsOf(error)));
  }

  get #texts(): (typeof CHANNEL_TEXTS)["zh"] {
    return CHANNEL_TEXTS[this.#options.settings.locale];
  }

  async #carryOut(row: InboxRow): Promise<void> {
    const { settings, clock } = this.#options;
    const { openId } = row;
    const verdict = this.#judge({ openId, chatId: row.chatId, isDirect: row.chatType === "p2p", mentionsBot: mentionsBot(row.mentions, this.#botOpenId) });
    if (verdict === "ignored" || openId === null) return;
    const content = readContent(row, this.#botOpenId);
    const typed = readTyped(content.text);
    // The line that stands for a button is theirs who may press.
    const isApproving = typed.kind === "interaction" && content.attachments.length === 0 && settings.approvers.includes(openId);
    if (verdict === "refused" && !isApproving) return this.#say(row, this.#texts.refused(openId));
    if (verdict === "claims") {
      this.#owner.put(OWNER, openId);
      await this.#say(row, this.#texts.claimed);
    }
    if (row.createTimeMs > 0 && clock.now() - row.createTimeMs > settings.staleMs) return this.#wasBegun(row) ? undefined : this.#say(row, this.#texts.stale);
    if (content.unsupported !== null) return this.#say(row, this.#texts.unsupported(content.unsupported));
    if (content.attachments.length === 0) {
      if (typed.kind === "command") return this.#runCommand(row, openId, typed.name, typed.argument);
      if (typed.kind === "unknownCommand") return this.#say(row, this.#texts.unknownCommand(typed.name));
      if (typed.kind === "interaction") return this.#answerTyped(row, openId, typed.text);
      if (typed.text === "") return;
    }
    const input: UserInput[] = typed.kind === "text" && typed.text !== "" ? [{ type: "text", text: typed.text, text_elements: [] }] : [];
    for (const attachment of content.attachments) {
      const taken = await takeAttachment(this.#options.port, join(this.#options.dataDir, "feishu-files"), row.messageId, attachment);
      if (taken === null) await this.#say(row, this.#texts.notTaken);
      else input.push(taken);
    }
    if (input.length > 0) await this.#prompt(row, openId, input);
  }

  #judge(approach: Omit<Approach, "owner">): Verdict {
    const { allowUsers: users, allowChats: chats, claim, groups } = this.#options.settings;
    return judge({ users, chats, claim, groups }, { ...approach, owner: this.#owner.get(OWNER) });
  }

  /** By an earlier process, which did not come to note that the message was carried out. */
  #wasBegun({ messageId }: InboxRow): boolean {
    return this.#recovered.has(messageId) && this.#turns.all().some(([, { replyTo }]) => replyTo === messageId);
  }

  async #answerTyped(row: InboxRow, openId: string, text: string): Promise<void> {
    const command = parseInteractionCommand(text);
    const said = command === null ? null : await this.#desk.typed(command.interactionId, command.value, { chatId: row.chatId, openId, at: row.createTimeMs });
    await this.#say(row, said ?? this.#texts.toast.unknown);
  }

  async #prompt(row: InboxRow, openId: string, input: readonly UserInput[]): Promise<void> {
    const { messageId, chatId } = row;
    const follower = await this.#threadFor(row);
    await sendPrompt(follower, { messageId, chatId, openId, inThread: row.threadId !== null, input, isRecovered: this.#recovered.has(messageId) }, {
      request: (method, params) => this.#client.request(method, params),
      beginnings: this.#beginnings,
      noteThread: (threadId) => this.#facts.put(`message:${messageId}`, threadId),
      sayQueued: () => this.#say(row, this.#texts.queued),
      sleep: (ms) => this.#options.clock.sleep(ms),
    });
  }

  /** Begins a turn in a chat by itself, as for a message of nobody. Rejects with the server's words. */
  async promptIn(chatId: string, text: string): Promise<void> {
    const row: InboxRow = { state: "done", messageId: "", chatId, chatType: "group", openId: null, createTimeMs: 0, messageType: "text", content: "", mentions: [], rootId: null, parentId: null, threadId: null };
    const follower = await this.#threadFor(row);
    await this.#client.request("turn/start", { threadId: follower.view.id, input: [{ type: "text", text, text_elements: [] }] });
  }

  /** The thread that a message belongs to: the one of the card it replies to, the session's own, or a new one. */
  async #threadFor(row: InboxRow): Promise<Follower> {
    const key = sessionKey(row);
    const binding = this.#bindingOf(row);
    const repliedTo = [row.parentId, row.rootId].flatMap((id) => (id === null ? [] : [this.#threadOfMessage(id)])).find((id) => id !== null) ?? null;
    const threadId = repliedTo ?? binding.threadId;
    if (threadId !== null) {
      const follower = repliedTo === null ? await this.#followers.joinBound(threadId, binding) : await this.#followers.join(threadId, false, binding);
      if (follower !== null && this.#isFor(follower, row.chatId)) {
        if (binding.threadId !== threadId) this.#bindings.put(key, { ...binding, threadId });
        return follower;
      }
      if (repliedTo !== null) throw new Error(this.#texts.notHere);
    }
    const { settings } = this.#options;
    const limits = limitsOf(settings, row.chatId);
    const model = await modelOfNewThread(binding.model ?? settings.defaultModel, limits.models, (method, params) => this.#client.request(method, params));
    const opened = await this.#client.request<{ thread: Thread; model: string | null }>("thread/start", { cwd: folderOf(binding, limits), ...(model === null ? {} : { model }) });
    const next = { ...this.#bindingOf(row), threadId: opened.thread.id };
    this.#bindings.put(key, next);
    return this.#followers.follow(opened.thread, opened.model, next);
  }

  /** Limits that a chat was given later hold for the thread that it has, too. */
  #isFor({ cwd, model }: Follower, chatId: string): boolean {
    const limits = limitsOf(this.#options.settings, chatId);
    return !limits.isOwn || isWithin(limits, { cwd, model });
  }

  #threadOfMessage(messageId: string): string | null {
    const card = this.#turns.all().find(([, record]) => record.cards.some((one) => one.messageId === messageId) || record.parts.some((one) => one.messageId === messageId))?.[1];
    return card?.threadId ?? this.#facts.get(`message:${messageId}`);
  }

  #bindingOf(row: Pick<InboxRow, "chatId" | "threadId" | "messageId">): Binding {
    return this.#bindings.get(sessionKey(row)) ?? { chatId: row.chatId, anchor: row.threadId === null ? null : row.messageId, inThread: row.threadId !== null, threadId: null, model: null, cwd: null };
  }

  async #runCommand(row: InboxRow, openId: string, name: CommandName, argument: string): Promise<void> {
    const said = await this.#command(row, openId, name, argument, { chatId: row.chatId, replyTo: row.messageId, inThread: row.threadId !== null });
    if (said !== null) await this.#say(row, said);
  }

  #command(row: Pick<InboxRow, "chatId" | "threadId" | "messageId">, openId: string, name: CommandName, argument: string, place: Place): Promise<string | null> {
    const { settings } = this.#options;
    const key = sessionKey(row);
    const binding = this.#bindingOf(row);
    const limits = limitsOf(settings, row.chatId);
    return runCommand(name, argument, {
      request: (method, params) => this.#client.request(method, params),
      texts: this.#texts, binding, defaultModel: settings.defaultModel, limits, isNamed: !limits.isOwn && this.#isNamed(openId),
      bind: (changes) => this.#bindings.put(key, { ...this.#bindingOf(row), ...changes }),
      follower: async () => {
        const follower = binding.threadId === null ? null : await this.#followers.joinBound(binding.threadId, binding);
        return follower !== null && this.#isFor(follower, row.chatId) ? follower : null;
      },
      offer: (payload: InteractionPayload) => this.#desk.open(payload, { requestId: null, native: null, threadId: row.threadId, place, startedBy: openId }),
    });
  }

  /** By the operator, or by having claimed the bot. */
  #isNamed(openId: string): boolean {
    const { allowUsers, approvers } = this.#options.settings;
    return allowUsers.includes(openId) || approvers.includes(openId) || this.#owner.get(OWNER) === openId;
  }

  /** A button of a list that the channel put up. What is longer than a toast comes as a message. */
  async #pressCommand(text: string, { chatId, topicId, openId, messageId, eventId }: Press): Promise<string> {
    const typed = readTyped(text);
    const texts = this.#texts;
    if (typed.kind !== "command") return texts.toast.unknown;
    // Buttons outlive what was allowed when they were put up. A press is meant for the bot, like a mention.
    if (this.#judge({ openId, chatId, isDirect: false, mentionsBot: true }) !== "allowed") return texts.toast.refused;
    const row = { chatId, threadId: topicId, messageId };
    try {
      const said = await this.#command(row, openId, typed.name, typed.argument, { chatId, replyTo: messageId, inThread: topicId !== null });
      if (said === null || (said.length <= MAX_TOAST && !said.includes("\n"))) return said ?? texts.toast.accepted;
      await this.#say(row, said, eventId);
      return texts.toast.accepted;
    } catch (error) {
      return texts.failed(wordsOf(error));
    }
  }

  #onClick(event: CardActionEvent): Promise<void> {
    // Clicks are not sent again, but events may come twice. Those of the older form have no id but their token.
    const id = event.eventId === "" ? event.token : event.eventId;
    if (id !== null && !this.#inbox.claim(`click:${id}`, doneClick(event))) return event.respond({}).then(() => undefined);
    return this.#desk.click(event).catch((error: unknown) => this.#options.log("a click could not be carried out", { reason: wordsOf(error) }));
  }

  #say(row: SaidTo, text: string, cause?: string): Promise<void> {
    const { port, clock, log } = this.#options;
    return say(row, text, { port, clock, log, isClosed: () => this.#closed }, cause);
  }
}

function doneClick(event: CardActionEvent): InboxRow {
  return { state: "done", messageId: event.messageId, chatId: event.chatId, chatType: "group", openId: null, createTimeMs: event.createTimeMs, messageType: "click", content: "", mentions: [], rootId: null, parentId: null, threadId: null };
}
