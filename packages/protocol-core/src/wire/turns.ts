import type { ThreadItem } from "./items.ts";

export type TurnStatus = "inProgress" | "completed" | "interrupted" | "failed";
export type TurnItemsView = "notLoaded" | "summary" | "full";

/** `codexErrorInfo` is a code of Codex 0.171 such as `other` or `{httpConnectionFailed:{httpStatusCode}}`. */
export interface TurnError {
  message: string;
  codexErrorInfo: string | Record<string, unknown> | null;
  additionalDetails: string | null;
  misalignment: null;
}

/** `startedAt`, `completedAt` in Unix seconds; `durationMs` in milliseconds. */
export interface Turn {
  id: string;
  rootTurnId: string | null;
  items: ThreadItem[];
  itemsView: TurnItemsView;
  status: TurnStatus;
  error: TurnError | null;
  startedAt: number | null;
  completedAt: number | null;
  durationMs: number | null;
}

export interface PlanStep {
  step: string;
  status: "pending" | "inProgress" | "completed";
}

export interface TokenUsageBreakdown {
  totalTokens: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
}
export interface ThreadTokenUsage {
  total: TokenUsageBreakdown;
  last: TokenUsageBreakdown;
  modelContextWindow: number | null;
}
