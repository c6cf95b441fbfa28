import type { ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import type { ReceivedNotification } from "./client.ts";

/** A turn as Codex Desktop holds it. `items` are in the order of first sight; a later frame replaces by id. */
export interface DesktopTurn {
  /** Null from the prompt until `turn/started` names it. */
  id: string | null;
  status: Turn["status"];
  items: ThreadItem[];
  error: Turn["error"];
  startedAt: number | null;
  durationMs: number | null;
  /** Desktop's own list of the turn's plan; no item. */
  todo: unknown;
  diff: string | null;
}

/** What Desktop did not take, by reason. A sound server causes none of these. */
export type Dropped = Record<"completedWithoutStart" | "deltaWithoutItem" | "unknownTurn" | "unknownThread", number>;

/** Completions of these are taken even where nothing was started (Desktop 26.715). */
const NEED_NO_START = new Set(["userMessage", "hookPrompt", "subAgentActivity"]);

export function newTurn(id: string | null): DesktopTurn {
  return { id, status: "inProgress", items: [], error: null, startedAt: null, durationMs: null, todo: null, diff: null };
}

/** A turn from a response (history): its items as they stand. */
export function turnFromWire(turn: Turn): DesktopTurn {
  return { ...newTurn(turn.id), status: turn.status, items: [...turn.items], error: turn.error, startedAt: turn.startedAt, durationMs: turn.durationMs };
}

/** `desktop`: a completion without a start is dropped. `plain`: it is taken, as a client must that joined in mid-turn. */
export type Follower = "desktop" | "plain";

/**
 * Applies one notification to a thread's turns as Codex Desktop does (its 26.7 bundles; later ones described as the
 * same): `turn/completed` is read for id, status, error and duration only; a completion counts only where an item of
 * the same id and type is already there; items are replaced by id.
 */
export function applyNotification(turns: DesktopTurn[], { method, params }: ReceivedNotification, dropped: Dropped, follower: Follower = "desktop"): void {
  if (method === "turn/started" || method === "turn/completed") {
    const wire = params["turn"] as Turn;
    const turn = turns.find((one) => one.id === wire.id) ?? turns.find((one) => one.id === null && one.status === "inProgress");
    if (method === "turn/started") {
      if (turn === undefined) turns.push({ ...newTurn(wire.id), startedAt: wire.startedAt });
      else Object.assign(turn, { id: wire.id, startedAt: wire.startedAt });
    } else if (turn === undefined) {
      dropped.unknownTurn++;
    } else {
      Object.assign(turn, { id: wire.id, status: wire.status, error: wire.error, durationMs: wire.durationMs });
    }
    return;
  }
  if (!method.startsWith("item/") && method !== "turn/plan/updated" && method !== "turn/diff/updated") return;
  const turn = turns.find((one) => one.id === params["turnId"]);
  if (turn === undefined) {
    dropped.unknownTurn++;
    return;
  }
  if (method === "turn/plan/updated") turn.todo = params["plan"];
  else if (method === "turn/diff/updated") turn.diff = params["diff"] as string;
  else applyItem(turn, method, params, dropped, follower);
}

function applyItem(turn: DesktopTurn, method: string, params: Record<string, unknown>, dropped: Dropped, follower: Follower): void {
  if (method === "item/started" || method === "item/completed") {
    const item = params["item"] as ThreadItem;
    const at = turn.items.findIndex((one) => one.id === item.id && one.type === item.type);
    if (method === "item/completed" && at < 0 && follower === "desktop" && !NEED_NO_START.has(item.type)) dropped.completedWithoutStart++;
    else if (method === "item/started" && item.type === "userMessage" && item.content.length === 0) return;
    else if (at < 0) turn.items.push(structuredClone(item));
    else turn.items[at] = structuredClone(item);
    return;
  }
  const item = turn.items.find((one) => one.id === params["itemId"]);
  if (item === undefined) {
    if (method.toLowerCase().endsWith("delta")) dropped.deltaWithoutItem++;
    return;
  }
  const delta = params["delta"] as string;
  const index = params["summaryIndex"] as number;
  if (method === "item/agentMessage/delta" && item.type === "agentMessage") item.text += delta;
  else if (method === "item/commandExecution/outputDelta" && item.type === "commandExecution") item.aggregatedOutput = (item.aggregatedOutput ?? "") + delta;
  else if (method === "item/reasoning/summaryPartAdded" && item.type === "reasoning") item.summary[index] ??= "";
  else if (method === "item/reasoning/summaryTextDelta" && item.type === "reasoning") item.summary[index] = (item.summary[index] ?? "") + delta;
  else if (method === "item/fileChange/patchUpdated" && item.type === "fileChange") item.changes = params["changes"] as typeof item.changes;
}
