import type { CardStore } from "../cards/card-store.ts";
import type { App, ChatStore, Message } from "../chat/chat-store.ts";
import type { MessageService } from "../chat/message-service.ts";
import { isJson, parseJson, Refused, type Json } from "../refusal.ts";
import type { RuleBook } from "../rule-book.ts";
import type { FileStore } from "./file-store.ts";
import type { FormPart } from "./multipart.ts";
import type { RateRules } from "./rate-rules.ts";
import { messageRecord } from "./records.ts";

export interface RouteContext {
  readonly app: App;
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
  /** Parts of a multipart upload. */
  readonly form: ReadonlyMap<string, FormPart> | null;
}

export interface Binary {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly name: string | null;
}

export interface Services {
  readonly store: ChatStore;
  readonly cards: CardStore;
  readonly messages: MessageService;
  readonly files: FileStore;
  readonly rates: RateRules;
  readonly rules: RuleBook;
}

/** `data` of the answer, a `top` that stands beside the code, or a file. */
export type RouteAnswer = { readonly data: Json } | { readonly top: Json } | { readonly file: Binary };

export interface Route {
  readonly api: string;
  readonly method: string;
  /** `:` stands for one piece of the path, in order. */
  readonly path: string;
  readonly handle: (services: Services, call: RouteContext) => RouteAnswer;
}

const card = (api: string, method: string, path: string, write: (cards: CardStore, call: RouteContext) => Json): Route => ({
  api, method, path: `cardkit/v1/cards/${path}`,
  handle: ({ cards, rates }, call) => {
    rates.card(call.path[0]!, api);
    return { data: write(cards, call) };
  },
});
const single = (method: string, path: string, action: (call: RouteContext) => Json): Route =>
  card("card.element", method, path, (cards, call) => cards.element(call.app.appId, call.path[0]!, call.body, action(call)));
const bad = (msg: string) => (): Refused => new Refused(10002, msg);

/** Every REST call that the fake answers. */
export const routes: readonly Route[] = [
  { api: "card.create", method: "POST", path: "cardkit/v1/cards", handle: ({ cards }, { app, body }) => ({ data: cards.create(app.appId, body) }) },
  card("card.update", "PUT", ":", (cards, { app, path, body }) => cards.update(app.appId, path[0]!, body)),
  card("card.settings", "PATCH", ":/settings", (cards, { app, path, body }) => cards.settings(app.appId, path[0]!, body)),
  card("card.batchUpdate", "POST", ":/batch_update", (cards, { app, path, body }) => cards.batch(app.appId, path[0]!, body)),
  card("card.content", "PUT", ":/elements/:/content", (cards, { app, path, body }) => cards.content(app.appId, path[0]!, path[1]!, body)),
  single("POST", ":/elements", ({ body: { type, target_element_id, elements } }) => ({
    action: "add_elements", params: { type, target_element_id, elements: parseJson(elements, bad("elements")) },
  })),
  single("PATCH", ":/elements/:", ({ path, body }) => ({
    action: "partial_update_element", params: { element_id: path[1], partial_element: parseJson(body["partial_element"], bad("partial_element")) },
  })),
  single("PUT", ":/elements/:", ({ path, body }) => ({ action: "update_element", params: { element_id: path[1], element: parseJson(body["element"], bad("element")) } })),
  single("DELETE", ":/elements/:", ({ path }) => ({ action: "delete_elements", params: { element_ids: [path[1]] } })),
  { api: "message.create", method: "POST", path: "im/v1/messages", handle: createMessage },
  { api: "message.reply", method: "POST", path: "im/v1/messages/:/reply", handle: replyMessage },
  { api: "message.list", method: "GET", path: "im/v1/messages", handle: listMessages },
  { api: "message.get", method: "GET", path: "im/v1/messages/:", handle: getMessage },
  { api: "message.patch", method: "PATCH", path: "im/v1/messages/:", handle: patchMessage },
  { api: "message.update", method: "PUT", path: "im/v1/messages/:", handle: editMessage },
  { api: "message.recall", method: "DELETE", path: "im/v1/messages/:", handle: recallMessage },
  { api: "resource.download", method: "GET", path: "im/v1/messages/:/resources/:", handle: download },
  { api: "image.upload", method: "POST", path: "im/v1/images", handle: ({ files }, { form }) => ({ data: { image_key: upload(files, form, "image", 10).key } }) },
  { api: "file.upload", method: "POST", path: "im/v1/files", handle: ({ files }, { form }) => ({ data: { file_key: upload(files, form, "file", 30).key } }) },
  { api: "chat.create", method: "POST", path: "im/v1/chats", handle: createChat },
  { api: "chat.get", method: "GET", path: "im/v1/chats/:", handle: getChat },
  { api: "chat.delete", method: "DELETE", path: "im/v1/chats/:", handle: deleteChat },
  { api: "chat.members", method: "GET", path: "im/v1/chats/:/members", handle: listMembers },
  { api: "user.get", method: "GET", path: "contact/v3/users/:", handle: getUser },
  { api: "scope.list", method: "GET", path: "application/v6/scopes", handle: ({ store }) => ({ data: { scopes: [...store.scopes].map((scope_name) => ({ scope_name, grant_status: 1, scope_type: "tenant" })) } }) },
  { api: "app.get", method: "GET", path: "application/v6/applications/:", handle: getApp },
  { api: "bot.get", method: "GET", path: "bot/v3/info", handle: (_, { app }) => ({ top: { bot: { activate_status: 2, app_name: app.botName, open_id: app.botOpenId } } }) },
];

