import { z } from "zod";
import { readElicitationSchema } from "@foldcast/protocol-core/interaction";

const id = z.string().min(1);
const count = z.int().min(1).max(1_000_000);
/** Longest wait of one step: a day. */
const milliseconds = z.number().min(0).max(86_400_000);
const text = z.string();
const tokens = z.int().min(0);

const streaming = {
  chunks: count.exactOptional().describe("How many updates carry the text; split between code points. Default 1."),
  chunkDelayMs: milliseconds.exactOptional().describe("Wait between two chunks."),
};

export const itemStatus = z.enum(["succeeded", "failed", "declined", "cancelled"]);
const planStep = z.strictObject({ step: text, status: z.enum(["pending", "inProgress", "completed"]).default("pending") });
const tokenCounts = z.strictObject({
  input: tokens, cachedInput: tokens.exactOptional(), cacheWrite: tokens.exactOptional(), output: tokens, reasoning: tokens.exactOptional(),
});
const usageReport = z.strictObject({ last: tokenCounts, total: tokenCounts.exactOptional(), contextWindow: tokens.nullable().exactOptional() });
const question = z.strictObject({
  id,
  header: text.nullable().exactOptional(),
  question: text,
  multiSelect: z.boolean().exactOptional(),
  allowOther: z.boolean().exactOptional(),
  options: z.array(z.strictObject({ label: text, description: text.nullable().exactOptional() })).default([]),
});
const agentStatus = z.enum(["pendingInit", "running", "interrupted", "completed", "errored", "shutdown", "notFound"]);

const reasoning = z.strictObject({ reasoning: text, id: id.exactOptional(), ...streaming });
const message = z.strictObject({
  message: text,
  id: id.exactOptional(),
  phase: z.enum(["commentary", "partial_answer", "final_answer"]).nullable().exactOptional(),
  outcome: itemStatus.exactOptional(),
  ...streaming,
});
const tool = z.strictObject({
  tool: z.strictObject({
    id: id.exactOptional(),
    name: z.string().min(1),
    input: z.json().default({}),
    map: z.string().min(1).exactOptional().describe("The harness whose tool names and arguments these are."),
  }),
});
const output = z.strictObject({ output: id.describe("The tool's id."), text, ...streaming });
const result = z.strictObject({
  result: z.strictObject({
    id,
    output: text.nullable().exactOptional(),
    status: itemStatus.default("succeeded"),
    message: text.exactOptional().describe("Why it failed."),
    exitCode: z.int().nullable().exactOptional(),
    durationMs: z.number().min(0).nullable().exactOptional(),
    structured: z.json().exactOptional(),
  }),
});
const edit = z.strictObject({
  edit: z.strictObject({
    id: id.exactOptional(),
    path: z.string().min(1),
    movePath: z.string().min(1).exactOptional(),
    before: text.nullable().describe("null: the file does not exist yet."),
    after: text.nullable().describe("null: the file is deleted."),
    status: itemStatus.default("succeeded"),
  }),
});
const plan = z.strictObject({ plan: z.array(planStep), explanation: text.nullable().exactOptional() });
const usage = z.strictObject({
  usage: z.union([usageReport, tokenCounts.transform((last) => ({ last }))], { error: "Expected {last, total?, contextWindow?} or token counts {input, output, …}" }),
});
const approve = z.strictObject({
  approve: z.strictObject({
    id: id.exactOptional().describe("May be the id of a tool or an edit of this turn: then it concerns that call."),
    kind: z.enum(["command", "fileChange", "permissions", "tool"]),
    offers: z.array(z.enum(["accept", "acceptForSession", "decline", "cancel"])).min(1).default(["accept", "decline", "cancel"]),
    title: text.exactOptional(),
    reason: text.exactOptional(),
    command: text.exactOptional(),
    cwd: text.exactOptional(),
    permissions: z.strictObject({ network: z.boolean().exactOptional(), read: z.array(text).exactOptional(), write: z.array(text).exactOptional() }).exactOptional()
      .describe("With kind `permissions`: what is asked for."),
  }),
});
const ask = z.strictObject({ ask: z.strictObject({ id: id.exactOptional(), questions: z.array(question).min(1) }) });
const elicit = z.strictObject({
  elicit: z.strictObject({
    id: id.exactOptional(),
    server: z.string().min(1),
    message: text,
    schema: z.json().refine((schema) => readElicitationSchema(schema) !== null, "Expected a flat object schema, as MCP has it for elicitations").exactOptional(),
    url: z.string().regex(/^https?:\/\/\S+$/, "Expected an address of the web").exactOptional().describe("A page to open, in place of a form."),
  }).refine(({ schema, url }) => (schema === undefined) !== (url === undefined), "Give `schema` or `url`"),
});
const suggest = z.strictObject({
  suggest: z.strictObject({ id: id.exactOptional(), text, replies: z.array(z.strictObject({ label: z.string().min(1), value: z.string().min(1).exactOptional() })).min(1) })
    .describe("Quick replies: nobody waits for them, and what is chosen is the next prompt."),
});
const compaction = z.strictObject({ compaction: z.literal(true), id: id.exactOptional() });
const subagent = z.strictObject({
  subagent: z.strictObject({
    id: id.exactOptional(),
    action: z.enum([
      "spawnAgent", "sendInput", "resumeAgent", "wait", "closeAgent", "sendMessage", "followupTask", "interruptAgent", "listAgents",
    ]).default("spawnAgent"),
    prompt: text.nullable().exactOptional(),
    model: text.nullable().exactOptional(),
    effort: text.nullable().exactOptional(),
    children: z.array(z.strictObject({
      ref: id, name: text.nullable().exactOptional(), role: text.nullable().exactOptional(), status: agentStatus.default("completed"), message: text.nullable().exactOptional(),
    })).default([]),
    status: itemStatus.default("succeeded"),
    durationMs: milliseconds.exactOptional().describe("How long the children run before the call completes."),
  }),
});
const delay = z.strictObject({ delayMs: milliseconds });
const crash = z.strictObject({ crash: z.literal(true) });

