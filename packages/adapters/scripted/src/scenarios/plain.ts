import type { ScenarioInput } from "../scenario/schema.ts";

/** One short answer and nothing else. */
export const plain: ScenarioInput = {
  schema: 1,
  name: "plain",
  description: "One short answer.",
  turns: [{ steps: [{ message: "Hello! This answer is the same every time.", chunks: 4, chunkDelayMs: 20 }] }],
};
