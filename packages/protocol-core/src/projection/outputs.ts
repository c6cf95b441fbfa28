import type { HarnessError, InteractionClosedReason, InteractionRequest, UsageReport } from "../harness/index.ts";
import type { FileUpdateChange, PlanStep, ThreadItem, Turn, TurnError } from "../wire/index.ts";

/**
 * Which delivery policies an output is for. Absent member = for all of them. Every policy sees a complete and
 * lawful stream of its own; the canonical stream is their union in one order.
 *
 * - `messages: "held"`: the one completion of a message, sent when its phase is decided as far as it can be before
 *   the next visible item. `"eager"`: a provisional completion at once, and another one if the phase changes.
 * - `edits: "each"`: one file change item an edit. `"merged"`: one summary item a turn.
 */
export interface OutputAudience {
  messages?: "held" | "eager";
  edits?: "each" | "merged";
}

/** Audit data of an item for clients that ask for it; see `ToolCallDetail`. Never part of a ThreadItem. */
export type ItemDetail = Readonly<Record<string, unknown>>;

/** Times in Unix milliseconds; 0 where history has none. */
export type ProjectorOutput = { audience?: OutputAudience | undefined } & (
  | { type: "turn.started"; turn: Turn }
  | { type: "item.started"; item: ThreadItem; at: number; detail?: ItemDetail | undefined }
  | { type: "message.delta"; itemId: string; delta: string }
  | { type: "output.delta"; itemId: string; delta: string }
  | { type: "reasoning.part"; itemId: string; index: number }
  | { type: "reasoning.delta"; itemId: string; index: number; delta: string }
  | { type: "patch.updated"; itemId: string; changes: FileUpdateChange[] }
  | { type: "item.completed"; item: ThreadItem; at: number; detail?: ItemDetail | undefined }
  | { type: "plan.updated"; plan: PlanStep[]; explanation: string | null }
  | { type: "usage.updated"; usage: UsageReport }
  /** The turn's diff is out of date: pull `TurnProjector.diff()` when it suits, at most four times a second. */
  | { type: "diff.changed" }
  | { type: "interaction.opened"; interaction: InteractionRequest; itemId: string | null }
  | { type: "interaction.closed"; interactionId: string; reason: InteractionClosedReason }
  | { type: "error"; error: TurnError; willRetry: boolean }
  | { type: "turn.completed"; turn: Turn }
);

/** A harness's error in the wire's shape. */
export function toTurnError(error: HarnessError): TurnError {
  return {
    message: error.message,
    codexErrorInfo: error.code ?? "other",
    additionalDetails: error.details ?? null,
    misalignment: null,
  };
}
