import type { ItemOutcome, TurnOutcome } from "../harness/index.ts";
import type { MessagePhase } from "../wire/index.ts";

/** What the rule looks at, per visible item, in canonical order. */
export interface VisibleItem {
  isMessage: boolean;
  /** The phase that the adapter gave; null = none. */
  phase: MessagePhase | null;
  /** A record of a kind that nobody knows. */
  isUnknown: boolean;
  text: string;
  outcome: ItemOutcome | null;
}

export interface PhaseDecision<T> {
  item: T;
  phase: MessagePhase;
}

/**
 * The one rule for the final answer, live and from history. In a turn that is shown as completed (succeeded, or
 * unknown as in history) the last visible item becomes `final_answer` if it is a message that succeeded, is not
 * blank and has no phase of its own; records of unknown kinds behind it are passed over, since they prove no work. In a
 * failed or cancelled turn the last visible message without a phase becomes `commentary`, so that no partial text is
 * taken for a result. An explicit phase always stands.
 *
 * `items` in canonical order: hidden items are left out, and all edits that merge count only at the first one.
 */
export function decidePhase<T extends VisibleItem>(items: readonly T[], outcome: TurnOutcome): PhaseDecision<T> | null {
  if (outcome.status === "succeeded" || outcome.status === "unknown") {
    const last = items.findLast((item) => !item.isUnknown);
    const infers = last !== undefined && last.isMessage && last.phase === null && last.outcome?.status === "succeeded" && !isBlank(last.text);
    return infers ? { item: last, phase: "final_answer" } : null;
  }
  const last = items.findLast((item) => item.isMessage);
  return last === undefined || last.phase !== null ? null : { item: last, phase: "commentary" };
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
