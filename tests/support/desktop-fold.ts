import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { DesktopTurn } from "./desktop-turns.ts";

export interface DesktopFold {
  /** Whether the finished turn collapses behind its final answer. */
  collapses: boolean;
  finalAnswer: string | null;
  /** Ids of what is hidden until it is opened again. */
  hidden: string[];
  divider: string | null;
}

/**
 * Desktop's own rule, written down a second time and from another side than the product's `folding`, so that each
 * checks the other: `hasFinalAssistantStarted && !cancelled && hasRenderableAgentItems` (Desktop 26.715 and 26.924).
 */
export function desktopFold(turn: DesktopTurn): DesktopFold {
  const stays: DesktopFold = { collapses: false, finalAnswer: null, hidden: [], divider: null };
  let final = -1;
  turn.items.forEach((item, at) => {
    if (item.type === "agentMessage") final = at;
  });
  const answer = turn.items[final];
  if (answer?.type !== "agentMessage" || answer.phase !== "final_answer" || answer.text.trim() === "") return stays;
  const withAnswer = { ...stays, finalAnswer: answer.text };
  if (turn.status === "interrupted" || turn.status === "inProgress") return withAnswer;
  const hidden: string[] = [];
  for (let at = 0; at < final; at++) {
    const item = turn.items[at];
    if (item !== undefined && isAgentRow(item)) hidden.push(item.id);
  }
  if (hidden.length === 0) return withAnswer;
  const divider = turn.durationMs === null ? `${hidden.length} previous messages` : `Worked for ${turn.durationMs} ms`;
  return { collapses: true, finalAnswer: answer.text, hidden, divider };
}

/** Rows of the agent that Desktop draws and may hide; an earlier final answer stays in sight. */
function isAgentRow(item: ThreadItem): boolean {
  if (item.type === "userMessage") return false;
  if (item.type === "agentMessage") return item.text.trim() !== "" && item.phase !== "final_answer";
  if (item.type === "reasoning") return item.summary.join("").trim() !== "";
  if (item.type === "fileChange") return item.changes.length > 0;
  if (item.type === "plan") return item.text.trim() !== "";
  return true;
}
