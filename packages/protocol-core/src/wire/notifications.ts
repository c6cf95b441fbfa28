import type { FileUpdateChange, ThreadItem } from "./items.ts";
import type { Thread, ThreadStatus } from "./threads.ts";
import type { PlanStep, ThreadTokenUsage, Turn, TurnError } from "./turns.ts";

interface InTurn {
  threadId: string;
  turnId: string;
}

/** Method → params of every notification that foldcast itself sends (Codex 0.171 names and shapes). */
export interface NotificationParams {
  "thread/started": { thread: Thread };
  "thread/status/changed": { threadId: string; status: ThreadStatus };
  "thread/name/updated": { threadId: string; threadName?: string };
  "thread/archived": { threadId: string };
  "thread/unarchived": { threadId: string };
  "thread/deleted": { threadId: string };
  "thread/closed": { threadId: string };
  "thread/tokenUsage/updated": InTurn & { tokenUsage: ThreadTokenUsage };
  "turn/started": { threadId: string; turn: Turn };
  "turn/completed": { threadId: string; turn: Turn };
  "turn/plan/updated": InTurn & { explanation: string | null; plan: PlanStep[] };
  "turn/diff/updated": InTurn & { diff: string };
  "item/started": InTurn & { item: ThreadItem; startedAtMs: number };
  "item/completed": InTurn & { item: ThreadItem; completedAtMs: number };
  "item/agentMessage/delta": InTurn & { itemId: string; delta: string };
  "item/commandExecution/outputDelta": InTurn & { itemId: string; delta: string };
  "item/reasoning/summaryPartAdded": InTurn & { itemId: string; summaryIndex: number };
  "item/reasoning/summaryTextDelta": InTurn & { itemId: string; delta: string; summaryIndex: number };
  "item/fileChange/patchUpdated": InTurn & { itemId: string; changes: FileUpdateChange[] };
  "serverRequest/resolved": { threadId: string; requestId: string | number };
  error: InTurn & { error: TurnError; willRetry: boolean };
}
export type NotificationMethod = keyof NotificationParams;

/** One notification, discriminated by `method`. */
export type Notification = { [M in NotificationMethod]: { method: M; params: NotificationParams[M] } }[NotificationMethod];
