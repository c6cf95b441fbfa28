import type { ScenarioInput } from "../scenario/schema.ts";

const LINES = Array.from({ length: 600 }, (_, index) => `Line ${index + 1}: still counting.`).join("\n");

/** About two minutes of steady text. */
export const slow: ScenarioInput = {
  schema: 1,
  name: "slow",
  description: "Streams for about two minutes; made to be interrupted.",
  turns: [
    {
      steps: [
        { reasoning: "This will take a while." },
        { tool: { id: "watch", name: "shell", input: { command: "npm run watch" } } },
        { output: "watch", text: "watching for changes\n" },
        { message: LINES, chunks: 600, chunkDelayMs: 200 },
        { result: { id: "watch", output: "watching for changes\n", exitCode: 0, durationMs: 120_000 } },
        { message: "Done counting." },
      ],
    },
  ],
};
