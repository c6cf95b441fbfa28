import type { HarnessEvent, HarnessItem, InteractionAnswer, ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import type { ScenarioTurn } from "../scenario/schema.ts";
import type { SimpleStep } from "../scenario/steps.ts";
import { turnPrefix, walkSteps } from "../scenario/walk.ts";

/** Everything that playing one turn needs; plain data, so that it can be sent to a child process. */
export interface PlayRequest {
  turn: ScenarioTurn;
  /** Place of the turn in its scenario, from 0. */
  turnIndex: number;
  /** Unix milliseconds. */
  startedAt: number;
  /** 1 = as written, 2 = twice as fast, 0 = no delays. */
  speed: number;
}

/** What a step does to the world; the player carries it out. */
export type Action =
  | { type: "emit"; events: HarnessEvent[] }
  /** Milliseconds as written, before the speed. */
  | { type: "wait"; ms: number }
  /** Waits until `TurnState.answers` has the interaction. */
  | { type: "await"; interactionId: string }
  | { type: "crash" }
  /** An answer asked for the end of the turn. */
  | { type: "cancel" };

type Call = Extract<SimpleStep, { tool: unknown } | { edit: unknown }>;

/** What the steps of one turn know of each other. */
export class TurnState {
  readonly answers = new Map<string, InteractionAnswer>();
  /** Tools and edits of the turn by id, also those that are still to come. */
  readonly calls = new Map<string, Call>();
  /** Approvals that concern a call and have not been answered yet. */
  readonly pendingApprovals = new Set<string>();
  /** Calls whose own step has been played. */
  readonly reached = new Set<string>();
  readonly now: () => number;
  readonly #items = new Map<string, "open" | "completed">();

  constructor(request: PlayRequest, now: () => number) {
    this.now = now;
    const approvals: string[] = [];
    for (const { step, defaultId } of walkSteps(request.turn.steps, turnPrefix(request.turnIndex))) {
      if ("tool" in step) this.calls.set(step.tool.id ?? defaultId, step);
      else if ("edit" in step) this.calls.set(step.edit.id ?? defaultId, step);
      else if ("approve" in step) approvals.push(step.approve.id ?? defaultId);
    }
    for (const id of approvals) if (this.calls.has(id)) this.pendingApprovals.add(id);
  }

  isOpen(itemId: string): boolean {
    return this.#items.get(itemId) === "open";
  }

  /** The start of an item; nothing when it has started before. */
  start(item: HarnessItem): HarnessEvent[] {
    if (this.#items.has(item.id)) return [];
    this.#items.set(item.id, "open");
    return [{ type: "item.started", item, at: this.now() }];
  }

  /** The end of an item; nothing when it is not open. */
  complete(itemId: string, outcome: ItemOutcome, result?: ItemResult): HarnessEvent[] {
    if (!this.isOpen(itemId)) return [];
    this.#items.set(itemId, "completed");
    return [{ type: "item.completed", itemId, outcome, ...(result === undefined ? {} : { result }), at: this.now() }];
  }
}
