import type { ScenarioInput } from "../scenario/schema.ts";

const TEST_OUTPUT = `
> temperature@1.4.0 test
> node --test

ok 1 - converts the freezing point
ok 2 - converts the boiling point
not ok 3 - rounds to one decimal
  expected: 98.6
  actual:   98.60000000000001
ok 4 - refuses what is no number
1..4
# pass 3
# fail 1
`.trimStart();

const CONVERT_BEFORE = `export function toFahrenheit(celsius) {
  if (!Number.isFinite(celsius)) {
    throw new TypeError("celsius must be a number");
  }
  return celsius * 9 / 5 + 32;
}
`;
const CONVERT_AFTER = `import { roundTo } from "./round.js";

export function toFahrenheit(celsius) {
  if (!Number.isFinite(celsius)) {
    throw new TypeError("celsius must be a number");
  }
  return roundTo(celsius * 9 / 5 + 32, 1);
}
`;
const ROUND_AFTER = `/** Rounds half up at the given decimal place. */
export function roundTo(value, places) {
  const factor = 10 ** places;
  return Math.round(value * factor) / factor;
}
`;
const CHANGES_BEFORE = `# Changes

## 1.4.0
- Refuse what is no number.
`;
const CHANGES_AFTER = `# Changes

## Unreleased
- Round to one decimal.

## 1.4.0
- Refuse what is no number.
`;

const ANSWER = `The conversion now rounds to one decimal, so **37 °C gives 98.6 °F** and the failing test passes.

- \`src/round.js\` is new: one small rounding helper.
- \`src/convert.js\` uses it for its result.
- \`CHANGES.md\` names the fix under *Unreleased*.

No other caller relied on the unrounded value.`;

const AGAIN = `All four tests pass: the two fixed points, the rounding, and the refusal of what is no number. Nothing else had to change.`;

/** A turn that folds: reasoning, a remark, a plan, a failing test, a search, three edits, the test again, the answer. */
export const demo: ScenarioInput = {
  schema: 1,
  name: "demo",
  description: "Fixes a rounding error: a plan, commands, a search, three edited files and an answer.",
  turns: [
    {
      steps: [
        { reasoning: "The person sees 98.60000000000001 instead of 98.6. That looks like floating point noise; the tests should show it.", chunks: 4, chunkDelayMs: 60 },
        { message: "I will run the tests first to see the failure.", phase: "commentary", chunks: 3, chunkDelayMs: 40 },
        { plan: [{ step: "Run the tests", status: "inProgress" }, { step: "Find the conversion" }, { step: "Round the result" }, { step: "Check again" }] },
        { tool: { id: "test", name: "shell", input: { command: "npm test" } } },
        { delayMs: 150 },
        { output: "test", text: TEST_OUTPUT, chunks: 6, chunkDelayMs: 80 },
        { result: { id: "test", output: TEST_OUTPUT, status: "failed", exitCode: 1, durationMs: 640 } },
        { tool: { id: "find", name: "search_files", input: { pattern: "toFahrenheit", path: "src" } } },
        { delayMs: 80 },
        { result: { id: "find", output: "src/convert.js:1:export function toFahrenheit(celsius) {\nsrc/index.js:1:export { toFahrenheit } from \"./convert.js\";\n" } },
        { plan: [{ step: "Run the tests", status: "completed" }, { step: "Find the conversion", status: "completed" }, { step: "Round the result", status: "inProgress" }, { step: "Check again" }] },
        { edit: { id: "round", path: "src/round.js", before: null, after: ROUND_AFTER } },
        { delayMs: 80 },
        { edit: { id: "convert", path: "src/convert.js", before: CONVERT_BEFORE, after: CONVERT_AFTER } },
        { delayMs: 80 },
        { edit: { id: "changes", path: "CHANGES.md", before: CHANGES_BEFORE, after: CHANGES_AFTER } },
        { tool: { id: "check", name: "shell", input: { command: "npm test" } } },
        { delayMs: 150 },
        { output: "check", text: "# pass 4\n# fail 0\n" },
        { result: { id: "check", output: "# pass 4\n# fail 0\n", exitCode: 0, durationMs: 590 } },
        { plan: [{ step: "Run the tests", status: "completed" }, { step: "Find the conversion", status: "completed" }, { step: "Round the result", status: "completed" }, { step: "Check again", status: "completed" }] },
        { usage: { last: { input: 5210, cachedInput: 4096, output: 640, reasoning: 96 }, contextWindow: 200_000 } },
        { message: ANSWER, chunks: 12, chunkDelayMs: 40 },
      ],
    },
    {
      match: "again",
      steps: [
        { reasoning: "A second run of the tests answers this." },
        { tool: { id: "test", name: "shell", input: { command: "npm test" } } },
        { delayMs: 120 },
        { output: "test", text: "# pass 4\n# fail 0\n" },
        { result: { id: "test", output: "# pass 4\n# fail 0\n", exitCode: 0, durationMs: 575 } },
        { message: AGAIN, chunks: 6, chunkDelayMs: 40 },
      ],
    },
  ],
};
