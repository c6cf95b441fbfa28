import { z } from "zod";
import { InteractionAnswerParams, InteractionOfferParams } from "../wire/params.ts";
import type { InteractionAnswerResult, InteractionPayload, Sender } from "./model.ts";

/**
 * JSON shapes of what foldcast adds to the protocol for interactions, for clients that announced
 * `capabilities.extensions.foldcast.interaction`. Closed: tests judge every frame by them.
 */
const payload = z.strictObject({
  interactionId: z.string(),
  kind: z.enum(["quickReply", "approval", "formSubmit", "command"]),
  title: z.string().nullable(),
  body: z.string(),
  actions: z.array(z.strictObject({ id: z.string(), label: z.string(), value: z.string(), style: z.enum(["default", "primary", "danger"]) })),
  fields: z.array(z.strictObject({
    id: z.string(),
    label: z.string(),
    description: z.string().nullable(),
    type: z.enum(["text", "number", "integer", "boolean"]),
    options: z.array(z.strictObject({ label: z.string(), value: z.string() })),
    multiple: z.boolean(),
    freeText: z.boolean(),
    required: z.boolean(),
    default: z.array(z.string()).nullable(),
  })),
  expiresAt: z.number().nullable().describe("Unix milliseconds; null = never."),
}) satisfies z.ZodType<InteractionPayload>;

const sender = z.strictObject({ channel: z.string(), chatId: z.string(), senderId: z.string() }) satisfies z.ZodType<Sender>;

const answerResult = z.strictObject({
  status: z.enum(["accepted", "late", "unknown", "expired", "refused", "invalid"]),
  message: z.string(),
  open: z.array(z.string()).describe("With `accepted`: questions of the form that still wait."),
  command: z.string().nullable().describe("With `accepted` of a command: what the channel now runs."),
}) satisfies z.ZodType<InteractionAnswerResult>;

const answer = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("approval"), decision: z.enum(["accept", "acceptForSession", "decline", "cancel"]), text: z.string().exactOptional() }),
  z.strictObject({ kind: z.literal("question"), answers: z.record(z.string(), z.array(z.string())) }),
  z.strictObject({
    kind: z.literal("elicitation"),
    action: z.enum(["accept", "decline", "cancel"]),
    content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).exactOptional(),
  }),
  z.strictObject({ kind: z.literal("quickReply"), text: z.string() }),
  z.strictObject({ kind: z.literal("command"), command: z.string() }),
]);

const place = { threadId: z.string(), turnId: z.string() };

/** By what each describes: the payload, and params and result of each method. */
export const interactionSchemas = {
  payload,
  "foldcast/interaction/answer": InteractionAnswerParams,
  "foldcast/interaction/answer result": answerResult,
  "foldcast/interaction/offer": InteractionOfferParams,
  "foldcast/interaction/offer result": z.strictObject({ interaction: payload }),
  "foldcast/interaction/opened": z.strictObject({ ...place, interaction: payload }),
  "foldcast/interaction/resolved": z.strictObject({
    ...place,
    requestId: z.string(),
    how: z.enum(["answered", "skipped", "unreadable", "expired", "interrupted", "closedByHarness", "superseded", "restarted"]),
    by: z.strictObject({ client: z.string(), sender: sender.nullable() }).nullable().describe("Null = nobody did."),
    answer: answer.nullable().describe("What the agent was told, or what was chosen; null where it had let go already."),
  }),
  "foldcast/interaction/notAccepted": z.strictObject({ requestId: z.union([z.string(), z.number()]), status: z.enum(["late", "unknown", "expired", "refused"]), message: z.string() }),
} as const;
