/** Scenarios that several end-to-end tests play, by name. Each shows one way for a turn to end up folded or open. */
const ran = (id: string, command: string, output: string): object[] => [
  { tool: { id, name: "Bash", input: { command }, map: "qoder" } },
  { output: id, text: output, chunks: 2 },
  { result: { id, output, status: "succeeded", exitCode: 0, durationMs: 40 } },
];
const edited = (path: string, before: string | null, after: string | null): object => ({ edit: { path, before, after } });
const scenario = (name: string, turns: readonly object[]): object => ({ schema: 1, name, turns });

/** A word that occurs nowhere else, to be counted on a screen. */
export const ANSWER_WORD = "Zephyrine";

export const SCENARIOS: Readonly<Record<string, object>> = {
  work: scenario("work", [
    {
      match: "first",
      steps: [
        { reasoning: "**Looking around**\n\nThe files come first.", chunks: 3 },
        { message: "I will look at the files.", chunks: 2 },
        ...ran("run", "echo hello && date", "hello\nMonday\n"),
        edited("/w/alpha.txt", null, "new\n"),
        edited("/w/beta.txt", "a\nb\n", "a\nc\n"),
        edited("/w/gamma.txt", "x\n", "y\nz\n"),
        { usage: { last: { input: 1200, cachedInput: 200, output: 90, reasoning: 10 }, contextWindow: 200_000 } },
        { message: `All three files are changed. ${ANSWER_WORD}.`, chunks: 5 },
      ],
      end: "succeeded",
    },
    { match: "second", steps: [{ reasoning: "Nothing to do." }, { message: "Nothing was left to do." }], end: "succeeded" },
    { match: "long", steps: [{ message: "This takes a while." }, { delayMs: 600_000 }, { message: "never seen" }], end: "succeeded" },
  ]),
  answerOnly: scenario("answerOnly", [{ steps: [{ message: "Forty-two." }], end: "succeeded" }]),
  endsWithTool: scenario("endsWithTool", [{ steps: [{ message: "Let me run it." }, ...ran("run", "make", "ok\n")], end: "succeeded" }]),
  endsWithEdit: scenario("endsWithEdit", [{ steps: [{ message: "Writing." }, edited("/w/a", null, "1\n")], end: "succeeded" }]),
  hiddenAtEnd: scenario("hiddenAtEnd", [
    { steps: [...ran("run", "make", "ok\n"), { message: "Built." }, { reasoning: "  " }, { plan: [{ step: "build", status: "completed" }] }, { message: "\n" }], end: "succeeded" },
  ]),
  answerThenMergedEdit: scenario("answerThenMergedEdit", [
    { steps: [edited("/w/a", null, "1\n"), { message: "Both are written." }, edited("/w/a", "1\n", "2\n")], end: "succeeded" },
  ]),
  revertedOnly: scenario("revertedOnly", [
    { steps: [edited("/w/a", "1\n", "2\n"), edited("/w/a", "2\n", "1\n"), { message: "Tried and taken back." }], end: "succeeded" },
  ]),
  commentaryOnly: scenario("commentaryOnly", [{ steps: [...ran("run", "make", "ok\n"), { message: "By the way.", phase: "commentary" }], end: "succeeded" }]),
  earlyAnswer: scenario("earlyAnswer", [
    { steps: [{ message: "First answer.", phase: "final_answer" }, ...ran("run", "make", "ok\n"), { message: "Second answer." }], end: "succeeded" },
  ]),
  failed: scenario("failed", [{ steps: [...ran("run", "make", "no\n"), { message: "It does not" }], end: "failed", error: "the model went away" }]),
  cancelled: scenario("cancelled", [{ steps: [...ran("run", "make", "no\n"), { message: "So far" }], end: "cancelled" }]),
  failedMessage: scenario("failedMessage", [{ steps: [...ran("run", "make", "ok\n"), { message: "half", outcome: "failed" }], end: "succeeded" }]),
  parallel: scenario("parallel", [
    { steps: [{ parallel: [ran("p", "make a", "a\n"), ran("q", "make b", "b\n"), [edited("/w/p", null, "1\n")]] }, { message: "All built." }], end: "succeeded" },
  ]),
  declinedEdit: scenario("declinedEdit", [
    {
      steps: [edited("/w/a", null, "1\n"), { edit: { path: "/w/b", before: null, after: "1\n", status: "declined" } }, edited("/w/c", null, "1\n"), { message: "Two of three." }],
      end: "succeeded",
    },
  ]),
  unicode: scenario("unicode", [
    { steps: [{ reasoning: "考える 🤔", chunks: 4 }, ...ran("run", "echo 完成", "完成 ✅\n"), { message: "終わり 👩‍👩‍👧 é", chunks: 9 }], end: "succeeded" },
  ]),
  wide: scenario("wide", [{ steps: [...ran("run", "cat big", `${"w".repeat(300_000)}\n`), { message: "v".repeat(100_000), chunks: 50 }], end: "succeeded" }]),
  tall: scenario("tall", [{ steps: [...ran("run", "seq 20000", Array.from({ length: 20_000 }, (_, n) => `${n}\n`).join("")), { message: "counted" }], end: "succeeded" }]),
};

/** What Desktop does with the turn of each: why it stays open, or null where it folds. */
export const FOLDS: Readonly<Record<string, "folds" | "cancelled" | "noFinalAnswer" | "nothingBefore">> = {
  answerOnly: "nothingBefore",
  endsWithTool: "noFinalAnswer",
  endsWithEdit: "noFinalAnswer",
  hiddenAtEnd: "folds",
  answerThenMergedEdit: "folds",
  revertedOnly: "nothingBefore",
  commentaryOnly: "noFinalAnswer",
  earlyAnswer: "folds",
  failed: "noFinalAnswer",
  cancelled: "cancelled",
  failedMessage: "noFinalAnswer",
  parallel: "folds",
  declinedEdit: "folds",
  unicode: "folds",
  wide: "folds",
  tall: "folds",
};
