import type { ThreadItem, Turn } from "../wire/index.ts";

export type OpenReason = "running" | "cancelled" | "noFinalAnswer" | "nothingBefore";

/** `workedFor` in milliseconds, `previousMessages` a count of folded items. */
export type FoldDivider = { kind: "workedFor" | "previousMessages"; value: number };

export interface FoldVerdict {
  folds: boolean;
  /** Why it stays open; null when it folds. */
  reason: OpenReason | null;
  foldedItemIds: string[];
  divider: FoldDivider | null;
  finalAnswerId: string | null;
}

/** Whether Desktop draws the item at all. A file change without changes, empty reasoning and blank text are not drawn. */
export function isRenderable(item: ThreadItem): boolean {
  switch (item.type) {
    case "userMessage":
      return item.content.length > 0;
    case "agentMessage":
    case "plan":
      return item.text.trim() !== "";
    case "reasoning":
      return item.summary.some((part) => part.trim() !== "");
    case "fileChange":
      return item.changes.length > 0;
    default:
      return true;
  }
}

/**
 * How Codex Desktop shows a turn (measured on its 26.7 and 26.924 bundles): it folds when the last agent message is
 * `final_answer` with content, the turn was not cancelled, and something renderable that is no user message stands
 * before the answer. User messages and an earlier `final_answer` never fold.
 */
export function foldTurn(turn: Turn): FoldVerdict {
  const open = (reason: OpenReason): FoldVerdict => ({ folds: false, reason, foldedItemIds: [], divider: null, finalAnswerId });
  let finalAnswerId: string | null = null;
  const answerAt = turn.items.findLastIndex((item) => item.type === "agentMessage");
  const answer = turn.items[answerAt];
  if (answer?.type === "agentMessage" && answer.phase === "final_answer" && answer.text.trim() !== "") finalAnswerId = answer.id;
  if (turn.status === "inProgress") return open("running");
  if (turn.status === "interrupted") return open("cancelled");
  if (finalAnswerId === null) return open("noFinalAnswer");
  const foldedItemIds = turn.items
    .slice(0, answerAt)
    .filter((item) => isRenderable(item) && item.type !== "userMessage" && !(item.type === "agentMessage" && item.phase === "final_answer"))
    .map((item) => item.id);
  if (foldedItemIds.length === 0) return open("nothingBefore");
  const divider: FoldDivider = turn.durationMs === null
    ? { kind: "previousMessages", value: foldedItemIds.length }
    : { kind: "workedFor", value: turn.durationMs };
  return { folds: true, reason: null, foldedItemIds, divider, finalAnswerId };
}
