import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import { z } from "zod";

/** Structure checked by the server that made it; here only that it is an object. */
const Payload = z.custom<InteractionPayload>((value) => typeof value === "object" && value !== null && "interactionId" in value && "fields" in value);

/**
 * One card with buttons, durable before it is sent. The button itself holds nothing but the row's key: everything that
 * decides who may press what stands here.
 *
 * - `open`: waits. `answering`: a click is being carried out. `settled`: over; `shown` says whether the card says so.
 */
export const InteractionRow = z.object({
  /** Id of the server's request; a native one may be a number. Null for the channel's own commands. */
  requestId: z.union([z.string(), z.number()]).nullable(),
  /** A foldcast server takes answers with their sender; of native Codex the channel answers the request itself. */
  native: z.object({ method: z.string(), params: z.unknown() }).nullable(),
  threadId: z.string().nullable(),
  chatId: z.string(),
  messageId: z.string().nullable(),
  triedAt: z.number().nullable(),
  startedBy: z.string().nullable(),
  expiresAt: z.number().nullable(),
  payload: Payload,
  state: z.enum(["open", "answering", "settled"]),
  outcome: z.string().nullable(),
  by: z.string().nullable(),
  shown: z.boolean(),
  /** How it was sent: a card can be changed when it is settled, a text is followed by another one. */
  form: z.enum(["card", "text"]).default("card"),
  /** Of a native request with several questions: what was answered so far, by question. A foldcast server keeps that itself. */
  answers: z.record(z.string(), z.array(z.string()).readonly()).default({}),
  /** Feishu refused a mail address in it. */
  maskMail: z.boolean().default(false),
});
export type InteractionRow = z.infer<typeof InteractionRow>;
