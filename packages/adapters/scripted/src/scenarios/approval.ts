import type { ScenarioInput } from "../scenario/schema.ts";

/** Asks before a command and before an edit; what is declined stays undone and the turn goes on. */
export const approval: ScenarioInput = {
  schema: 1,
  name: "approval",
  description: "Asks for a command and for a file change, then answers. Prompts with \"a question\", \"a form\", \"a page\", \"a permission\" or \"a quick reply\" get that.",
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
    {
      match: "a permission",
      steps: [
        { approve: { kind: "permissions", offers: ["accept", "acceptForSession", "decline"], reason: "Fetches the packages of the project.", permissions: { network: true, write: ["/var/cache/packages"] } } },
        { message: "I will keep to what you said.", chunks: 2 },
      ],
    },
    {
      match: "a form",
      steps: [
        {
          elicit: {
            server: "issues", message: "A few things about the report that I am about to file.",
            schema: {
              type: "object",
              properties: {
                title: { type: "string", title: "Title", minLength: 3 },
                severity: { type: "string", title: "Severity", oneOf: [{ const: "low", title: "Can wait" }, { const: "high", title: "Urgent" }], default: "low" },
                notify: { type: "boolean", title: "Tell the team", default: false },
                copies: { type: "integer", title: "Copies", minimum: 1, maximum: 5 },
              },
              required: ["title"],
            },
          },
        },
        { message: "The form is closed.", chunks: 2 },
      ],
    },
    {
      match: "a page",
      steps: [
        { elicit: { server: "issues", message: "Please sign in, so that I can file the report for you.", url: "https://issues.example/sign-in" } },
        { message: "Thank you.", chunks: 1 },
      ],
    },
    {
      match: "a quick reply",
      steps: [
        { message: "The report is ready. What next?", chunks: 2 },
        { suggest: { text: "What next?", replies: [{ label: "File it", value: "a form" }, { label: "Ask me something", value: "a question" }] } },
      ],
    },
  ],
};
