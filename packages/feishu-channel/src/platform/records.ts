import { z } from "zod";
import { carriedJson } from "./carried.ts";
import type { ChatInfo, MessageBody, MessageRecord, SentMessage } from "./port.ts";

const text = z.string().min(1);
const optional = z.string().nullish().transform((value) => (value === undefined || value === "" ? null : value)).catch(null);
const time = z.coerce.number().catch(0);

/** What a send must give back to count as delivered. */
export const sentAnswer = z
  .object({ data: z.object({ message_id: text, chat_id: z.string().catch(""), thread_id: optional, create_time: time }) })
  .transform(({ data }): SentMessage => ({ messageId: data.message_id, chatId: data.chat_id, threadId: data.thread_id, createTimeMs: data.create_time }));

const messageShape = z
  .object({
    message_id: text, chat_id: z.string().catch(""), root_id: optional, parent_id: optional, thread_id: optional, msg_type: z.string().catch(""),
    create_time: time, deleted: z.boolean().catch(false),
    sender: z.object({ id: optional, sender_type: z.string().catch("") }).catch({ id: null, sender_type: "" }),
    body: z.object({ content: z.string().catch("") }).catch({ content: "" }),
  })
  .transform((item): MessageRecord => ({
    messageId: item.message_id, chatId: item.chat_id, rootId: item.root_id, parentId: item.parent_id, threadId: item.thread_id, messageType: item.msg_type,
    createTimeMs: item.create_time, deleted: item.deleted, senderKind: item.sender.sender_type === "user" || item.sender.sender_type === "app" ? item.sender.sender_type : "unknown",
    senderId: item.sender.id, content: item.body.content,
  }));

/** Items that are no messages are left out: one odd entry must not hide a chat's history. */
const messages = z.array(z.unknown()).nullish().transform((items) => (items ?? []).flatMap((item) => messageShape.safeParse(item).data ?? []));

export const pageAnswer = z
  .object({ data: z.object({ items: messages, has_more: z.boolean().catch(false), page_token: optional }) })
  .transform(({ data }) => ({ messages: data.items, nextPageToken: data.has_more ? data.page_token : null }));

export const messageAnswer = z.object({ data: z.object({ items: messages.pipe(z.array(z.custom<MessageRecord>()).min(1)) }) }).transform(({ data }) => data.items[0]!);

export const chatAnswer = (chatId: string): z.ZodType<ChatInfo> =>
  z
    .object({
      data: z.object({
        name: z.string().catch(""), chat_mode: z.enum(["group", "topic", "p2p", "unknown"]).catch("unknown"), group_message_type: z.string().catch(""), owner_id: optional,
        user_count: z.coerce.number().nullish().catch(null),
      }),
    })
    .transform(({ data }) => ({
      chatId, name: data.name, mode: data.chat_mode, threadForm: data.group_message_type === "thread", ownerOpenId: data.owner_id, userCount: data.user_count ?? null,
    }));

export const membersAnswer = z.object({
  data: z.object({
    items: z.array(z.object({ member_id: text, name: z.string().catch("") })).nullish().transform((items) => items ?? []),
    has_more: z.boolean().catch(false), page_token: optional,
  }),
});

/** The fields `msg_type` and `content` of a message that is to be sent. */
export function wireBody(body: MessageBody): { readonly msg_type: string; readonly content: string } {
  switch (body.type) {
    case "cardEntity":
      return { msg_type: "interactive", content: JSON.stringify({ type: "card", data: { card_id: body.cardId } }) };
    case "card":
      return { msg_type: "interactive", content: carriedJson(body.card) };
    case "text":
      return { msg_type: "text", content: carriedJson({ text: body.text }) };
    case "post":
      // One locale is shown to everyone, whatever the reader's language.
      return { msg_type: "post", content: carriedJson({ zh_cn: { title: body.title, content: body.paragraphs } }) };
    case "image":
      return { msg_type: "image", content: JSON.stringify({ image_key: body.imageKey }) };
    case "file":
      return { msg_type: "file", content: JSON.stringify({ file_key: body.fileKey }) };
  }
}
