import { z } from "zod";
import type { CardActionEvent, FeishuEvent, Mention, PersonIds } from "./events.ts";

const text = z.string().min(1);
const optionalText = z.string().nullish().transform((value) => (value === undefined || value === "" ? null : value)).catch(null);
const record = z.record(z.string(), z.unknown());

const personShape = z.object({ open_id: optionalText, user_id: optionalText, union_id: optionalText });
const emptyPerson = { open_id: null, user_id: null, union_id: null };
const mentionShape = z.object({ key: text, name: z.string().catch(""), id: personShape.catch(emptyPerson) });

const bodyShape = z.object({
  header: z.object({ event_id: z.string().catch(""), event_type: text, create_time: z.coerce.string().catch("") }),
  event: record.catch({}),
});

const messageShape = z.object({
  sender: z.object({ sender_id: personShape.nullish().transform((ids) => ids ?? emptyPerson), sender_type: z.string().catch("") }),
  message: z.object({
    message_id: text, chat_id: text, chat_type: z.string().catch("group"), message_type: text, content: z.string(),
    create_time: z.coerce.string().catch(""), root_id: optionalText, parent_id: optionalText, thread_id: optionalText,
    mentions: z.array(z.unknown()).nullish().transform((list) => list ?? []),
  }),
});

const actionShape = z.object({
  tag: z.string().catch(""),
  name: optionalText,
  value: z.unknown().optional(),
  behaviors: z.array(z.object({ value: z.unknown().optional() })).optional().catch(undefined),
  form_value: record.nullish().catch(null),
  input_value: z.string().nullish().catch(null),
  option: z.string().nullish().catch(null),
  options: z.array(z.string()).nullish().catch(null),
  checked: z.boolean().nullish().catch(null),
});

const cardShape = z.object({
  operator: personShape.catch(emptyPerson),
  token: optionalText,
  action: actionShape,
  context: z.object({ open_message_id: optionalText, open_chat_id: optionalText }).catch({ open_message_id: null, open_chat_id: null }),
  open_message_id: optionalText,
  open_chat_id: optionalText,
});

/** The older form of a card callback: everything at the top, no header. */
const flatCardShape = z.object({ action: actionShape, open_message_id: text });

type Base = { readonly eventId: string; readonly createTimeMs: number; readonly raw: unknown };
type Respond = CardActionEvent["respond"];

/**
 * Turns the body of an event (schema 2.0, as it comes over the long connection or a webhook) into a `FeishuEvent`.
 * Bodies of an unknown or broken shape become `other`; null only for what has no event type at all. `respond` is
 * attached to card actions.
 */
export function readEvent(body: unknown, respond: Respond): FeishuEvent | null {
  const parsed = bodyShape.safeParse(body);
  if (!parsed.success) return flatCardShape.safeParse(body).success ? readCardAction({ eventId: "", createTimeMs: 0, raw: body }, body, respond) : null;
  const { header, event } = parsed.data;
  const base: Base = { eventId: header.event_id, createTimeMs: milliseconds(header.create_time), raw: body };
  return readers.get(header.event_type)?.(base, event, respond) ?? { ...base, type: "other", eventType: header.event_type };
}

const readers = new Map<string, (base: Base, event: unknown, respond: Respond) => FeishuEvent | null>(Object.entries({
  "im.message.receive_v1": readMessage,
  "card.action.trigger": readCardAction,
  "im.message.recalled_v1": (base, event) => {
    const found = z.object({ message_id: text, chat_id: z.string().catch("") }).safeParse(event);
    return found.success ? { ...base, type: "messageRecalled", messageId: found.data.message_id, chatId: found.data.chat_id } : null;
  },
  "im.message.message_read_v1": (base, event) => {
    const found = z.object({ message_id_list: z.array(z.string()), reader: z.object({ reader_id: personShape }) }).safeParse(event);
    return found.success ? { ...base, type: "messageRead", messageIds: found.data.message_id_list, reader: person(found.data.reader.reader_id) } : null;
  },
  "im.chat.member.bot.added_v1": (base, event) => {
    const found = z.object({ chat_id: text, name: optionalText, operator_id: personShape.catch(emptyPerson) }).safeParse(event);
    return found.success ? { ...base, type: "botAdded", chatId: found.data.chat_id, chatName: found.data.name, operator: person(found.data.operator_id) } : null;
  },
  "im.chat.member.bot.deleted_v1": (base, event) => chatNotice(base, event, "botRemoved"),
  "im.chat.disbanded_v1": (base, event) => chatNotice(base, event, "chatDisbanded"),
}));

function readMessage(base: Base, event: unknown): FeishuEvent | null {
  const found = messageShape.safeParse(event);
  if (!found.success) return null;
  const { sender, message } = found.data;
  const kind = sender.sender_type === "user" ? "user" : sender.sender_type === "app" ? "app" : "unknown";
  return {
    ...base, createTimeMs: milliseconds(message.create_time) || base.createTimeMs,
    type: "message", messageId: message.message_id, chatId: message.chat_id, chatType: message.chat_type === "p2p" ? "p2p" : "group",
    sender: { ...person(sender.sender_id), kind }, messageType: message.message_type, content: message.content,
    mentions: message.mentions.flatMap(readMention), rootId: message.root_id, parentId: message.parent_id, threadId: message.thread_id,
  };
}

function readMention(mention: unknown): Mention[] {
  const found = mentionShape.safeParse(mention);
  return found.success ? [{ key: found.data.key, name: found.data.name, ...person(found.data.id) }] : [];
}

function readCardAction(base: Base, event: unknown, respond: Respond): FeishuEvent | null {
  const found = cardShape.safeParse(event);
  if (!found.success) return null;
  const { action, context, operator, token } = found.data;
  const messageId = context.open_message_id ?? found.data.open_message_id;
  if (messageId === null) return null;
  // Older callbacks carry the person's ids at the top.
  const flat = personShape.catch(emptyPerson).parse(event);
  const ids = person(operator);
  return {
    ...base, type: "cardAction", operator: ids.openId ?? ids.userId ?? ids.unionId ? ids : person(flat),
    messageId, chatId: context.open_chat_id ?? found.data.open_chat_id ?? "", token, respond,
    action: {
      tag: action.tag, name: action.name, value: readValue(action.value) ?? readValue(action.behaviors?.[0]?.value),
      formValue: action.form_value ?? null, inputValue: action.input_value ?? null, option: action.option ?? null,
      options: action.options ?? null, checked: action.checked ?? null,
    },
  };
}

/** The value of a component is an object; some clients hand it back as JSON text. */
function readValue(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value === "string") {
    try {
      return readValue(JSON.parse(value));
    } catch {
      return null;
    }
  }
  const found = record.safeParse(value);
  return found.success && Object.keys(found.data).length > 0 ? found.data : null;
}

function chatNotice(base: Base, event: unknown, type: "botRemoved" | "chatDisbanded"): FeishuEvent | null {
  const found = z.object({ chat_id: text }).safeParse(event);
  return found.success ? { ...base, type, chatId: found.data.chat_id } : null;
}

function person(ids: z.infer<typeof personShape>): PersonIds {
  return { openId: ids.open_id, userId: ids.user_id, unionId: ids.union_id };
}

/** Messages are dated in milliseconds, card actions in microseconds. */
function milliseconds(value: string): number {
  const time = Number(value);
  if (!Number.isFinite(time)) return 0;
  return time > 1e14 ? Math.floor(time / 1_000) : time;
}
