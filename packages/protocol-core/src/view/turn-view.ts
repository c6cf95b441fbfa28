import type { Notification, PlanStep, ThreadItem, Turn, TurnError } from "../wire/index.ts";

/** One item as a client follows it. Text that still streams is kept apart, so that a delta costs its own length. */
export interface ItemView {
  item: ThreadItem;
  done: boolean;
}

/** A turn as the stream told it so far. */
export interface TurnView {
  id: string;
  status: Turn["status"];
  /** In order of their start; an item that is sent again replaces the earlier one in its place. */
  items: Map<string, ItemView>;
  plan: PlanStep[];
  diff: string;
  error: TurnError | null;
  startedAt: number | null;
  completedAt: number | null;
  durationMs: number | null;
}

export function emptyTurn(id: string): TurnView {
  return { id, status: "inProgress", items: new Map(), plan: [], diff: "", error: null, startedAt: null, completedAt: null, durationMs: null };
}

/** The view of a turn that was read, not followed. */
export function viewOfTurn(turn: Turn): TurnView {
  return {
    ...emptyTurn(turn.id),
    status: turn.status,
    items: new Map(turn.items.map((item) => [item.id, { item, done: turn.status !== "inProgress" }])),
    error: turn.error,
    startedAt: turn.startedAt,
    completedAt: turn.completedAt,
    durationMs: turn.durationMs,
  };
}

/** Back to the wire's form, e.g. for the fold verdict. */
export function turnOfView(view: TurnView): Turn {
  return {
    id: view.id, rootTurnId: view.id, items: [...view.items.values()].map((entry) => entry.item), itemsView: "full", status: view.status,
    error: view.error, startedAt: view.startedAt, completedAt: view.completedAt, durationMs: view.durationMs,
  };
}

/**
 * Applies one notification of this turn to its view, in place. True when something changed. Works for both dialects:
 * an item that comes again replaces its former self, and the messages of `turn/completed` have the last word on a
 * phase. Notifications of other turns must not be given.
 */
export function applyToTurn(view: TurnView, notification: Notification): boolean {
  switch (notification.method) {
    case "turn/started":
      view.startedAt = notification.params.turn.startedAt;
      return true;
    case "turn/completed": {
      const { turn } = notification.params;
      view.status = turn.status;
      view.error = turn.error;
      view.startedAt = turn.startedAt ?? view.startedAt;
      view.completedAt = turn.completedAt;
      view.durationMs = turn.durationMs;
      for (const item of turn.items) complete(view, item);
      return true;
    }
    case "item/started":
      view.items.set(notification.params.item.id, { item: { ...notification.params.item }, done: false });
      return true;
    case "item/completed":
      complete(view, notification.params.item);
      return true;
    case "item/agentMessage/delta":
      return append(view, notification.params.itemId, notification.params.delta, 0);
    case "item/reasoning/summaryTextDelta":
      return append(view, notification.params.itemId, notification.params.delta, notification.params.summaryIndex);
    case "item/commandExecution/outputDelta":
      return append(view, notification.params.itemId, notification.params.delta, 0);
    case "item/fileChange/patchUpdated": {
      const entry = view.items.get(notification.params.itemId);
      if (entry?.item.type !== "fileChange" || entry.done) return false;
      entry.item = { ...entry.item, changes: notification.params.changes };
      return true;
    }
    case "turn/plan/updated":
      view.plan = notification.params.plan;
      return true;
    case "turn/diff/updated":
      view.diff = notification.params.diff;
      return true;
    case "error":
      if (!notification.params.willRetry) view.error = notification.params.error;
      return true;
    default:
      return false;
  }
}

/** The completed item has the last word, but a message that comes back blank does not take away what was streamed of it. */
function complete(view: TurnView, item: ThreadItem): void {
  const before = view.items.get(item.id)?.item;
  const isWiped = item.type === "agentMessage" && item.text.trim() === "" && before?.type === "agentMessage" && before.text.trim() !== "";
  view.items.set(item.id, { item: isWiped ? { ...item, text: before.text } : item, done: true });
}

/** Late deltas of a completed item are dropped: its completion was authoritative. */
function append(view: TurnView, itemId: string, delta: string, index: number): boolean {
  const entry = view.items.get(itemId);
  if (entry === undefined || entry.done) return false;
  const { item } = entry;
  if (item.type === "agentMessage") item.text += delta;
  else if (item.type === "commandExecution") item.aggregatedOutput = (item.aggregatedOutput ?? "") + delta;
  else if (item.type === "reasoning") {
    // A copy: the started item's list may be shared with whoever sent it.
    item.summary = [...item.summary];
    while (item.summary.length <= index) item.summary.push("");
    item.summary[index] = (item.summary[index] ?? "") + delta;
  } else return false;
  return true;
}
