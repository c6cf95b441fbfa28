import type { ScenarioInput } from "../scenario/schema.ts";

/** A command fails, then the turn; with "crash" in the prompt the harness itself goes down. */
export const failure: ScenarioInput = {
  schema: 1,
  name: "failure",
  description: "A failing command and a failed turn.",
  turns: [
    {
      steps: [
        { message: "Building now.", phase: "commentary" },
        { tool: { id: "build", name: "shell", input: { command: "npm run build" } } },
        { delayMs: 80 },
        { output: "build", text: "error: no such module ./missing.js\n" },
        { result: { id: "build", output: "error: no such module ./missing.js\n", status: "failed", exitCode: 2, durationMs: 310 } },
        { message: "The build does not find", chunks: 2 },
      ],
      end: "failed",
      error: { message: "The model's answer broke off: the connection was lost.", details: "socket hang up" },
    },
    {
      match: "crash",
      steps: [
        { tool: { id: "build", name: "shell", input: { command: "npm run build" } } },
        { output: "build", text: "building\n" },
        { crash: true },
      ],
    },
  ],
};
