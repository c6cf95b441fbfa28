import { detailOf, interpretCall, interpretResult, NO_RESULT, presentTool, type ToolRule } from "@foldcast/protocol-core/tools";
import { timed, type BenchCase } from "../case.ts";

const CWD = "/home/someone/project";
const RULE: ToolRule = { kind: "run_command" };
const SUCCEEDED = { status: "succeeded" } as const;
const RESULT = { ...NO_RESULT, output: "one line\n", exitCode: 0, durationMs: 120, outcome: SUCCEEDED };

/** Commands as agents write them, each one different. */
const FORMS: readonly ((i: number) => string)[] = [
  (i) => `cat notes/part${i}.md`,
  (i) => `rg -n "needle ${i}" packages/part${i}`,
  (i) => `sed -n '${i},${i + 40}p' packages/part${i}/index.ts`,
  (i) => `ls -la packages/part${i}`,
  (i) => `cd packages/part${i} && rg --files | head -n 20`,
  (i) => `npm run task${i} -- --reporter=dot 2>&1 | tail -n 40`,
  (i) => `git diff --stat part${i}`,
  (i) => `for f in part${i}/*; do wc -l "$f"; done`,
];

/** Reads, ends and titles so many commands; the lengths of the titles keep the work from being dropped. */
export function classify(n: number): number {
  let written = 0;
  for (let i = 0; i < n; i++) {
    const input = { command: FORMS[i % FORMS.length]!(i) };
    const reading = interpretCall({ name: "shell", input, rule: RULE, cwd: CWD });
    const result = interpretResult(reading, RESULT);
    const detail = detailOf({ callId: "call", rawName: "shell", rawInput: input }, reading, SUCCEEDED, result);
    written += presentTool(detail, CWD).title("en").length;
  }
  return written;
}

/** Commands a second, each classified and presented. */
const bench: BenchCase = { n: 100_000, growthFrom: 10_000, unit: "commands/s", run: (n) => timed(() => void classify(n)) };
export default bench;
