const command = (id: string, text: string, output: string): object[] => [
  { tool: { id, name: "shell", input: { command: text } } },
  { output: id, text: output },
  { result: { id, output, exitCode: 0, durationMs: 5 } },
];
const usage = { usage: { last: { input: 100, output: 20 }, contextWindow: 258_400 } };
const slow = { steps: [{ message: "Counting.", phase: "commentary" }, ...Array.from({ length: 600 }, (_, at) => [{ delayMs: 100 }, { message: `${at}`, phase: "commentary" }]).flat()] };

/** Plays the part that the model had in the recordings: their prompts name what the model does. */
export const RECORDED_MODEL = {
  schema: 1,
  name: "recorded",
  turns: [
    // What no other turn is for plays the first one.
    { steps: [{ message: "Plain answer.", phase: "final_answer" }, usage] },
    {
      match: "scn:tools",
      steps: [
        { reasoning: "**Inspecting the workspace**\n\nThe files come first." },
        { message: "I will look at the files first.", phase: "commentary" },
        { plan: [{ step: "Look", status: "completed" }, { step: "Change", status: "inProgress" }] },
        usage,
        ...command("look", "ls -1 && cat greet.js", "greet.js\nconsole.log('hi');\n"),
        { tool: { id: "asked", name: "shell", input: { command: "node greet.js" } } },
        { approve: { id: "asked", kind: "command", offers: ["accept", "acceptForSession", "decline", "cancel"], reason: "Do you want to run this?", command: "node greet.js" } },
        { output: "asked", text: "hi\n" },
        { result: { id: "asked", output: "hi\n", exitCode: 0, durationMs: 5 } },
        { edit: { path: "/workspace/greet.js", before: "console.log('hi');\n", after: "console.log('hello');\n" } },
        { edit: { path: "/workspace/n.txt", before: null, after: "hello\nsecond line\n" } },
        { message: "All done.", phase: "final_answer" },
        usage,
      ],
    },
    { match: "scn:slowcmd", steps: [{ tool: { id: "slow", name: "shell", input: { command: "sleep 30" } } }, { output: "slow", text: "tick\n" }, { delayMs: 15_000 }, { message: "Never said in a turn that was stopped." }] },
    { match: "scn:slow", ...slow },
    {
      match: "scn:patchout",
      steps: [
        { edit: { id: "outside", path: "/outside/file.txt", before: null, after: "x\n" } },
        { approve: { id: "outside", kind: "fileChange" } },
        { message: "It stays as it was.", phase: "final_answer" },
      ],
    },
    { match: "scn:error", steps: [{ message: "Trying.", phase: "commentary" }], end: "failed", error: { message: "mock failure", code: "other" } },
    { match: "scn:http:500", steps: [], end: "failed", error: { message: "server error", code: "internalServerError" } },
    { match: "scn:http:429", steps: [], end: "failed", error: { message: "too many", code: { responseTooManyFailedAttempts: { httpStatusCode: 429 } } } },
    { match: "scn:http:401", steps: [], end: "failed", error: { message: "no key", code: { httpConnectionFailed: { httpStatusCode: 401 } } } },
    { match: "scn:http", steps: [], end: "failed", error: { message: "bad request", code: "other" } },
    {
      match: "hello stub",
      steps: [{ message: "Working.", phase: "commentary" }, ...command("echo", "echo hello", "hello\n"), { message: "Final.", phase: "final_answer" }],
    },
  ],
} as const;
