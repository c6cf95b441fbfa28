import { z } from "zod";
import { STEP_SCHEMAS, type Step } from "./steps.ts";

const parallel: z.ZodType<{ parallel: Step[][] }> = z.lazy(() => z.strictObject({ parallel: z.array(z.array(step)) }));
/** The options in the order of `STEP_NAMES`: error reports count on it. */
const step: z.ZodType<Step> = z.lazy(() => z.union([...Object.values(STEP_SCHEMAS), parallel]));
export const STEP_NAMES = [...Object.keys(STEP_SCHEMAS), "parallel"];

const turn = z.strictObject({
  match: z.string().min(1).exactOptional().describe("Played when the prompt contains this; the first turn that fits wins."),
  steps: z.array(step),
  end: z.enum(["succeeded", "failed", "cancelled"]).default("succeeded"),
  error: z.union([
    z.string().min(1),
    z.strictObject({
      message: z.string().min(1),
      code: z.union([z.string(), z.record(z.string(), z.unknown())]).exactOptional(),
      details: z.string().nullable().exactOptional(),
    }),
  ], { error: "Expected a text or {message, code?, details?}" }).exactOptional().describe("With end `failed`."),
});

export const scenarioSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  schema: z.literal(1),
  name: z.string().min(1),
  model: z.string().min(1).exactOptional().describe("The model's id after `scripted/`; the name by default."),
  description: z.string().exactOptional(),
  turns: z.array(turn).min(1).describe("A prompt that no `match` fits plays the first turn."),
});

export type ScenarioTurn = z.infer<typeof turn>;
export type Scenario = z.infer<typeof scenarioSchema>;
/** A scenario as it is written: what has a default may be left out. */
export type ScenarioInput = z.input<typeof scenarioSchema>;

/** The JSON Schema (draft 2020-12) of a scenario file. */
export function scenarioJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(scenarioSchema, { io: "input" });
}

/** The model id of a scenario, without the harness in front. */
export function modelOf(scenario: Scenario): string {
  return scenario.model ?? scenario.name;
}
