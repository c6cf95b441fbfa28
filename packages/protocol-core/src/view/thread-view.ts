import type { Notification, Thread, ThreadStatus, ThreadTokenUsage, Turn } from "../wire/index.ts";
import { applyToTurn, emptyTurn, viewOfTurn, type TurnView } from "./turn-view.ts";

/** What a client knows of a thread that it follows. */
export interface ThreadView {
  id: string;
  name: string | null;
  status: ThreadStatus;
  usage: ThreadTokenUsage | null;
  /** Oldest first. */
  turns: Map<string, TurnView>;
}

export function viewOfThread(thread: Pick<Thread, "id" | "name" | "status">, turns: readonly Turn[]): ThreadView {
  return { id: thread.id, name: thread.name, status: thread.status, usage: null, turns: new Map(turns.map((turn) => [turn.id, viewOfTurn(turn)])) };
}

/**
 * Applies a notification in place; false when it is not about this thread or changes nothing. A completion of a turn
 * that ended already, or of one that was never seen to run, does not start it again.
 */
export function applyToThread(view: ThreadView, notification: Notification): boolean {
  const { method, params } = notification;
  if (!("threadId" in params) || params.threadId !== view.id) return false;
  if (method === "thread/status/changed") view.status = params.status;
  else if (method === "thread/name/updated") view.name = params.threadName ?? null;
  else if (method === "thread/tokenUsage/updated") view.usage = params.tokenUsage;
  else {
    const turnId = "turnId" in params ? params.turnId : "turn" in params ? params.turn.id : null;
    if (turnId === null) return false;
    let turn = view.turns.get(turnId);
    if (turn === undefined) view.turns.set(turnId, (turn = emptyTurn(turnId)));
    if (turn.status !== "inProgress") return false;
    return applyToTurn(turn, notification);
  }
  return true;
}

/** The turn that runs, if one does: the last one in progress. */
export function runningTurn(view: ThreadView): TurnView | null {
  return [...view.turns.values()].findLast((turn) => turn.status === "inProgress") ?? null;
}
