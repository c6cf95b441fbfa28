import type { App, Message, Person } from "../chat/chat-store.ts";
import type { Json } from "../refusal.ts";

export const tenantKey = "2df7399175000001";

/** The frame of every event, schema 2.0. `createTime` is milliseconds for events, microseconds for card callbacks. */
function wrap(app: App, eventId: string, eventType: string, createTime: number, event: Json): Json {
  const header = { event_id: eventId, event_type: eventType, create_time: String(createTime), token: "verification-token", app_id: app.appId, tenant_key: tenantKey };
  return { schema: "2.0", header, event };
}

/** Left out where a message is no reply, as Feishu does. */
export function replyIds(message: Message): Json {
  const { rootId, parentId, threadId } = message;
  return { ...(rootId !== null && { root_id: rootId }), ...(parentId !== null && { parent_id: parentId }), ...(threadId !== null && { thread_id: threadId }) };
}

export function personIds(person: Person): Json {
  return { open_id: person.openId, user_id: person.userId, union_id: person.unionId };
}

export function messageReceived(app: App, eventId: string, message: Message, chatType: string, sender: Person, names: (openId: string) => Json): Json {
  return wrap(app, eventId, "im.message.receive_v1", message.createTimeMs, {
    sender: { sender_id: personIds(sender), sender_type: "user", tenant_key: tenantKey },
    message: {
      message_id: message.messageId, chat_id: message.chatId, chat_type: chatType, message_type: message.msgType, content: message.content,
      create_time: String(message.createTimeMs), update_time: String(message.updateTimeMs),
      ...replyIds(message),
      ...(message.mentions.length > 0 && { mentions: message.mentions.map((mention) => ({ key: mention.key, name: mention.name, tenant_key: tenantKey, id: names(mention.openId) })) }),
    },
  });
}

export function messageRecalled(app: App, eventId: string, message: Message, atMs: number): Json {
  const type = message.gone === "recalled" ? "message_owner" : "group_owner";
  return wrap(app, eventId, "im.message.recalled_v1", atMs, { message_id: message.messageId, chat_id: message.chatId, recall_time: String(atMs), recall_type: type });
}

export function messageRead(app: App, eventId: string, reader: Person, messageIds: readonly string[], atMs: number): Json {
  return wrap(app, eventId, "im.message.message_read_v1", atMs, { reader: { reader_id: personIds(reader), read_time: String(atMs), tenant_key: tenantKey }, message_id_list: messageIds });
}

export function botMembership(app: App, eventId: string, added: boolean, chat: { readonly chatId: string; readonly name: string }, operator: Person, atMs: number): Json {
  const type = added ? "im.chat.member.bot.added_v1" : "im.chat.member.bot.deleted_v1";
  return wrap(app, eventId, type, atMs, { chat_id: chat.chatId, name: chat.name, operator_id: personIds(operator), external: false, operator_tenant_key: tenantKey });
}

export interface ClickBody {
  readonly tag: string;
  readonly name: string | null;
  readonly value: unknown;
  readonly formValue: Json | null;
  readonly inputValue: string | null;
  readonly option: string | null;
  readonly options: readonly string[] | null;
  readonly checked: boolean | null;
}

export interface ClickPlace {
  readonly messageId: string;
  readonly chatId: string;
  readonly operator: Person;
  readonly token: string;
  readonly atMs: number;
  readonly withOpenId: boolean;
}

/**
 * A click: `value` has the button's own value at `/action/value`; `behaviors` at `/action/behaviors/0/value`; `flat` is the
 * older callback without a header.
 */
export function cardAction(app: App, eventId: string, shape: "value" | "behaviors" | "flat", click: ClickBody, place: ClickPlace): Json {
  const action = {
    tag: click.tag, timezone: "Asia/Shanghai",
    ...(click.value !== undefined && (shape === "behaviors" ? { behaviors: [{ type: "callback", value: click.value }] } : { value: click.value })),
    ...(click.name !== null && { name: click.name }), ...(click.formValue !== null && { form_value: click.formValue }), ...(click.inputValue !== null && { input_value: click.inputValue }),
    ...(click.option !== null && { option: click.option }), ...(click.options !== null && { options: click.options }), ...(click.checked !== null && { checked: click.checked }),
  };
  const { open_id, ...others } = personIds(place.operator);
  const ids = { ...(place.withOpenId && { open_id }), ...others };
  if (shape === "flat") return { ...ids, open_message_id: place.messageId, open_chat_id: place.chatId, tenant_key: tenantKey, token: place.token, action };
  return wrap(app, eventId, "card.action.trigger", place.atMs * 1_000, {
    operator: { ...ids, tenant_key: tenantKey }, token: place.token, action, host: "im_message", context: { open_message_id: place.messageId, open_chat_id: place.chatId },
  });
}
