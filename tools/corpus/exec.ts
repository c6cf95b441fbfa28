import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { type ExecCall, readExecProgram } from "../../packages/protocol-core/src/tools/exec-wrapper/index.ts";
import type { CorpusSuite } from "./suite.ts";

const callSchema = z.object({
  name: z.string().nullable(),
  status: z.enum(["resolved", "unresolved"]),
  args: z.unknown().optional(),
  /** Arguments that plain JSON.parse would lose in the row itself. */
  argsJson: z.string().optional(),
});

type WantedCall = z.infer<typeof callSchema>;

const rowSchema = z.object({
  program: z.string(),
  expected: z.object({ calls: z.array(callSchema) }),
  acceptable: z.union([z.array(callSchema), z.array(z.array(callSchema))]).optional(),
  optional: z.boolean().optional(),
});

interface Comparable {
  readonly name: string | null;
  readonly status: string;
  readonly args?: unknown;
}

/** Code-mode programs: number, order, name, status and arguments of their calls. */
export const suite: CorpusSuite = {
  name: "exec",
  check(input) {
    const row = rowSchema.parse(input);
    const got = readExecProgram(row.program).calls.map(fromRead);
    const want = row.expected.calls.map(fromRow);
    const answers = [want, ...alternatives(row.acceptable).map((calls) => calls.map(fromRow))];
    const pass = answers.some((answer) => matches(got, answer, row.optional === true));
    return { pass, got, want };
  },
};

/** `acceptable` is one other answer, or a list of them. */
function alternatives(acceptable: z.infer<typeof rowSchema>["acceptable"]): WantedCall[][] {
  if (acceptable === undefined) return [];
  const answers: WantedCall[][] = [];
  const calls: WantedCall[] = [];
  for (const entry of acceptable) {
    if (Array.isArray(entry)) answers.push(entry);
    else calls.push(entry);
  }
  return answers.length > 0 ? answers : [calls];
}

function matches(got: readonly Comparable[], want: readonly Comparable[], mayStayOpen: boolean): boolean {
  return (
    got.length === want.length &&
    got.every((call, index) => {
      const wanted = want[index]!;
      if (isDeepStrictEqual(call, wanted)) return true;
      return mayStayOpen && call.status === "unresolved" && (call.name === wanted.name || call.name === null);
    })
  );
}

function fromRead(call: ExecCall): Comparable {
  if (call.status === "unresolved") return { name: call.name, status: call.status };
  return { name: call.name, status: call.status, ...("args" in call ? { args: sorted(call.args) } : {}) };
}

function fromRow(call: WantedCall): Comparable {
  const { name, status } = call;
  if (status === "unresolved") return { name, status };
  const args: unknown = call.argsJson === undefined ? call.args : JSON.parse(call.argsJson);
  return { name, status, ...(args === undefined ? {} : { args: sorted(args) }) };
}

/** Plain copy in which the order of keys plays no part. */
function sorted(value: unknown): unknown {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === "object" && entry !== null && !Array.isArray(entry) ? Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)) : entry,
  );
}
