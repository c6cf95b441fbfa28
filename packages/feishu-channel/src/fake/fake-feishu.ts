import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { strictCardLimits, type CardLimits } from "./cards/card-rules.ts";
import { CardStore } from "./cards/card-store.ts";
import { ChatStore, type App, type Chat, type Message, type Person } from "./chat/chat-store.ts";
import { ClickService, type Click, type ClickResult } from "./chat/click-service.ts";
import { MessageService } from "./chat/message-service.ts";
import { VirtualClock } from "./clock.ts";
import { serveControl } from "./control.ts";
import { FaultPlan, type FiredFault, type PlannedFault } from "./faults.ts";
import { readChat, readMessage, type ReaderChat, type ReaderMessage } from "./reader.ts";
import type { Json } from "./refusal.ts";
import { FileStore } from "./rest/file-store.ts";
import { RateRules } from "./rest/rate-rules.ts";
import { RestServer, type CallRecord } from "./rest/rest-server.ts";
import { RuleBook, type AdviceNote, type Broken } from "./rule-book.ts";
import { botMembership, messageRead, messageReceived, messageRecalled, personIds } from "./socket/event-bodies.ts";
import { EventQueue, type EventDelivery } from "./socket/event-queue.ts";
import { defaultAnswerMs, LongConnection, type ClientConfig } from "./socket/long-connection.ts";

export interface FakeOptions {
  readonly host?: string;
  readonly port?: number;
  /** The app that connects; the defaults are `fakeApp`. */
  readonly app?: Partial<App>;
  readonly cardLimits?: Partial<CardLimits>;
  /** Seconds, as told to clients. The defaults reconnect at once, so that tests need not wait. */
  readonly clientConfig?: Partial<ClientConfig>;
  /** How long a client may take for an event or a click; Feishu's three seconds. */
  readonly answerMs?: number;
  /** Events larger than this come in several frames. */
  readonly fragmentBytes?: number;
  /** Push what was missed as soon as a client connects. Feishu itself waits for its next repetition. */
  readonly redeliverOnConnect?: boolean;
  /** Answers paths outside Feishu's own; for the demo page. */
  readonly extra?: (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<boolean>;
}

/** The app of a fake that was not given another. */
export const fakeApp: App = { appId: "cli_00000000feed0001", appSecret: "fake-secret-of-the-fake-app-0001", botOpenId: "ou_b07b07b07b07b07b07b07b07b07b07b0", botName: "foldcast" };

export interface Say {
  readonly chatId: string;
  readonly from: string;
  readonly text?: string;
  /** Instead of text: any type with its content object. */
  readonly type?: string;
  readonly content?: Json;
  /** Puts a mention of the bot in front of the text. */
  readonly mention?: boolean;
  readonly replyTo?: string;
  /** The reply opens, or stands in, a topic. */
  readonly inThread?: boolean;
  /** For messages that come late: when it was written. */
  readonly createTimeMs?: number;
}

export interface AddChat {
  /** Default `group`; `topic` for a group in which every message starts a topic. */
  readonly mode?: Chat["mode"];
  readonly name?: string;
  /** Open ids; the first owns the chat. */
  readonly people: readonly string[];
  readonly threads?: boolean;
  readonly threadForm?: boolean;
  readonly withoutBot?: boolean;
  readonly chatId?: string;
}

export interface Attach {
  readonly chatId: string;
  readonly from: string;
  readonly kind: "image" | "file";
  readonly name: string;
  readonly base64: string;
}

/**
 * A Feishu server in this process: REST, CardKit, the long connection and the people behind it. All state is in memory.
 * Its methods are what a test (or, over HTTP, another process) does to it and reads from it; each takes one object.
 */
export class FakeFeishu {
  readonly app: App;
  readonly clock = new VirtualClock();
  readonly #rules = new RuleBook(this.clock);
  readonly #faults = new FaultPlan(this.clock);
  readonly #files = new FileStore();
  readonly #store = new ChatStore(this.clock);
  readonly #rates = new RateRules(this.clock, this.#rules);
  readonly #cards: CardStore;
  readonly #connection: LongConnection;
  readonly #events: EventQueue;
  readonly #clicks: ClickService;
  readonly #rest: RestServer;
  #calls: CallRecord[] = [];
  #callCount = 0;
  #discoveryCode: number | null = null;
  #audit = false;
  #extra: NonNullable<FakeOptions["extra"]>;

