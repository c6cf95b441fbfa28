import type { CardStore } from "../cards/card-store.ts";
import type { Message } from "../chat/chat-store.ts";
import { cardOf } from "../chat/message-service.ts";
import { projectedCard } from "../reader.ts";
import type { Json } from "../refusal.ts";
import { replyIds, tenantKey } from "../socket/event-bodies.ts";

/** A message as the REST calls give it; `cardForm` is the query parameter `card_msg_content_type`. */
export function messageRecord(message: Message, cards: CardStore, cardForm: string | null): Json {
  return {
    message_id: message.messageId, ...replyIds(message), chat_id: message.chatId, msg_type: message.msgType,
    create_time: String(message.createTimeMs), update_time: String(message.updateTimeMs), deleted: message.gone !== null, updated: message.updated,
    sender: { id: message.sender.id, id_type: message.sender.kind === "app" ? "app_id" : "open_id", sender_type: message.sender.kind, tenant_key: tenantKey },
    body: { content: message.gone !== null ? "This message was recalled" : contentOf(message, cards, cardForm) },
    ...(message.mentions.length > 0 && {
      mentions: message.mentions.map(({ key, openId, name }) => ({ key, id: openId, id_type: "open_id", name, tenant_key: tenantKey })),
    }),
  };
}

function contentOf(message: Message, cards: CardStore, cardForm: string | null): string {
  const card = cardOf(message, cards);
  if (card === null) return message.content;
  return cardForm === "user_card_content" || cardForm === "raw_card_content" ? JSON.stringify(card) : projectedCard(card);
}