function sent(message: Message, services: Services): RouteAnswer {
  return { data: messageRecord(message, services.cards, null) };
}

function createMessage(services: Services, { app, query, body }: RouteContext): RouteAnswer {
  const chat = services.messages.chatFor(app.appId, query.get("receive_id_type") ?? "", body["receive_id"], "message.create");
  services.rates.target("chat", chat.chatId, "message.create");
  return sent(services.messages.create(app.appId, chat, body, null), services);
}

function replyMessage(services: Services, { app, path, body }: RouteContext): RouteAnswer {
  const to = services.messages.findAlive(app.appId, path[0]!, "message.reply");
  services.rates.target("chat", to.chatId, "message.reply");
  const chat = services.messages.chat(app.appId, to.chatId, "message.reply");
  return sent(services.messages.create(app.appId, chat, body, { to, inThread: body["reply_in_thread"] === true }), services);
}

function getMessage({ messages, cards }: Services, { app, path, query }: RouteContext): RouteAnswer {
  const message = messages.find(app.appId, path[0]!, "message.get");
  return { data: { items: [messageRecord(message, cards, query.get("card_msg_content_type"))] } };
}

function patchMessage(services: Services, { app, path, body }: RouteContext): RouteAnswer {
  const message = services.messages.findAlive(app.appId, path[0]!, "message.patch");
  services.rates.target("message", message.messageId, "message.patch");
  services.messages.patch(app.appId, message, body);
  return { data: {} };
}

function editMessage({ messages }: Services, { app, path, body }: RouteContext): RouteAnswer {
  messages.edit(app.appId, messages.findAlive(app.appId, path[0]!, "message.update"), body);
  return { data: {} };
}

function recallMessage({ messages }: Services, { app, path }: RouteContext): RouteAnswer {
  messages.recall(app.appId, messages.findAlive(app.appId, path[0]!, "message.recall"));
  return { data: {} };
}

function deleteChat({ messages }: Services, { app, path }: RouteContext): RouteAnswer {
  messages.chat(app.appId, path[0]!, "chat.delete").disbanded = true;
  return { data: {} };
}

/** Of a topic in an ordinary group the chat's own list gives the first message only. */
function listMessages(services: Services, { app, query }: RouteContext): RouteAnswer {
  const { store, messages, cards } = services;
  const [kind, id] = [query.get("container_id_type"), query.get("container_id") ?? ""];
  let all: readonly Message[];
  if (kind === "thread") {
    all = [...store.messages.values()].filter((message) => message.threadId === id);
    if (all[0] === undefined) throw new Refused(230001, "invalid container_id");
    messages.chat(app.appId, all[0].chatId, "message.list");
  } else if (kind === "chat") {
    const [from, to] = [Number(query.get("start_time") ?? 0) * 1_000, Number(query.get("end_time") ?? Infinity) * 1_000];
    const chat = messages.chat(app.appId, id, "message.list");
    all = chat.messages.filter((message) => message.createTimeMs >= from && message.createTimeMs <= to + 999 && !(message.threadId !== null && message.rootId !== null));
  } else throw new Refused(230001, "container_id_type must be chat or thread");
  const order = query.get("sort_type") ?? "ByCreateTimeAsc";
  const sorted = [...all].sort((one, other) => (order === "ByCreateTimeDesc" ? other.createTimeMs - one.createTimeMs : one.createTimeMs - other.createTimeMs));
  const size = Number(query.get("page_size") ?? 20);
  if (!(size >= 1 && size <= 50)) throw new Refused(230001, "page_size must be 1 to 50");
  const start = Number((query.get("page_token") ?? "page-0").slice(5));
  const more = start + size < sorted.length;
  const items = sorted.slice(start, start + size).map((message) => messageRecord(message, cards, query.get("card_msg_content_type")));
  return { data: { items, has_more: more, ...(more && { page_token: `page-${start + size}` }) } };
}

