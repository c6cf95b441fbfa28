import type { Agent } from "node:http";
import { z } from "zod";
import { ApiClient } from "./api-client.ts";
import { checkAppId, resolveBaseUrl } from "./base-url.ts";
import { carriedJson, carriedText } from "./carried.ts";
import { Connection } from "./connection.ts";
import { EventDispatch } from "./event-dispatch.ts";
import type { Outcome } from "./outcome.ts";
import { Pacer, platformLimits, type PaceLimits } from "./pacer.ts";
import type * as port from "./port.ts";
import { makeAgents, type ProxyChoice } from "./proxy.ts";
import { chatAnswer, membersAnswer, messageAnswer, pageAnswer, sentAnswer, wireBody } from "./records.ts";
import { redactingLogger, Redactor, type PlatformLog } from "./redact.ts";
import { loadSdk, type SdkModule } from "./sdk.ts";
import { TokenCache } from "./token-cache.ts";
import { adaptWsClient } from "./ws-adaptation.ts";

/** Times in milliseconds; every one has a default. */
export interface PlatformConfig {
  readonly appId: string;
  readonly appSecret: string;
  /** `feishu` (default), `lark` or any http(s) URL; REST and the long connection's discovery. */
  readonly baseUrl?: string;
  /** Default `environment`; loopback addresses never use a proxy. */
  readonly proxy?: ProxyChoice;
  readonly log?: PlatformLog;
  readonly requestTimeoutMs?: number;
  readonly transferTimeoutMs?: number;
  readonly handshakeTimeoutMs?: number;
  /** A socket that says nothing for this long after a ping is lost; pings go at least every `pingIntervalCapMs`. */
  readonly pingTimeoutMs?: number;
  readonly pingIntervalCapMs?: number;
  /** A click that nobody answered is answered with nothing after this time (Feishu waits three seconds). */
  readonly cardAnswerMs?: number;
  /** Pauses after the SDK has given up on the connection. */
  readonly retryFromMs?: number;
  readonly retryToMs?: number;
  readonly watchMs?: number;
  readonly stuckMs?: number;
  readonly limits?: PaceLimits;
}

const silent: PlatformLog = { error: () => undefined, warn: () => undefined, info: () => undefined, debug: () => undefined };
const done = z.unknown().transform(() => null);
const userIds = { user_id_type: "open_id" };

/**
 * The port on the official SDK's raw client and connection. Throws `FeishuConfigError` for what can never work and
 * `FeishuSdkMissingError` when the optional package is not installed; nothing is sent yet.
 */
export function createFeishuPort(config: PlatformConfig, sdk: SdkModule = loadSdk()): port.FeishuPort {
  checkAppId(config.appId);
  const domain = resolveBaseUrl(config.baseUrl);
  const log = config.log ?? silent;
  const redactor = new Redactor();
  redactor.add(config.appSecret);
  const agents = makeAgents(domain, config.proxy ?? "environment", process.env);
  if (agents.via !== null) log.info(`Feishu is reached through ${agents.via}`);
  const maxBody = 128 * 1024 * 1024;
  const http = sdk.defaultHttpInstance.create({
    timeout: 30_000, proxy: false, httpAgent: agents.http, httpsAgent: agents.https, maxRedirects: 0, maxContentLength: maxBody, maxBodyLength: maxBody,
  });
  http.interceptors.response.use((answer) => (answer.config.$return_headers === true ? { status: answer.status, headers: { ...answer.headers }, data: answer.data } : answer.data));
  // The SDK decides by its own level what to format; everything is asked for, `log` decides what is kept.
  const common = { appId: config.appId, appSecret: config.appSecret, domain, httpInstance: http, logger: redactingLogger(redactor, log), loggerLevel: sdk.LoggerLevel.trace };
  const tokens = new TokenCache(redactor);
  const pacer = new Pacer(config.limits ?? platformLimits);
  const api = new ApiClient({ client: new sdk.Client({ ...common, cache: tokens }), tokens, pacer, redactor, timeoutMs: config.requestTimeoutMs ?? 10_000 });
  const pingTimeoutMs = config.pingTimeoutMs ?? 10_000;
  const dispatch = new EventDispatch({ log, redactor, cardAnswerMs: config.cardAnswerMs ?? 2_500 });
  const connection = new Connection({
    dispatch, log, redactor,
    retryFromMs: config.retryFromMs ?? 1_000, retryToMs: config.retryToMs ?? 60_000, watchMs: config.watchMs ?? 5_000, stuckMs: config.stuckMs ?? 45_000,
    makeClient: (callbacks) => {
      const client = new sdk.WSClient({
        ...common, ...callbacks, agent: domain.startsWith("https:") ? agents.https : agents.http,
        handshakeTimeoutMs: config.handshakeTimeoutMs ?? 15_000, wsConfig: { pingTimeout: pingTimeoutMs / 1_000 },
      });
      const unknown = adaptWsClient(client, { timeoutMs: pingTimeoutMs, capMs: config.pingIntervalCapMs ?? 30_000 });
      for (const part of unknown) log.warn(`this version of the SDK is not as known: ${part} left as they are`);
      return client;
    },
  });
  return new SdkFeishuPort({
    appId: config.appId, api, pacer, dispatch, connection, transferTimeoutMs: config.transferTimeoutMs ?? 120_000,
    dropIdleSockets: () => dropIdleSockets([agents.http, agents.https]),
  });
}

