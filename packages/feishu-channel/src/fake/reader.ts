import type { CardStore } from "./cards/card-store.ts";
import { cardBytes } from "./cards/card-rules.ts";
import type { MutableJson } from "./cards/card-tree.ts";
import type { Chat, ChatStore, Message } from "./chat/chat-store.ts";
import { cardOf } from "./chat/message-service.ts";
import { isJson } from "./refusal.ts";

/** A chat as a person in it sees it now. */
export interface ReaderChat {
  readonly chatId: string;
  readonly name: string;
  readonly mode: Chat["mode"];
  readonly disbanded: boolean;
  readonly people: readonly { readonly openId: string; readonly name: string }[];
  readonly messages: readonly ReaderMessage[];
}

export interface ReaderMessage {
  readonly messageId: string;
  readonly threadId: string | null;
  readonly rootId: string | null;
  readonly parentId: string | null;
  readonly sender: { readonly kind: "user" | "app"; readonly id: string; readonly name: string };
  readonly type: string;
  readonly createTimeMs: number;
  readonly updated: boolean;
  readonly gone: Message["gone"];
  /** All text, also that of closed panels; empty for a message that was taken back. */
  readonly text: string;
  readonly content: string;
  readonly card: ReaderCard | null;
}

export interface ReaderCard {
  readonly cardId: string | null;
  readonly card: MutableJson;
  readonly streaming: boolean;
  /** The preview line of the chat list. */
  readonly summary: string;
  readonly bytes: number;
  readonly lastSequence: number | null;
}

export function readChat(chat: Chat, store: ChatStore, cards: CardStore): ReaderChat {
  const people = [...chat.people].map((openId) => ({ openId, name: store.people.get(openId)?.name ?? openId }));
  return { chatId: chat.chatId, name: chat.name, mode: chat.mode, disbanded: chat.disbanded, people, messages: chat.messages.map((message) => readMessage(message, store, cards)) };
}

export function readMessage(message: Message, store: ChatStore, cards: CardStore): ReaderMessage {
  const card = message.gone === null ? readCard(message, cards) : null;
  return {
    messageId: message.messageId, threadId: message.threadId, rootId: message.rootId, parentId: message.parentId, sender: { ...message.sender, name: store.nameOf(message.sender) },
    type: message.msgType, createTimeMs: message.createTimeMs, updated: message.updated, gone: message.gone,
    text: message.gone !== null ? "" : card !== null ? cardText(card.card) : contentText(message), content: message.gone === null ? message.content : "", card,
  };
}

function readCard(message: Message, cards: CardStore): ReaderCard | null {
  const card = cardOf(message, cards);
  if (card === null) return null;
  const entity = message.cardId === null ? undefined : cards.get(message.cardId);
  const streaming = entity !== undefined && cards.streams(entity);
  return { cardId: message.cardId, card: structuredClone(card), streaming, summary: summaryOf(card, streaming), bytes: cardBytes(card), lastSequence: entity?.lastSequence ?? null };
}

/** A card's own summary, else what the clients make of it. */
function summaryOf(card: MutableJson, streaming: boolean): string {
  const config = isJson(card["config"]) ? card["config"] : {};
  const own = isJson(config["summary"]) ? config["summary"]["content"] : undefined;
  if (typeof own === "string" && own !== "") return own;
  if (streaming) return "[生成中...]";
  const first = cardText(card).split("\n").find((line) => line.trim() !== "");
  return first ?? "卡片消息";
}

/** Every text of a card in the order of reading. */
export function cardText(card: unknown): string {
  const lines: string[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk);
    if (!isJson(value)) return;
    if (typeof value["tag"] === "string" && typeof value["content"] === "string") lines.push(value["content"]);
    if (value["tag"] === "table") lines.push(JSON.stringify(value["rows"] ?? []));
    const { header, title, subtitle, text, text_tag_list, label, ...others } = value;
    for (const part of [header, title, subtitle, text_tag_list, text, label, ...Object.values(others)]) walk(part);
  };
  if (isJson(card)) for (const part of [card["header"], card["body"]]) walk(part);
  return lines.join("\n");
}

function contentText(message: Message): string {
  const content: unknown = JSON.parse(message.content);
  if (!isJson(content)) return message.content;
  if (message.msgType === "text") return String(content["text"]);
  if (message.msgType !== "post") return message.content;
  // Posts that a person sends have no level of locales.
  const post = Array.isArray(content["content"]) ? content : Object.values(content).find(isJson);
  const paragraphs = Array.isArray(post?.["content"]) ? (post["content"] as unknown[]) : [];
  const lines = paragraphs.map((pieces) => (Array.isArray(pieces) ? pieces.map((piece) => (isJson(piece) && typeof piece["text"] === "string" ? piece["text"] : "")).join("") : ""));
  return [typeof post?.["title"] === "string" ? post["title"] : "", ...lines].filter((line, index) => index > 0 || line !== "").join("\n");
}

/** The receive-side form that Feishu gives of a card when its own JSON is not asked for. */
export function projectedCard(card: MutableJson): string {
  const header = isJson(card["header"]) && isJson(card["header"]["title"]) ? card["header"]["title"]["content"] : "";
  return JSON.stringify({ title: typeof header === "string" ? header : "", elements: [[{ tag: "text", text: cardText({ body: card["body"] }) }]] });
}
