import { collectCalls, type ExecCall } from "./calls.ts";
import { Evaluator, type World } from "./evaluate.ts";
import { findEffects } from "./effects.ts";
import { type ExecLimits, parseProgram } from "./parse.ts";
import { type ExecPragma, readPragma } from "./pragma.ts";
import { resolveNames } from "./scope.ts";

export type { ExecCall } from "./calls.ts";
export { type ExecEnvelope, readExecOutput } from "./output.ts";
export type { ExecLimits } from "./parse.ts";
export type { ExecPragma } from "./pragma.ts";
export { formatTopLevelStatements } from "./statements.ts";
export { summarizeExec } from "./summary.ts";

export interface ExecProgram {
  /** Set when the runtime refuses the program, or it is beyond the reader's bounds; then there are no calls. */
  readonly error?: { readonly message: string };
  readonly pragma?: ExecPragma;
  readonly calls: readonly ExecCall[];
}

/**
 * Reads a code-mode `exec` program without ever running it and lists its tool calls. `resolved`: on every
 * normal run the call is made exactly once with exactly these arguments; all others are `unresolved` with
 * what is known. Never throws; time and memory are linear in the source up to fixed bounds.
 */
export function readExecProgram(source: string, limits: ExecLimits = {}): ExecProgram {
  const head = readPragma(source);
  if (!head.ok) return { error: { message: head.message }, calls: [] };
  const pragma = head.pragma === null ? {} : { pragma: head.pragma };
  const parsed = parseProgram(head.code, limits);
  if (!parsed.ok) return { error: { message: parsed.message }, ...pragma, calls: [] };
  try {
    const names = resolveNames(parsed.program);
    const world: World = { changedSites: new Set(), builtinsChanged: false };
    const effects = findEffects(parsed.program, new Evaluator(names, world, source.length, limits), world);
    // Values read before all changes were known may be wrong, so the calls are read afresh.
    const evaluator = new Evaluator(names, world, source.length, limits);
    return { ...pragma, calls: collectCalls(parsed.program, evaluator, effects) };
  } catch (error) {
    // Only the engine's own bounds (stack, string length) can get here.
    return { error: { message: error instanceof Error ? error.message : "program too complex" }, ...pragma, calls: [] };
  }
}