  constructor(options: FakeOptions = {}) {
    this.app = { ...fakeApp, ...options.app };
    this.#extra = options.extra ?? (() => Promise.resolve(false));
    this.#store.apps.set(this.app.appId, this.app);
    this.#cards = new CardStore({ clock: this.clock, rules: this.#rules, limits: { ...strictCardLimits, ...options.cardLimits }, knownImage: (key) => this.#files.has(key) });
    const config: ClientConfig = { PingInterval: 120, ReconnectCount: -1, ReconnectInterval: 1, ReconnectNonce: 0, ...options.clientConfig };
    this.#connection = new LongConnection({
      clock: this.clock, config, fragmentBytes: options.fragmentBytes ?? 64 * 1024, answerMs: options.answerMs ?? defaultAnswerMs, onReady: (appId) => this.#events.connected(appId),
    });
    this.#events = new EventQueue({
      clock: this.clock, rules: this.#rules, connection: this.#connection, faults: (type) => this.#faults.onEvent(type), redeliverOnConnect: options.redeliverOnConnect ?? false,
    });
    this.#clicks = new ClickService({ store: this.#store, cards: this.#cards, rules: this.#rules, connection: this.#connection });
    const messages = new MessageService({ store: this.#store, cards: this.#cards, rules: this.#rules, files: this.#files, audit: () => this.#audit });
    this.#rest = new RestServer({
      services: { store: this.#store, cards: this.#cards, messages, files: this.#files, rates: this.#rates, rules: this.#rules },
      clock: this.clock, connection: this.#connection, faults: this.#faults, discoveryCode: () => this.#discoveryCode,
      other: (request, response, body) => this.#extra(request, response, body),
      onCall: (call) => this.#noteCall(call),
    });
  }

  /** Listens; gives the base URL for clients. */
  async listen(options: Pick<FakeOptions, "host" | "port"> = {}): Promise<string> {
    const { host = "127.0.0.1", port = 0 } = options;
    await new Promise<void>((resolve, reject) => {
      this.#rest.http.once("error", reject);
      this.#rest.http.listen(port, host, resolve);
    });
    return this.baseUrl;
  }

  get baseUrl(): string {
    const address = this.#rest.http.address() as AddressInfo;
    return `http://${address.address.includes(":") ? `[${address.address}]` : address.address}:${address.port}`;
  }

  async close(): Promise<void> {
    this.clock.stop();
    this.#connection.stop();
    this.#rest.http.closeAllConnections();
    await new Promise<void>((resolve) => this.#rest.http.close(() => resolve()));
  }

  /** Answers further paths, after those that it answers already. */
  alsoServe(extra: NonNullable<FakeOptions["extra"]>): void {
    const before = this.#extra;
    this.#extra = async (request, response, body) => (await before(request, response, body)) || extra(request, response, body);
  }

  // --- people and chats

  addPerson({ name, openId }: { readonly name: string; readonly openId?: string }): Person {
    return this.#store.addPerson(name, openId);
  }

  /** A chat with the bot in it. A direct chat is made with `mode: "p2p"` and one person. */
  addChat({ mode = "group", name = "group", people, threads, threadForm, withoutBot, chatId }: AddChat): { readonly chatId: string } {
    const bots = withoutBot === true ? [] : [this.app.appId];
    const chat = this.#store.addChat({ mode, name, people, bots, threads, threadForm, chatId, owner: people[0] });
    return { chatId: chat.chatId };
  }

  /** The bot comes into a chat or leaves it, by a person's hand; the app is told. */
  setBotIn({ chatId, by, inside }: { readonly chatId: string; readonly by: string; readonly inside: boolean }): void {
    const chat = this.#chat(chatId);
    if (inside) chat.bots.add(this.app.appId);
    else chat.bots.delete(this.app.appId);
    this.#tell(inside ? "im.chat.member.bot.added_v1" : "im.chat.member.bot.deleted_v1", (eventId) => botMembership(this.app, eventId, inside, chat, this.#person(by), this.clock.now()));
  }

  /** A person writes; the app gets the event where it would: in direct chats, and in groups as the bot sees every message. */
  say(say: Say): { readonly messageId: string; readonly eventId: string | null } {
    const chat = this.#chat(say.chatId);
    const sender = this.#person(say.from);
    const to = say.replyTo === undefined ? null : this.#message(say.replyTo);
    const mentions = say.mention === true ? [{ key: "@_user_1", openId: this.app.botOpenId, name: this.app.botName }] : [];
    const text = `${say.mention === true ? "@_user_1 " : ""}${say.text ?? ""}`;
    const opens = say.inThread === true || (to === null && chat.mode === "topic");
    const threadId = to?.threadId ?? (opens ? this.#store.newId("omt") : null);
    if (to !== null && threadId !== null) to.threadId = threadId;
    const message = this.#store.addMessage(chat, {
      rootId: to === null ? null : (to.rootId ?? to.messageId), parentId: to?.messageId ?? null, threadId, msgType: say.type ?? "text", content: JSON.stringify(say.content ?? { text }),
      sender: { kind: "user", id: sender.openId }, cardId: null, card: null, mentions, ...(say.createTimeMs !== undefined && { createTimeMs: say.createTimeMs }),
    });
    const names = (openId: string): Json => (openId === this.app.botOpenId ? { open_id: openId, union_id: `on_${openId.slice(3)}`, user_id: "" } : personIds(this.#person(openId)));
    if (!chat.bots.has(this.app.appId)) return { messageId: message.messageId, eventId: null };
    const type = chat.mode === "p2p" ? "p2p" : "group";
    const eventId = this.#tell("im.message.receive_v1", (id) => messageReceived(this.app, id, message, type, sender, names));
    return { messageId: message.messageId, eventId };
  }

  /** A person sends an image or a file; `base64` are its bytes. */
  attach({ chatId, from, kind, name, base64 }: Attach): { readonly messageId: string; readonly key: string } {
    const { key } = this.#files.add(kind, name, Buffer.from(base64, "base64"), kind === "image" ? "image/png" : "application/octet-stream");
    const { messageId } = this.say({ chatId, from, type: kind, content: kind === "image" ? { image_key: key } : { file_key: key, file_name: name } });
    return { messageId, key };
  }

  /** Somebody takes a message back: its writer, or with `deleted` a group's owner. The app is told. */
  takeBack({ messageId, deleted = false }: { readonly messageId: string; readonly deleted?: boolean }): void {
    const message = this.#message(messageId);
    message.gone = deleted ? "deleted" : "recalled";
    this.#tell("im.message.recalled_v1", (eventId) => messageRecalled(this.app, eventId, message, this.clock.now()));
  }

  read({ by, messageIds }: { readonly by: string; readonly messageIds: readonly string[] }): void {
    this.#tell("im.message.message_read_v1", (eventId) => messageRead(this.app, eventId, this.#person(by), messageIds, this.clock.now()));
  }

  /** A person presses something on a card; resolves when the app has answered, or three seconds have passed. */
  click(click: Click): Promise<ClickResult> {
    return this.#clicks.click(click);
  }

  disband({ chatId }: { readonly chatId: string }): void {
    this.#chat(chatId).disbanded = true;
  }

  /** Takes something out of the console: scopes, events or callbacks by name. Only what is told of them changes. */
  forget({ names }: { readonly names: readonly string[] }): void {
    for (const kept of [this.#store.scopes, this.#store.events, this.#store.callbacks]) for (const name of names) kept.delete(name);
  }

  // --- what a reader sees

  chats(): readonly ReaderChat[] {
    return [...this.#store.chats.values()].map((chat) => readChat(chat, this.#store, this.#cards));
  }

  chat({ chatId }: { readonly chatId: string }): ReaderChat {
    return readChat(this.#chat(chatId), this.#store, this.#cards);
  }

  message({ messageId }: { readonly messageId: string }): ReaderMessage {
    return readMessage(this.#message(messageId), this.#store, this.#cards);
  }

  /** An uploaded or sent file; null for an unknown key. */
  file({ key }: { readonly key: string }): { readonly key: string; readonly name: string | null; readonly bytes: Uint8Array; readonly contentType: string } | null {
    return this.#files.get(key) ?? null;
  }

  /** Entities that were made and never sent. */
  unsentCards(): readonly string[] {
    return this.#cards.all.filter((entity) => entity.messageId === null).map((entity) => entity.cardId);
  }

  // --- time, faults, connections, rules

  now(): number {
    return this.clock.now();
  }

  advance({ ms }: { readonly ms: number }): number {
    this.clock.advance(ms);
    return this.clock.now();
  }

  planFaults({ faults }: { readonly faults: readonly PlannedFault[] }): void {
    this.#faults.add(faults);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  firedFaults(): readonly FiredFault[] {
    return this.#faults.fired;
  }

  pendingFaults(): readonly PlannedFault[] {
    return this.#faults.pending;
  }

  connections(): number {
    return this.#connection.connected(this.app.appId);
  }

  closeSockets(): void {
    this.#connection.closeAll();
  }

  silenceSockets(): void {
    this.#connection.silenceAll();
  }

  /** Discovery answers with this code (1, 403, 514, 1000040343, 1000040350 …) until it is set back to null. */
  setDiscoveryCode({ code }: { readonly code: number | null }): void {
    this.#discoveryCode = code;
  }

  dropTokens(): void {
    this.#rest.dropTokens();
  }

  /** `audit`: refuse mail addresses (230028). `rates`: count frequencies (on by default). */
  setRules({ audit, rates }: { readonly audit?: boolean; readonly rates?: boolean }): void {
    if (audit !== undefined) this.#audit = audit;
    if (rates !== undefined) this.#rates.enabled = rates;
  }

  /** Rules that the client broke by itself, in order. */
  broken(): readonly Broken[] {
    return this.#rules.broken;
  }

  /** Texts that the server takes and readers see wrongly. */
  advice(): readonly AdviceNote[] {
    return this.#rules.advice;
  }

  forgetBroken(): void {
    this.#rules.clear();
  }

  deliveries(): readonly EventDelivery[] {
    return this.#events.deliveries;
  }

  /** The last calls (at most 20,000). */
  calls(): readonly CallRecord[] {
    return this.#calls;
  }

  counts(): { readonly calls: number; readonly pings: number; readonly byApi: Readonly<Record<string, { readonly calls: number; readonly bytes: number }>> } {
    const byApi: Record<string, { calls: number; bytes: number }> = {};
    for (const { api, bytes } of this.#calls) {
      const entry = (byApi[api] ??= { calls: 0, bytes: 0 });
      entry.calls += 1;
      entry.bytes += bytes;
    }
    return { calls: this.#callCount, pings: this.#connection.pings, byApi };
  }

  #tell(eventType: string, body: (eventId: string) => Json): string {
    const eventId = this.#store.newId("ev");
    this.#events.add(this.app.appId, eventId, eventType, body(eventId));
    return eventId;
  }

  #noteCall(call: CallRecord): void {
    this.#callCount += 1;
    this.#calls.push(call);
    if (this.#calls.length > 20_000) this.#calls = this.#calls.slice(-10_000);
  }

  #chat(chatId: string): Chat {
    return known(this.#store.chats.get(chatId), `no chat ${chatId}`);
  }

  #message(messageId: string): Message {
    return known(this.#store.messages.get(messageId), `no message ${messageId}`);
  }

  #person(openId: string): Person {
    return known(this.#store.people.get(openId), `no person ${openId}`);
  }
}

function known<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) throw new Error(otherwise);
  return value;
}

/** A fake that listens on this machine, controlled by its methods and by HTTP under `/__fake/`. */
export async function startFakeFeishu(options: FakeOptions = {}): Promise<FakeFeishu> {
  const fake = new FakeFeishu(options);
  fake.alsoServe(serveControl(fake));
  await fake.listen(options);
  return fake;
}
