import { z } from "zod";
import type { QueuedInput, Section, ThreadRecord, TurnFact } from "./store.ts";

const section = z.object({
  id: z.string(),
  name: z.string(),
  appearance: z.object({ icon: z.string().nullable(), color: z.string().nullable() }).nullable(),
});
const origin = z.object({
  sender: z.object({ channel: z.string(), chatId: z.string(), senderId: z.string() }).nullable(),
  interactionId: z.string().nullable(),
}).exactOptional();
const queuedInput = z.object({
  id: z.string(),
  input: z.array(z.looseObject({ type: z.string() })),
  clientId: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  origin,
  byClient: z.literal(true).exactOptional(),
});

const threadRecord = z.object({
  id: z.string(),
  harness: z.string().nullable(),
  nativeSessionId: z.string().nullable(),
  file: z.string().nullable(),
  model: z.string().nullable(),
  effort: z.string().nullable(),
  cwd: z.string(),
  name: z.string().nullable(),
  preview: z.string(),
  archived: z.boolean(),
  ephemeral: z.boolean(),
  threadSource: z.string().nullable(),
  originator: z.string().nullable(),
  forkedFromId: z.string().nullable(),
  // Records of before there were sections have none.
  section: section.extend({ position: z.number(), enteredAt: z.number() }).nullable().default(null),
  gitInfo: z.object({ sha: z.string().nullable(), branch: z.string().nullable(), originUrl: z.string().nullable() }).nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  recencyAt: z.number(),
});

const harnessError = z.object({
  message: z.string(),
  code: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  details: z.string().nullable().optional(),
});
const turnFact = z.object({
  turnId: z.string(),
  turnKey: z.string().nullable(),
  outcome: z
    .discriminatedUnion("status", [
      z.object({ status: z.literal("succeeded") }),
      z.object({ status: z.literal("failed"), error: harnessError }),
      z.object({ status: z.literal("cancelled"), reason: z.string().optional() }),
      z.object({ status: z.literal("unknown") }),
    ])
    .nullable(),
  startedAt: z.number().nullable(),
  completedAt: z.number().nullable(),
  origin,
});

function parse(schema: z.ZodType, text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** A stored row that cannot be read counts as absent: the thread can still be found again by its file. */
export function parseThreadRecord(text: string): ThreadRecord | null {
  return parse(threadRecord, text) as ThreadRecord | null;
}

export function parseTurnFact(text: string): TurnFact | null {
  return parse(turnFact, text) as TurnFact | null;
}

export function parseQueuedInput(text: string): QueuedInput | null {
  return parse(queuedInput, text) as QueuedInput | null;
}

export function parseSection(text: string): Section | null {
  return parse(section, text) as Section | null;
}
