import { readFileSync } from "node:fs";
import { z } from "zod";

/** Text comes in `chunks` pieces of about the same length when the answer is streamed; 1 by default. */
const chunks = z.number().int().min(1).exactOptional();
const block = z.union([
  z.strictObject({ thinking: z.string(), chunks }),
  /** `phase`: what the model calls this message (Responses API only). */
  z.strictObject({ text: z.string(), phase: z.enum(["commentary", "final_answer"]).exactOptional(), chunks }),
  /** `namespace`: of tools that come in one (Responses API only). */
  z.strictObject({ tool: z.strictObject({ id: z.string().min(1), namespace: z.string().exactOptional(), name: z.string().min(1), input: z.unknown() }), chunks }),
]);

/** Which requests a reply is for; all that is given must hold. Nothing given: any request. */
const match = z.strictObject({
  /** A part of the text that came after the model's last words: of a prompt, as a rule. */
  says: z.string().exactOptional(),
  /** The request brings the result of the tool call with this id, after the model's last words. */
  resultOf: z.string().exactOptional(),
  /** A part of the instructions. */
  system: z.string().exactOptional(),
  /** How many images came after the model's last words. */
  images: z.number().int().exactOptional(),
  /** A part of the model's name. */
  model: z.string().exactOptional(),
});

const reply = z.strictObject({
  match: match.exactOptional(),
  blocks: z.array(block).default([]),
  /** Default: `tool` when the last block is a tool call, else `end`. */
  stop: z.enum(["end", "tool", "length", "refusal"]).exactOptional(),
  usage: z.strictObject({ input: z.number().exactOptional(), cachedInput: z.number().exactOptional(), output: z.number().exactOptional(), reasoning: z.number().exactOptional() }).exactOptional(),
  /** Alone: the HTTP answer. With blocks: the stream breaks off with it behind them. */
  error: z.strictObject({ status: z.number().int().min(400), type: z.string(), message: z.string(), headers: z.record(z.string(), z.string()).exactOptional() }).exactOptional(),
  /** Milliseconds before the first byte. */
  delayMs: z.number().min(0).exactOptional(),
  /** The answer begins when the test calls `release` with this name, before or after it was asked for. */
  hold: z.string().min(1).exactOptional(),
  /** Milliseconds between the pieces of a streamed answer. */
  chunkMs: z.number().min(0).exactOptional(),
  /** The last block never ends: the answer stays open until the client goes. */
  hang: z.boolean().exactOptional(),
  /** The connection is cut after so many pieces of the streamed answer. */
  dropAfter: z.number().int().min(0).exactOptional(),
  /** How often this reply can be given; 1 by default, 0 = without end. */
  times: z.number().int().min(0).exactOptional(),
});

/** What a model says, whatever the API that it is asked through. The replies are given in their order, see `choose.ts`. */
export const scenarioSchema = z.strictObject({ name: z.string().exactOptional(), replies: z.array(reply) });
export type Scenario = z.infer<typeof scenarioSchema>;
/** The same as it may be written: with `blocks` left out. */
export type ScenarioInput = z.input<typeof scenarioSchema>;
export type Reply = z.infer<typeof reply>;
export type Match = z.infer<typeof match>;
export type Block = z.infer<typeof block>;
export type StopReason = NonNullable<Reply["stop"]>;

/** Reads a scenario file. Throws with a readable message. */
export function loadScenario(file: string): Scenario {
  const parsed = scenarioSchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.success) throw new Error(`${file} is no scenario: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

export function stopOf(reply: Reply): StopReason {
  const last = reply.blocks.at(-1);
  return reply.stop ?? (last !== undefined && "tool" in last ? "tool" : "end");
}

/** A text in about equal pieces, never inside a character; at least one piece. */
export function pieces(text: string, count = 1): string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.ceil(characters.length / count));
  const parts: string[] = [];
  for (let at = 0; at < characters.length; at += size) parts.push(characters.slice(at, at + size).join(""));
  return parts.length === 0 ? [""] : parts;
}
