import type { ScenarioInput } from "../scenario/schema.ts";

/** Asks before a command and before an edit; what is declined stays undone and the turn goes on. */
export const approval: ScenarioInput = {
  schema: 1,
  name: "approval",
  description: "Asks for a command and for a file change, then answers.",
  turns: [
    {
      steps: [
        { message: "Two things need your word before I touch them.", phase: "commentary" },
        { tool: { id: "clean", name: "shell", input: { command: "rm -rf build" } } },
        {
          approve: {
            id: "clean", kind: "command", offers: ["accept", "acceptForSession", "decline", "cancel"],
            reason: "Removes the build folder.", command: "rm -rf build",
          },
        },
        { delayMs: 80 },
        { output: "clean", text: "removed build\n" },
        { result: { id: "clean", output: "removed build\n", exitCode: 0, durationMs: 45 } },
        { edit: { id: "ignore", path: ".gitignore", before: "node_modules/\n", after: "node_modules/\nbuild/\n" } },
        { approve: { id: "ignore", kind: "fileChange", offers: ["accept", "acceptForSession", "decline", "cancel"], reason: "Adds the build folder to .gitignore." } },
        { message: "That is all: what you allowed is done, what you declined is as it was.", chunks: 3, chunkDelayMs: 40 },
      ],
    },
    {
      match: "question",
      steps: [
        {
          ask: {
            id: "where",
            questions: [{
              id: "folder", header: "Folder", question: "Which folder should be cleaned?", allowOther: true,
              options: [{ label: "build", description: "What the bundler wrote" }, { label: "coverage", description: "Reports of the tests" }],
            }],
          },
        },
        { message: "Thank you, I will keep to that.", chunks: 2 },
      ],
    },
  ],
};
