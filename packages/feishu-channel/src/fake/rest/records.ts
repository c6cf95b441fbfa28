import type { CardStore } from "../cards/card-store.ts";
import type { Message } from "../chat/chat-store.ts";
import { cardOf } from "../chat/message-service.ts";
import { projectedCard } from "../reader.ts";
import type { Json } from "../refusal.ts";
import { tenantKey } from "../socket/event-bodies.ts";

/** A message as the REST calls give it; `cardForm` is the query parameter `card_msg_content_type`. */
export function messageRecord(message: Message, cards: CardStore, cardForm: string | null): Json {
  return {
    message_id: message.messageId, ...(message.rootId !== null && { root_id: message.rootId }), ...(message.parentId !== null && { parent_id: message.parentId }), ...(message.threadId !== null && { thread_id: message.threadId }),
    msg_type: message.msgType, create_time: String(message.createTimeMs), update_time: String(message.updateTimeMs), deleted: message.gone !== null, updated: message.updated, chat_id: message.chatId,
    sender: { id: message.sender.id, id_type: message.sender.kind === "app" ? "app_id" : "open_id", sender_type: message.sender.kind, tenant_key: tenantKey },
    body: { content: message.gone !== null ? "This message was recalled" : contentOf(message, cards, cardForm) },
    ...(message.mentions.length > 0 && { mentions: message.mentions.map((mention) => ({ key: mention.key, id: mention.openId, id_type: "open_id", name: mention.name, tenant_key: tenantKey })) }),
  };
}

function contentOf(message: Message, cards: CardStore, cardForm: string | null): string {
  const card = cardOf(message, cards);
  if (card === null) return message.content;
  return cardForm === "user_card_content" || cardForm === "raw_card_content" ? JSON.stringify(card) : projectedCard(card);
}
