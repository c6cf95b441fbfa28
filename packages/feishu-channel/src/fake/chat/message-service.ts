import type { CardStore } from "../cards/card-store.ts";
import type { MutableJson } from "../cards/card-tree.ts";
import { parseObject, isJson, Refused, type Json } from "../refusal.ts";
import type { Rule, RuleBook } from "../rule-book.ts";
import type { Chat, ChatStore, Message } from "./chat-store.ts";

const hour = 3_600_000;
const day = 24 * hour;
const mail = /[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+/;

export interface MessageServiceParts {
  readonly store: ChatStore;
  readonly cards: CardStore;
  readonly rules: RuleBook;
  readonly files: { has(key: string): boolean };
  /** Refuse mail addresses in clear, as some tenants do (230028). */
  readonly audit: () => boolean;
}

/** What an app may do with messages, and what it is refused. */
export class MessageService {
  readonly #parts: MessageServiceParts;
  readonly #sent = new Map<string, { readonly message: Message; readonly atMs: number }>();

  constructor(parts: MessageServiceParts) {
    this.#parts = parts;
  }

  /** The chat that an app sends to, by chat id or by a person's open id. */
  chatFor(appId: string, kind: string, id: unknown, api: string): Chat {
    const { store } = this.#parts;
    if (typeof id !== "string" || id === "") throw this.#refuse("request", api, 230001, "receive_id is missing");
    if (kind === "open_id") {
      if (!store.people.has(id)) throw this.#refuse("message.notThere", api, 230013, "the bot has no availability to this user");
      return store.directChat(id, appId);
    }
    if (kind !== "chat_id") throw this.#refuse("request", api, 230001, "receive_id_type must be chat_id or open_id");
    return this.#chat(appId, id, api);
  }

  create(appId: string, chat: Chat, body: Json, reply: { readonly to: Message; readonly inThread: boolean } | null): Message {
    const { store, cards } = this.#parts;
    const api = reply === null ? "message.create" : "message.reply";
    const { uuid } = body;
    if (uuid !== undefined && (typeof uuid !== "string" || uuid.length > 50)) throw this.#refuse("message.uuid", api, 230001, "uuid must have at most 50 characters");
    const key = typeof uuid === "string" && uuid !== "" ? `${appId}/${chat.chatId}/${uuid}` : null;
    const before = key === null ? undefined : this.#sent.get(key);
    if (before !== undefined && store.clock.now() - before.atMs < hour) return before.message;
    const msgType = String(body["msg_type"]);
    const content = this.#content(msgType, body["content"], api);
    if (reply?.inThread === true && !chat.threads) throw this.#refuse("message.thread", api, 230071, "this chat does not support replies in thread");
    const messageId = store.newId("om");
    const cardId = msgType === "interactive" ? entityId(content.parsed) : null;
    if (cardId !== null) cards.send(appId, cardId, messageId);
    const card = msgType === "interactive" && cardId === null ? cards.parseCard(content.text, api) : null;
    const message = store.addMessage(chat, { messageId, ...this.#place(chat, reply), msgType, content: content.text, sender: { kind: "app", id: appId }, cardId, card, mentions: [] });
    if (key !== null) this.#sent.set(key, { message, atMs: store.clock.now() });
    return message;
  }

  patch(appId: string, message: Message, body: Json): void {
    const api = "message.patch";
    const { store, cards } = this.#parts;
    this.#own(appId, message, api);
    if (message.msgType !== "interactive") throw this.#refuse("request", api, 230001, "this message is not a card");
    if (store.clock.now() - message.createTimeMs > 14 * day) throw this.#refuse("card.expired", api, 230031, "the message has expired for update");
    if (message.openClicks > 0) throw this.#refuse("card.busy", api, 200810, "the card is in an ongoing interaction and cannot be updated");
    const card = cards.parseCard(body["content"], api);
    const entity = message.cardId === null ? undefined : cards.get(message.cardId);
    if (entity !== undefined) entity.card = card;
    else message.card = card;
    this.#touch(message);
  }

  /** Text and post only: for a card the real call says ok and does nothing. */
  edit(appId: string, message: Message, body: Json): void {
    this.#own(appId, message, "message.update");
    if (message.msgType === "interactive") return;
    message.content = this.#content(String(body["msg_type"]), body["content"], "message.update").text;
    this.#touch(message);
  }

  recall(appId: string, message: Message): void {
    this.#own(appId, message, "message.recall");
    message.gone = "recalled";
    this.#touch(message);
  }

  find(appId: string, messageId: string, api: string): Message {
    const message = this.#parts.store.messages.get(messageId);
    if (message === undefined) throw this.#refuse("message.notThere", api, 230001, "invalid message_id");
    this.#chat(appId, message.chatId, api);
    return message;
  }

  /** The message to act on; recalled and deleted ones refuse. */
  findAlive(appId: string, messageId: string, api: string): Message {
    const message = this.find(appId, messageId, api);
    if (message.gone === "recalled") throw new Refused(230011, "the message is recalled");
    if (message.gone === "deleted") throw new Refused(230110, "action unavailable as the message has been deleted");
    return message;
  }

  chat(appId: string, chatId: string, api: string): Chat {
    return this.#chat(appId, chatId, api);
  }

  #chat(appId: string, chatId: string, api: string): Chat {
    const chat = this.#parts.store.chats.get(chatId);
    if (chat === undefined) throw this.#refuse("message.notThere", api, 230001, "invalid chat_id");
    if (chat.disbanded) throw new Refused(232009, "the chat has been dissolved");
    if (!chat.bots.has(appId)) throw new Refused(230002, "the bot can not be outside the group");
    return chat;
  }

  #own(appId: string, message: Message, api: string): void {
    if (message.sender.kind !== "app" || message.sender.id !== appId) throw this.#refuse("request", api, 230027, "only the sender may change this message");
  }

  #touch(message: Message): void {
    message.updated = true;
    message.updateTimeMs = this.#parts.store.clock.now();
  }

  #place(chat: Chat, reply: { readonly to: Message; readonly inThread: boolean } | null): Pick<Message, "rootId" | "parentId" | "threadId"> {
    const { store } = this.#parts;
    if (reply === null) return { rootId: null, parentId: null, threadId: chat.mode === "topic" ? store.newId("omt") : null };
    const { to, inThread } = reply;
    const threadId = to.threadId ?? (inThread ? store.newId("omt") : null);
    // A first reply in a topic makes the message answered the topic's first one.
    to.threadId = threadId;
    return { rootId: to.rootId ?? to.messageId, parentId: to.messageId, threadId };
  }

  #content(msgType: string, content: unknown, api: string): { readonly text: string; readonly parsed: Json } {
    const parsed = parseObject(content, () => this.#refuse("message.content", api, 230001, "content is not the JSON of an object"));
    const text = content as string;
    const limit = msgType === "text" ? 150 * 1024 : 30 * 1024;
    // A card's own limit counts the JSON within the JSON; its check says so with the same code.
    if (msgType !== "interactive" && Buffer.byteLength(text) > limit) throw this.#refuse("message.size", api, 230025, "the length of the message content reaches its limit");
    if (this.#parts.audit() && mail.test(text)) throw this.#refuse("message.audit", api, 230028, "the messages do not pass the audit: sensitive content");
    const valid: Readonly<Record<string, () => boolean>> = {
      text: () => typeof parsed["text"] === "string" && parsed["text"] !== "",
      post: () => Object.values(parsed).length > 0 && Object.values(parsed).every((locale) => isJson(locale) && Array.isArray(locale["content"])),
      image: () => typeof parsed["image_key"] === "string" && this.#parts.files.has(parsed["image_key"]),
      file: () => typeof parsed["file_key"] === "string" && this.#parts.files.has(parsed["file_key"]),
      interactive: () => true,
    };
    if (valid[msgType]?.() !== true) throw this.#refuse("message.content", api, 230001, `invalid content of a ${msgType} message`);
    return { text, parsed };
  }

  #refuse(rule: Rule, api: string, code: number, msg: string): Refused {
    this.#parts.rules.note(rule, api, `${code} ${msg}`);
    return new Refused(code, msg);
  }
}

function entityId(content: Json): string | null {
  const data = content["type"] === "card" && isJson(content["data"]) ? content["data"] : {};
  return typeof data["card_id"] === "string" ? data["card_id"] : null;
}

/** The card that a reader sees in this message now; null when it shows none. */
export function cardOf(message: Message, cards: CardStore): MutableJson | null {
  return (message.cardId === null ? undefined : cards.get(message.cardId)?.card) ?? message.card;
}
