import type { Step } from "./steps.ts";

/** Ids that a step takes when it names none: `s<turn>-<step>`, counted from 1; inside `parallel` `s1-3.<branch>.<step>`. */
export function turnPrefix(turnIndex: number): string {
  return `s${turnIndex + 1}-`;
}
export function stepId(prefix: string, index: number): string {
  return `${prefix}${index + 1}`;
}
export function branchPrefix(stepIdOfParallel: string, branch: number): string {
  return `${stepIdOfParallel}.${branch + 1}.`;
}

/** Every step with its default id, outer before inner, in the order of the file. */
export function* walkSteps(steps: readonly Step[], prefix: string): Generator<{ step: Step; defaultId: string }> {
  for (const [index, step] of steps.entries()) {
    const defaultId = stepId(prefix, index);
    yield { step, defaultId };
    if ("parallel" in step) {
      for (const [branch, inner] of step.parallel.entries()) yield* walkSteps(inner, branchPrefix(defaultId, branch));
    }
  }
}