interface Parts {
  readonly appId: string;
  readonly api: ApiClient;
  readonly pacer: Pacer;
  readonly dispatch: EventDispatch;
  readonly connection: Connection;
  readonly transferTimeoutMs: number;
  readonly dropIdleSockets: () => void;
}

class SdkFeishuPort implements port.FeishuPort {
  readonly appId: string;
  readonly #parts: Parts;
  readonly #api: ApiClient;

  constructor(parts: Parts) {
    this.appId = parts.appId;
    this.#parts = parts;
    this.#api = parts.api;
  }

  start(listener: port.FeishuListener): Promise<void> {
    this.#parts.dispatch.listen(listener);
    this.#parts.connection.open();
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#parts.connection.close();
    this.#parts.pacer.close();
    this.#parts.dropIdleSockets();
    return Promise.resolve();
  }

  connection(): port.ConnectionState {
    return this.#parts.connection.state;
  }

  onConnection(listener: (state: port.ConnectionState) => void): () => void {
    return this.#parts.connection.onChange(listener);
  }

  pace(api: port.ApiName, target: port.PaceTarget, options?: port.PaceOptions): Promise<port.Permit> {
    return this.#parts.pacer.pace(api, target, options);
  }

  createCard(card: port.CardDocument, options?: port.CallOptions): Promise<Outcome<{ readonly cardId: string }>> {
    const answer = z.object({ data: z.object({ card_id: z.string().min(1) }) }).transform(({ data }) => ({ cardId: data.card_id }));
    return this.#api.call({ api: "card.create", method: "POST", path: "/open-apis/cardkit/v1/cards", data: cardJson(card), answer }, options);
  }

  updateCard(write: port.CardWrite & { readonly card: port.CardDocument }, options?: port.CallOptions): Promise<Outcome<null>> {
    return this.#write("card.update", "PUT", "", write, { card: cardJson(write.card) }, options);
  }

  batchUpdate(write: port.CardWrite & { readonly actions: readonly port.CardBatchAction[] }, options?: port.CallOptions): Promise<Outcome<null>> {
    return this.#write("card.batchUpdate", "POST", "/batch_update", write, { actions: carriedJson(write.actions) }, options);
  }

  updateElementContent(write: port.CardWrite & { readonly elementId: string; readonly content: string }, options?: port.CallOptions): Promise<Outcome<null>> {
    return this.#write("card.content", "PUT", `/elements/${encodeURIComponent(write.elementId)}/content`, write, { content: carriedText(write.content) }, options);
  }

