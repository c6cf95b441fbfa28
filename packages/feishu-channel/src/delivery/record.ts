import { z } from "zod";

/** One card of a turn. `triedAt`: when it was first tried to send it; null = not yet tried. */
const CardRecord = z.object({
  cardId: z.string().nullable(),
  messageId: z.string().nullable(),
  triedAt: z.number().nullable(),
  /** No try of any outcome has used a sequence beyond this one. */
  sequence: z.number(),
});
export type CardRecord = z.infer<typeof CardRecord>;

/** A message that carries a part of the answer where the card could not. */
const PartRecord = z.object({ form: z.enum(["card", "post", "text", "file"]), triedAt: z.number().nullable(), messageId: z.string().nullable() });
export type PartRecord = z.infer<typeof PartRecord>;

/**
 * What is known of a turn's delivery, durable before each step that it describes.
 *
 * - `running`: cards follow the turn. `ended`: the turn is over, its last state is not yet confirmed.
 * - `delivered`: Feishu confirmed every part with its id. `undeliverable`: Feishu refused every way.
 */
export const TurnRecord = z.object({
  turnId: z.string(),
  threadId: z.string(),
  /** Distinguishes this turn's messages from all others in the chat; shown in small print. */
  mark: z.string(),
  chatId: z.string(),
  /** The message that is answered; null = the chat itself. */
  replyTo: z.string().nullable(),
  inThread: z.boolean(),
  /** Who started the turn; null = not a person of this chat. */
  startedBy: z.string().nullable(),
  createdAt: z.number(),
  state: z.enum(["running", "ended", "delivered", "undeliverable"]),
  cards: z.array(CardRecord),
  breaks: z.array(z.object({ key: z.string(), offset: z.number(), prefix: z.string() })),
  /** Sizes below the usual limits, after refusals. */
  scale: z.number(),
  tables: z.number(),
  maskMail: z.boolean(),
  /** Parts of the answer as messages of their own; empty while the cards carry it. */
  parts: z.array(PartRecord),
  title: z.string(),
});
export type TurnRecord = z.infer<typeof TurnRecord>;

export function newTurnRecord(known: Pick<TurnRecord, "turnId" | "threadId" | "mark" | "chatId" | "replyTo" | "inThread" | "startedBy" | "createdAt" | "title">): TurnRecord {
  return { ...known, state: "running", cards: [], breaks: [], scale: 1, tables: 3, maskMail: false, parts: [] };
}
