import type { UserInput } from "../wire/index.ts";
import type { HarnessError, HarnessItem, ItemOutcome, ItemResult, ItemUpdate, PlanReport, TurnOutcome, UsageReport } from "./items.ts";
import type { InteractionRequest, InteractionClosedReason } from "./interactions.ts";

/**
 * What an adapter reports, live and from history alike.
 *
 * Order that a well-behaved adapter keeps: `turn.started`, then items, each started before it is updated and
 * completed once; interactions closed; items completed; exactly one `turn.completed`. The projection repairs or
 * drops what breaks this order and counts it; it never throws. `session.*`, `usage` and `fault` may come at any time.
 *
 * `at` is the time of the event in Unix milliseconds as the harness recorded it, null where it did not
 * (history); a live adapter takes it from the clock that it was given, before it writes or emits.
 */
export type HarnessEvent =
  | {
      type: "turn.started";
      /** The harness's own key of this turn, stable in its session and its saved file. */
      turnKey: string;
      at: number | null;
      /** What the person sent. Empty for a turn that the agent started by itself. */
      input: UserInput[];
      clientId?: string | null;
      origin?: "user" | "agent";
      /** The working directory of this turn, where it differs from the session's. */
      cwd?: string | null;
      model?: string | null;
    }
  | { type: "item.started"; item: HarnessItem; at: number | null }
  | { type: "item.updated"; itemId: string; update: ItemUpdate; at: number | null }
  | { type: "item.completed"; itemId: string; outcome: ItemOutcome; result?: ItemResult; at: number | null }
  | { type: "plan.updated"; plan: PlanReport; explanation?: string | null; at: number | null }
  | { type: "usage.updated"; usage: UsageReport; at: number | null }
  | { type: "interaction.opened"; interaction: InteractionRequest; at: number | null }
  | { type: "interaction.closed"; interactionId: string; reason: InteractionClosedReason; at: number | null }
  /** A failure that the harness will try to get over by itself (`willRetry` on the wire). */
  | { type: "retry"; error: HarnessError; at: number | null }
  | { type: "turn.completed"; outcome: TurnOutcome; at: number | null; durationMs?: number | null }
  | { type: "session.state"; state: SessionState; at: number | null }
  /** The session is gone: its open turn fails with this error, and the stream ends. */
  | { type: "fault"; error: HarnessError; at: number | null };
export type HarnessEventType = HarnessEvent["type"];

/** Only what the harness confirmed. Absent = not known. */
export interface SessionState {
  nativeSessionId?: string;
  file?: string | null;
  model?: string | null;
  thinking?: string | null;
  permissionMode?: string | null;
  title?: string | null;
  /**
   * How many tasks of the session go on whether a turn runs or not (background commands, agents), all of them counted.
   * While it is not 0 the host keeps the session open. A harness that never says so is taken by its child agents.
   */
  backgroundTasks?: number;
}