  setCardSettings(write: port.CardWrite & { readonly streaming?: boolean; readonly summary?: string }, options?: port.CallOptions): Promise<Outcome<null>> {
    const config = { ...(write.streaming !== undefined && { streaming_mode: write.streaming }), ...(write.summary !== undefined && { summary: { content: write.summary } }) };
    return this.#write("card.settings", "PATCH", "/settings", write, { settings: carriedJson({ config }) }, options);
  }

  sendMessage(message: port.NewMessage, options?: port.CallOptions): Promise<Outcome<port.SentMessage>> {
    const { to, body, uuid } = message;
    const [kind, id] = "chatId" in to ? ["chat_id", to.chatId] : ["open_id", to.openId];
    return this.#api.call({
      api: "message.create", method: "POST", path: "/open-apis/im/v1/messages", params: { receive_id_type: kind },
      data: { receive_id: id, ...wireBody(body), ...(uuid !== undefined && { uuid }) }, target: { chatId: id }, answer: sentAnswer,
    }, options);
  }

  replyMessage(message: port.NewReply, options?: port.CallOptions): Promise<Outcome<port.SentMessage>> {
    const { messageId, body, inThread, uuid } = message;
    return this.#api.call({
      api: "message.reply", method: "POST", path: `/open-apis/im/v1/messages/${encodeURIComponent(messageId)}/reply`,
      data: { ...wireBody(body), ...(inThread === true && { reply_in_thread: true }), ...(uuid !== undefined && { uuid }) },
      target: chatTarget(options), answer: sentAnswer,
    }, options);
  }

  patchMessageCard(messageId: string, card: port.CardDocument, options?: port.CallOptions): Promise<Outcome<null>> {
    return this.#api.call({
      api: "message.patch", method: "PATCH", path: messagePath(messageId), data: { content: carriedJson(card) }, target: { messageId, ...chatTarget(options) }, answer: done,
    }, options);
  }

  recallMessage(messageId: string, options?: port.CallOptions): Promise<Outcome<null>> {
    return this.#api.call({ api: "message.recall", method: "DELETE", path: messagePath(messageId), answer: done }, options);
  }

  getMessage(messageId: string, options?: port.CallOptions): Promise<Outcome<port.MessageRecord>> {
    // Without the content type a card comes as a shortened form that nobody sent.
    const params = { ...userIds, card_msg_content_type: "user_card_content" };
    return this.#api.call({ api: "message.get", method: "GET", path: messagePath(messageId), params, answer: messageAnswer }, options);
  }

  listMessages(query: port.MessageQuery, options?: port.CallOptions): Promise<Outcome<port.MessagePage>> {
    const container = "chatId" in query.in ? { container_id_type: "chat", container_id: query.in.chatId } : { container_id_type: "thread", container_id: query.in.threadId };
    const params = {
      ...container, page_size: "50", sort_type: query.order === "oldestFirst" ? "ByCreateTimeAsc" : "ByCreateTimeDesc", card_msg_content_type: "user_card_content",
      ...(query.fromMs !== undefined && { start_time: String(Math.floor(query.fromMs / 1_000)) }), ...(query.toMs !== undefined && { end_time: String(Math.ceil(query.toMs / 1_000)) }),
      ...(query.pageToken !== undefined && { page_token: query.pageToken }),
    };
    return this.#api.call({ api: "message.list", method: "GET", path: "/open-apis/im/v1/messages", params, answer: pageAnswer }, options);
  }

  uploadFile(file: { readonly name: string; readonly bytes: Uint8Array }, options?: port.CallOptions): Promise<Outcome<{ readonly fileKey: string }>> {
    const answer = z.object({ data: z.object({ file_key: z.string().min(1) }) }).transform(({ data }) => ({ fileKey: data.file_key }));
    const form = uploadForm({ file_type: "stream", file_name: file.name }, "file", file.name, file.bytes);
    return this.#api.call({ api: "file.upload", method: "POST", path: "/open-apis/im/v1/files", form, timeoutMs: this.#parts.transferTimeoutMs, answer }, options);
  }

  uploadImage(bytes: Uint8Array, options?: port.CallOptions): Promise<Outcome<{ readonly imageKey: string }>> {
    const answer = z.object({ data: z.object({ image_key: z.string().min(1) }) }).transform(({ data }) => ({ imageKey: data.image_key }));
    const form = uploadForm({ image_type: "message" }, "image", "image", bytes);
    return this.#api.call({ api: "image.upload", method: "POST", path: "/open-apis/im/v1/images", form, timeoutMs: this.#parts.transferTimeoutMs, answer }, options);
  }

  async downloadResource(resource: port.SentResource, options?: port.CallOptions): Promise<Outcome<port.DownloadedResource>> {
    const { messageId, key, kind, maxBytes } = resource;
    const path = `${messagePath(messageId)}/resources/${encodeURIComponent(key)}`;
    const request = { api: "resource.download", path, params: { type: kind }, timeoutMs: this.#parts.transferTimeoutMs, maxBytes } as const;
    const outcome = await this.#api.download(request, options);
    if (outcome.kind !== "ok") return outcome;
    const { bytes, headers } = outcome.value;
    const contentType = headers["content-type"];
    return { kind: "ok", value: { bytes, contentType: typeof contentType === "string" ? contentType : null, fileName: fileNameOf(headers["content-disposition"]) } };
  }

  chatInfo(chatId: string, options?: port.CallOptions): Promise<Outcome<port.ChatInfo>> {
    return this.#api.call({ api: "chat.get", method: "GET", path: chatPath(chatId), params: userIds, answer: chatAnswer(chatId) }, options);
  }

  async chatMembers(chatId: string, options: port.CallOptions & { readonly limit?: number } = {}): Promise<Outcome<readonly port.ChatMember[]>> {
    const { limit = 500, ...call } = options;
    const members: port.ChatMember[] = [];
    let pageToken: string | null = "";
    while (pageToken !== null && members.length < limit) {
      const params: Record<string, string> = { member_id_type: "open_id", page_size: "100", ...(pageToken !== "" && { page_token: pageToken }) };
      const request = { api: "chat.members", method: "GET", path: `${chatPath(chatId)}/members`, params, answer: membersAnswer } as const;
      const page: Outcome<z.infer<typeof membersAnswer>> = await this.#api.call(request, call);
      if (page.kind !== "ok") return page;
      const data: z.infer<typeof membersAnswer>["data"] = page.value.data;
      members.push(...data.items.map((item) => ({ openId: item.member_id, name: item.name })));
      pageToken = data.has_more && data.items.length > 0 ? data.page_token : null;
    }
    return { kind: "ok", value: members.slice(0, limit) };
  }

  createChat(chat: { readonly name: string; readonly openIds: readonly string[] }, options?: port.CallOptions): Promise<Outcome<{ readonly chatId: string }>> {
    const answer = z.object({ data: z.object({ chat_id: z.string().min(1) }) }).transform(({ data }) => ({ chatId: data.chat_id }));
    const data = { name: chat.name, user_id_list: chat.openIds, chat_mode: "group", chat_type: "private" };
    return this.#api.call({ api: "chat.create", method: "POST", path: "/open-apis/im/v1/chats", params: userIds, data, answer }, options);
  }

  deleteChat(chatId: string, options?: port.CallOptions): Promise<Outcome<null>> {
    return this.#api.call({ api: "chat.delete", method: "DELETE", path: chatPath(chatId), answer: done }, options);
  }

  userInfo(openId: string, options?: port.CallOptions): Promise<Outcome<port.UserInfo>> {
    const optional = z.string().min(1).nullish().catch(null);
    const answer = z
      .object({ data: z.object({ user: z.object({ name: optional, locale: optional }) }) })
      .transform(({ data: { user } }) => ({ openId, name: user.name ?? null, locale: user.locale ?? null }));
    return this.#api.call({ api: "user.get", method: "GET", path: `/open-apis/contact/v3/users/${encodeURIComponent(openId)}`, params: userIds, answer }, options);
  }

  botInfo(options?: port.CallOptions): Promise<Outcome<port.BotInfo>> {
    const answer = z.object({ bot: z.object({ open_id: z.string().min(1), app_name: z.string().catch("") }) }).transform(({ bot }) => ({ openId: bot.open_id, name: bot.app_name }));
    return this.#api.call({ api: "bot.get", method: "GET", path: "/open-apis/bot/v3/info", answer }, options);
  }

  grantedScopes(options?: port.CallOptions): Promise<Outcome<readonly string[]>> {
    // 1 = granted; the same list has what was only asked for.
    const scope = z.object({ scope_name: z.string(), grant_status: z.number() });
    const answer = z.object({ data: z.object({ scopes: z.array(scope) }) }).transform(({ data }) => data.scopes.flatMap((each) => (each.grant_status === 1 ? [each.scope_name] : [])));
    return this.#api.call({ api: "scope.list", method: "GET", path: "/open-apis/application/v6/scopes", answer }, options);
  }

  subscriptions(options?: port.CallOptions): Promise<Outcome<port.Subscriptions>> {
    const names = z.array(z.string()).catch([]);
    const event = z.object({ subscription_type: z.string(), subscribed_events: names }).transform((each) => ({ by: each.subscription_type, names: each.subscribed_events }));
    const callback = z.object({ callback_type: z.string(), subscribed_callbacks: names }).transform((each) => ({ by: each.callback_type, names: each.subscribed_callbacks }));
    const app = z.object({ event: event.nullable().catch(null), callback: callback.nullable().catch(null), callback_info: callback.nullable().catch(null) });
    const answer = z.object({ data: z.object({ app }) }).transform(({ data }) => ({ events: data.app.event, callbacks: data.app.callback_info ?? data.app.callback }));
    return this.#api.call({ api: "app.get", method: "GET", path: `/open-apis/application/v6/applications/${this.appId}`, params: { ...userIds, lang: "zh_cn" }, answer }, options);
  }

  #write(api: port.ApiName, method: "PUT" | "POST" | "PATCH", path: string, write: port.CardWrite, data: object, options?: port.CallOptions): Promise<Outcome<null>> {
    const { cardId, sequence, uuid } = write;
    return this.#api.call({
      api, method, path: `/open-apis/cardkit/v1/cards/${encodeURIComponent(cardId)}${path}`,
      data: { ...data, sequence, ...(uuid !== undefined && { uuid }) }, target: { cardId }, answer: done,
    }, options);
  }
}