/** Only what is needed to tell which event it is; everything else of a raw event passes as it stands. */
const rawEvent = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("turn.started"), turnKey: z.string(), input: z.array(z.unknown()) }),
  z.looseObject({ type: z.literal("item.started"), item: z.looseObject({ id: z.string(), kind: z.string() }) }),
  z.looseObject({ type: z.literal("item.updated"), itemId: z.string(), update: z.looseObject({ type: z.string() }) }),
  z.looseObject({ type: z.literal("item.completed"), itemId: z.string(), outcome: z.looseObject({ status: z.string() }) }),
  z.looseObject({ type: z.literal("plan.updated"), plan: z.array(z.unknown()) }),
  z.looseObject({ type: z.literal("usage.updated"), usage: z.looseObject({}) }),
  z.looseObject({ type: z.literal("interaction.opened"), interaction: z.looseObject({ id: z.string(), kind: z.string() }) }),
  z.looseObject({ type: z.literal("interaction.closed"), interactionId: z.string(), reason: z.string() }),
  z.looseObject({ type: z.literal("retry"), error: z.looseObject({ message: z.string() }) }),
  z.looseObject({ type: z.literal("turn.completed"), outcome: z.looseObject({ status: z.string() }) }),
  z.looseObject({ type: z.literal("session.state"), state: z.looseObject({}) }),
  z.looseObject({ type: z.literal("fault"), error: z.looseObject({ message: z.string() }) }),
]);
const raw = z.strictObject({ raw: rawEvent });

/** Every kind of step by the member that names it. */
export const STEP_SCHEMAS = {
  reasoning, message, tool, output, result, edit, plan, usage, approve, ask, elicit, suggest, compaction, subagent, delayMs: delay, raw, crash,
} as const;

export type SimpleStep = { [Name in keyof typeof STEP_SCHEMAS]: z.infer<(typeof STEP_SCHEMAS)[Name]> }[keyof typeof STEP_SCHEMAS];
export type Step = SimpleStep | { parallel: Step[][] };
