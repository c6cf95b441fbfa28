import type { ExecCall, ResolvedCall } from "./calls.ts";

/** How a program is shown: as its source, as its only call, or as a parent of its calls in source order. */
export type ExecSummary =
  | { readonly kind: "unresolved" }
  | { readonly kind: "single"; readonly call: ResolvedCall }
  | { readonly kind: "several"; readonly children: readonly ExecCall[] };

/**
 * Condenses a read program. A single call stands for the program only when it is certain and the only
 * one; uncertain calls beside certain ones stay visible as children.
 */
export function summarizeExec(program: { readonly calls: readonly ExecCall[] }): ExecSummary {
  const [first] = program.calls;
  if (first === undefined || !program.calls.some((call) => call.status === "resolved")) return { kind: "unresolved" };
  if (program.calls.length === 1 && first.status === "resolved") return { kind: "single", call: first };
  return { kind: "several", children: program.calls };
}