/** Sockets with a request under way are left to finish it. */
function dropIdleSockets(agents: readonly Agent[]): void {
  for (const agent of agents) for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

function cardJson(card: port.CardDocument): { readonly type: "card_json"; readonly data: string } {
  return { type: "card_json", data: carriedJson(card) };
}

/** The SDK's own way sends bytes without a file name, which servers take for text. */
function uploadForm(fields: Readonly<Record<string, string>>, name: string, fileName: string, bytes: Uint8Array): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set(name, new Blob([new Uint8Array(bytes)], { type: "application/octet-stream" }), fileName);
  return form;
}

function messagePath(messageId: string): string {
  return `/open-apis/im/v1/messages/${encodeURIComponent(messageId)}`;
}

function chatPath(chatId: string): string {
  return `/open-apis/im/v1/chats/${encodeURIComponent(chatId)}`;
}

function chatTarget(options?: port.CallOptions): port.PaceTarget {
  return options?.chatId === undefined ? {} : { chatId: options.chatId };
}

function fileNameOf(disposition: unknown): string | null {
  if (typeof disposition !== "string") return null;
  const encoded = /filename\*=(?:UTF-8'')?([^;]+)/i.exec(disposition)?.[1];
  const plain = /filename="?([^";]+)"?/i.exec(disposition)?.[1];
  try {
    return encoded !== undefined ? decodeURIComponent(encoded.trim()) : (plain ?? null);
  } catch {
    return plain ?? null;
  }
}
