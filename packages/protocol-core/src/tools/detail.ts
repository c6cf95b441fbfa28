import type { ItemOutcome } from "../harness/items.ts";
import type { PlanStep } from "../wire/index.ts";
import type { CallFacts, CallReading } from "./reading.ts";
import type { ResultReading } from "./result.ts";
import { pendingView, type ToolResultView } from "./result-view.ts";
import { NO_EVIDENCE, type ToolEvidence } from "./results/evidence.ts";
import type { ToolKind } from "./tool-map.ts";
import type { ToolState } from "./presentation/wording.ts";

/** One action inside a call that makes several. */
export interface ChildAction {
  kind: ToolKind;
  canonicalName: string | null;
  canonicalArguments: Readonly<Record<string, unknown>> | null;
  facts: CallFacts;
}

/**
 * A tool call as every screen needs it, plain JSON. `rawName` and `rawInput` are the harness's own and never changed;
 * both are null when only the wire's item is known.
 */
export interface ToolCallDetail {
  callId: string;
  rawName: string | null;
  rawInput: unknown;
  kind: ToolKind;
  canonicalName: string | null;
  canonicalArguments: Readonly<Record<string, unknown>> | null;
  state: ToolState;
  /** The call that this one waits for, where both are of one turn. */
  parentId: string | null;
  /** Agent action of a `spawn_agent`, else null. */
  agentAction: string | null;
  facts: CallFacts;
  /** Done and all steps of a plan that the call carries, else null. */
  steps: { done: number; total: number } | null;
  evidence: ToolEvidence;
  /** Why it failed, one line; null when it did not or nobody says. */
  reason: string | null;
  view: ToolResultView;
  /** Source of a code-mode program that is more than its only call, else null. */
  program: { language: string; text: string } | null;
  children: readonly ChildAction[];
}

export interface RawCall {
  callId: string;
  rawName: string | null;
  rawInput: unknown;
}

/** The detail of a call. `outcome` null = it has not ended. */
export function detailOf(raw: RawCall, reading: CallReading, outcome: ItemOutcome | null, result: ResultReading | null): ToolCallDetail {
  const shape = reading.as;
  const misses = result !== null && foundNothing(reading, result);
  const evidence = result?.evidence ?? NO_EVIDENCE;
  // Written out member by member: spreading is several times slower, and this runs once or twice an item.
  return {
    callId: raw.callId,
    rawName: raw.rawName,
    rawInput: raw.rawInput,
    kind: reading.kind,
    canonicalName: reading.canonicalName,
    canonicalArguments: reading.canonicalArguments,
    state: misses ? "succeeded" : stateOf(outcome, result),
    parentId: null,
    agentAction: shape.item === "agent" ? shape.action : null,
    facts: reading.facts,
    steps: shape.item === "plan" && shape.plan !== null ? stepsOf(shape.plan) : null,
    evidence: misses ? { ...evidence, hits: 0 } : evidence,
    reason: misses ? null : (result?.reason ?? null),
    view: result?.view ?? pendingView(reading),
    program: reading.program ?? null,
    children: reading.children === undefined ? NO_CHILDREN : reading.children.map(childOf),
  };
}

const NO_CHILDREN: readonly ChildAction[] = [];

function childOf({ kind, canonicalName, canonicalArguments, facts }: CallReading): ChildAction {
  return { kind, canonicalName, canonicalArguments, facts };
}

function stepsOf(plan: readonly PlanStep[]): ToolCallDetail["steps"] {
  return { done: plan.filter((step) => step.status === "completed").length, total: plan.length };
}

/** grep and its kin end with 1 and no output when there is no hit, which is an answer and not a failure. */
function foundNothing(reading: CallReading, result: ResultReading): boolean {
  return reading.kind === "search_files" && reading.facts.command !== null && result.exitCode === 1 && (result.output ?? "").trim() === "";
}

/** A command that left a non-zero exit code failed, also where its harness calls the call completed. */
function stateOf(outcome: ItemOutcome | null, result: ResultReading | null): ToolState {
  if (outcome === null) return "running";
  const isBad = result !== null && (result.failed || (result.exitCode !== null && result.exitCode !== 0));
  return outcome.status === "succeeded" && isBad ? "failed" : outcome.status;
}
