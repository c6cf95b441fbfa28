import type { ItemOutcome } from "../harness/items.ts";
import { detailOf, type ToolCallDetail } from "./detail.ts";
import { interpretCall, ruleOf } from "./interpret.ts";
import type { CallReading } from "./reading.ts";
import { type CallResult, interpretResult, NO_RESULT, type ResultReading } from "./result.ts";
import type { ToolMap } from "./tool-map.ts";

/** What happened to a call. A later `call` of the same id replaces the earlier one: its input was still growing. */
export type ToolCallEvent =
  | { type: "call"; callId: string; name: string; input: unknown }
  | { type: "end"; callId: string; outcome: ItemOutcome; result?: Partial<Omit<CallResult, "outcome">> };

interface Merged {
  call: Extract<ToolCallEvent, { type: "call" }> | null;
  end: Extract<ToolCallEvent, { type: "end" }> | null;
  reading: CallReading | null;
  result: ResultReading | null;
}

/** Ends that wait for their call at most; the oldest is dropped then. */
const MAX_ORPHANS = 256;

/**
 * Merges the calls of a turn and their ends by id, in any order.
 *
 * - An end without a call shows nothing until its call comes: there is never a call that was not made.
 * - Of two ends the first one counts.
 * - A call without an end is `running`, until `close` ends it.
 * - A wait names its parent when the background id that it waits for is that of a call seen here.
 */
export class ToolCallReducer {
  readonly #tools: ToolMap;
  readonly #cwd: string;
  readonly #calls = new Map<string, Merged>();
  readonly #orphans = new Map<string, Merged>();
  /** Background id → call that goes on under it. */
  readonly #background = new Map<string, string>();

  /** `cwd`: absolute working directory of the turn. */
  constructor(tools: ToolMap, cwd: string) {
    this.#tools = tools;
    this.#cwd = cwd;
  }

  apply(event: ToolCallEvent): void {
    const { callId } = event;
    const known = this.#calls.get(callId) ?? this.#orphans.get(callId);
    const merged = known ?? { call: null, end: null, reading: null, result: null };
    if (event.type === "call") {
      merged.call = event;
      merged.reading = interpretCall({ name: event.name, input: event.input, rule: ruleOf(this.#tools, event.name), cwd: this.#cwd });
      this.#orphans.delete(callId);
      this.#calls.set(callId, merged);
    } else if (merged.end === null) {
      merged.end = event;
      if (merged.call === null) this.#keepOrphan(callId, merged);
    }
    if (merged.reading === null || merged.end === null) return;
    merged.result = interpretResult(merged.reading, { ...NO_RESULT, ...merged.end.result, outcome: merged.end.outcome });
    const { backgroundId } = merged.result;
    if (backgroundId !== null && merged.reading.as.item !== "wait") this.#background.set(backgroundId, callId);
  }

  /** Ends every open call, as the end of a turn does. */
  close(outcome: ItemOutcome): void {
    for (const callId of this.#calls.keys()) this.apply({ type: "end", callId, outcome });
  }

  /** The call as it stands; null when no such call was made. */
  detail(callId: string): ToolCallDetail | null {
    const merged = this.#calls.get(callId);
    if (merged?.call == null || merged.reading === null) return null;
    const { call, reading, end, result } = merged;
    const detail = detailOf({ callId, rawName: call.name, rawInput: call.input }, reading, end?.outcome ?? null, result);
    const parent = this.#parentOf(callId, reading);
    if (parent === null) return detail;
    return { ...detail, parentId: parent.callId, facts: { ...detail.facts, command: parent.reading.facts.command } };
  }

  /** All calls that were made, in the order of their first `call`. */
  details(): ToolCallDetail[] {
    return [...this.#calls.keys()].flatMap((callId) => this.detail(callId) ?? []);
  }

  #parentOf(callId: string, reading: CallReading): { callId: string; reading: CallReading } | null {
    const target = reading.as.item === "wait" ? reading.as.target : null;
    if (target === null) return null;
    const parentId = this.#background.get(target);
    const parent = parentId === undefined || parentId === callId ? null : this.#calls.get(parentId)?.reading;
    return parent == null ? null : { callId: parentId!, reading: parent };
  }

  #keepOrphan(callId: string, merged: Merged): void {
    this.#orphans.set(callId, merged);
    if (this.#orphans.size <= MAX_ORPHANS) return;
    const oldest = this.#orphans.keys().next();
    if (oldest.done !== true) this.#orphans.delete(oldest.value);
  }
}
