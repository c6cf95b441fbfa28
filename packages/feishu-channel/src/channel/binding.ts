import { z } from "zod";

/** What a chat, or a topic of one, is bound to. */
export const Binding = z.object({
  chatId: z.string(),
  /** The message that a topic's answers reply to; null outside of topics. */
  anchor: z.string().nullable(),
  inThread: z.boolean(),
  threadId: z.string().nullable(),
  /** For the next new thread. */
  model: z.string().nullable(),
  cwd: z.string().nullable(),
});
export type Binding = z.infer<typeof Binding>;

/**
 * A message that is to begin a turn, kept until it has: its turn answers it, and who wrote it may answer what that turn
 * asks. Under the id that the message has for the server, which comes back in the turn's first item.
 */
export const Beginning = z.object({
  threadId: z.string(),
  place: z.object({ chatId: z.string(), replyTo: z.string().nullable(), inThread: z.boolean() }),
  startedBy: z.string(),
  title: z.string(),
});
export type Beginning = z.infer<typeof Beginning>;

/** A message that was acknowledged and is not yet carried out; what is needed of it to do so. */
export const InboxRow = z.object({
  state: z.enum(["waiting", "done"]),
  messageId: z.string(),
  chatId: z.string(),
  chatType: z.enum(["p2p", "group"]),
  openId: z.string().nullable(),
  createTimeMs: z.number(),
  messageType: z.string(),
  content: z.string(),
  mentions: z.array(z.object({ key: z.string(), name: z.string(), openId: z.string().nullable(), userId: z.string().nullable(), unionId: z.string().nullable() })),
  rootId: z.string().nullable(),
  parentId: z.string().nullable(),
  threadId: z.string().nullable(),
});
export type InboxRow = z.infer<typeof InboxRow>;

/** Chat, and the topic within it: topics are conversations of their own. */
export function sessionKey(row: Pick<InboxRow, "chatId" | "threadId">): string {
  return row.threadId === null ? row.chatId : `${row.chatId}/${row.threadId}`;
}