function download(services: Services, { app, path, query }: RouteContext): RouteAnswer {
  const message = services.messages.findAlive(app.appId, path[0]!, "resource.download");
  if (message.msgType === "interactive" || message.msgType === "merge_forward") throw new Refused(234043, "unsupported message type");
  const file = services.files.get(path[1]!);
  if (file === undefined || !message.content.includes(path[1]!)) throw new Refused(234003, "the file does not belong to the message");
  if (query.get("type") !== "image" && query.get("type") !== "file") throw new Refused(234001, "type must be image or file");
  return { file: { bytes: file.bytes, contentType: file.contentType, name: file.name } };
}

function upload(files: FileStore, form: RouteContext["form"], kind: "image" | "file", maxMegabytes: number): { readonly key: string } {
  const part = form?.get(kind);
  // A part without a file name is a text field: its bytes are not what was sent.
  if (form === null || part === undefined || part.fileName === null) throw new Refused(234001, `invalid request param: ${kind}`);
  const { bytes } = part;
  if (bytes.length === 0) throw new Refused(234010, "the file size can not be 0");
  if (bytes.length > maxMegabytes * 1024 * 1024) throw new Refused(234006, "the file size exceeds the max value");
  return files.add(kind, form.get("file_name")?.bytes.toString("utf8") ?? null, bytes, "application/octet-stream");
}

function createChat(services: Services, { app, body }: RouteContext): RouteAnswer {
  const people = Array.isArray(body["user_id_list"]) ? body["user_id_list"].filter((id) => typeof id === "string") : [];
  const stranger = people.find((id) => !services.store.people.has(id));
  if (stranger !== undefined) throw new Refused(232025, `invalid user ${stranger}`);
  const chat = services.store.addChat({ mode: "group", name: typeof body["name"] === "string" ? body["name"] : "", people, bots: [app.appId] });
  return { data: { chat_id: chat.chatId, name: chat.name, chat_mode: "group", chat_type: "private" } };
}

function getChat(services: Services, { app, path }: RouteContext): RouteAnswer {
  const chat = services.messages.chat(app.appId, path[0]!, "chat.get");
  return {
    data: {
      name: chat.name, chat_mode: chat.mode === "topic" ? "topic" : chat.mode, chat_type: chat.mode === "p2p" ? "p2p" : "private", group_message_type: chat.threadForm ? "thread" : "chat",
      owner_id: chat.ownerOpenId ?? "", owner_id_type: "open_id", user_count: String(chat.people.size), bot_count: String(chat.bots.size), chat_status: "normal", external: false,
    },
  };
}

function listMembers(services: Services, { app, path, query }: RouteContext): RouteAnswer {
  const people = [...services.messages.chat(app.appId, path[0]!, "chat.members").people];
  const size = Number(query.get("page_size") ?? 20);
  const start = Number((query.get("page_token") ?? "page-0").slice(5));
  const more = start + size < people.length;
  const items = people.slice(start, start + size).map((openId) => ({ member_id_type: "open_id", member_id: openId, name: services.store.people.get(openId)?.name ?? "", tenant_key: "" }));
  return { data: { items, has_more: more, page_token: more ? `page-${start + size}` : "", member_total: people.length } };
}

function getUser(services: Services, { path }: RouteContext): RouteAnswer {
  const person = services.store.people.get(path[0]!);
  if (person === undefined) throw new Refused(99992351, "not a valid open_id");
  return { data: { user: { open_id: person.openId, union_id: person.unionId, user_id: person.userId, name: person.name } } };
}

function getApp({ store }: Services, { app, path }: RouteContext): RouteAnswer {
  if (path[0] !== app.appId || !store.scopes.has("application:application:self_manage")) throw new Refused(99991672, "Access denied. One of the following scopes is required: [application:application:self_manage]");
  const websocket = (key: string, names: ReadonlySet<string>): Json => ({ [key === "events" ? "subscription_type" : "callback_type"]: "websocket", [`subscribed_${key}`]: [...names] });
  return { data: { app: { app_id: app.appId, event: websocket("events", store.events), callback_info: websocket("callbacks", store.callbacks) } } };
}

/** The route of a call and the pieces of its path; undefined for a path that does not exist. */
export function findRoute(method: string, pathname: string): { readonly route: Route; readonly path: readonly string[] } | undefined {
  const pieces = pathname.replace(/^.*\/open-apis\//, "").split("/");
  for (const route of routes) {
    const wanted = route.path.split("/");
    if (route.method !== method || wanted.length !== pieces.length) continue;
    const path = pieces.filter((_, index) => wanted[index] === ":");
    if (wanted.every((piece, index) => piece === ":" || piece === pieces[index])) return { route, path: path.map(decodeURIComponent) };
  }
  return undefined;
}

export function asBody(value: unknown): Json {
  return isJson(value) ? value : {};
}
