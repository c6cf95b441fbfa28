import type { DiagnosticCounter } from "@foldcast/adapter-kit";
import type { HarnessEvent, TurnOutcome } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import { callItem, isProgram } from "./calls.ts";
import { nativeItem } from "./native-items.ts";
import { joinPrograms, programItems } from "./programs.ts";
import type { SessionRecord } from "./record.ts";
import { type BuiltItem, type CallSlot, eventsOf, type Slot } from "./slots.ts";
import { TurnReader } from "./turn-reader.ts";
import type { TurnSlots } from "./turn-slots.ts";
import type { IndexedTurn } from "./turn-list.ts";

export interface TurnSource {
  turn: IndexedTurn;
  outcome: TurnOutcome;
  /** The turn's lines, in the order of the file. */
  records: readonly SessionRecord[];
  sessionId: string;
  /** Of the session. */
  cwd: string | null;
  diagnostics: DiagnosticCounter;
}

/** The events of one turn from its lines. The same lines always give the same events. */
export function turnEvents(source: TurnSource): HarnessEvent[] {
  const { turn, outcome, diagnostics } = source;
  const slots = new TurnReader(source.records, diagnostics).read();
  const shown = shownSlots(slots, diagnostics);
  const [first] = shown;
  const input: UserInput[] = first?.kind === "user" ? first.input : [];
  const cwd = turn.cwd ?? source.cwd ?? "/";
  const events: HarnessEvent[] = [{
    type: "turn.started",
    turnKey: turn.key,
    at: turn.startedAt,
    input,
    ...(first?.kind === "user" ? { clientId: first.clientId } : {}),
    origin: shown.some((slot) => slot.kind === "user") || turn.prompt !== "" ? "user" : "agent",
    cwd: turn.cwd === source.cwd ? null : turn.cwd,
    model: turn.model,
  }];
  for (const slot of input.length > 0 ? shown.slice(1) : shown) events.push(...slotEvents(slot, slots, outcome, cwd, diagnostics));
  for (const [callId, { outputs, at }] of slots.orphans) {
    diagnostics.count("output.withoutCall", callId);
    const item = callItem({ kind: "call", id: callId, name: "function_call_output", input: { call_id: callId }, outputs, native: null, nested: [], continues: null, continuations: [], startedAt: at, completedAt: at }, outcome, cwd);
    if (item !== null) events.push(...eventsOf({ id: callId, startedAt: at, completedAt: at }, item));
  }
  if (turn.usage !== null) events.push({ type: "usage.updated", usage: turn.usage, at: turn.completedAt });
  events.push({ type: "turn.completed", outcome, at: turn.completedAt, durationMs: turn.durationMs });
  return events;
}

/** Without what other slots stand for. */
function shownSlots(slots: TurnSlots, diagnostics: DiagnosticCounter): Slot[] {
  joinPrograms(slots.placed);
  const all = slots.placed.map(({ slot }) => slot);
  const hasNatives = all.some((slot) => slot.kind === "native" || (slot.kind === "call" && slot.native !== null));
  // Where events or items tell what the person sent, the model's other records of that role are the harness's.
  const isTold = all.some((slot) => slot.kind === "user" && (slot.sources.has("event") || slot.sources.has("item")));
  return all.filter((slot) => {
    switch (slot.kind) {
      case "user":
        return !isTold || slot.sources.size > 1 || !slot.sources.has("record");
      case "native":
        return slot.program === null;
      case "call":
        if (slot.continues !== null) return false;
        // Waits of the model for a program that another turn started; its items are there without them.
        return !(slot.name === "wait" && hasNatives);
      case "item":
      case "message":
      case "reasoning":
        return true;
      default:
        diagnostics.count("slot.unknown");
        return false;
    }
  });
}

function slotEvents(slot: Slot, slots: TurnSlots, turn: TurnOutcome, cwd: string, diagnostics: DiagnosticCounter): HarnessEvent[] {
  switch (slot.kind) {
    case "message":
      return eventsOf(slot, { item: { kind: "message", id: slot.id, text: slot.text, phase: slot.phase }, outcome: { status: "succeeded" } });
    case "user":
      // Whole as soon as it is there: it takes no completion.
      return [{ type: "item.started", item: { kind: "userMessage", id: slot.id, content: slot.input, clientId: slot.clientId }, at: slot.startedAt }];
    case "reasoning":
      return eventsOf(slot, { item: { kind: "reasoning", id: slot.id, text: slot.parts.join("\n\n") }, outcome: { status: "succeeded" } });
    case "item":
      return eventsOf(slot, { item: slot.item, outcome: { status: "succeeded" } });
    case "native":
      return builtEvents(slot, withChildren(nativeItem(slot.id, slot.native), slot.id, slots));
    case "call":
      if (slot.native === null && slot.outputs.length === 0 && turn.status !== "cancelled") diagnostics.count("call.withoutOutput", slot.name);
      if (isProgram(slot.name)) return programItems(slot, turn, cwd, slots.recordsItems).flatMap(({ from, ...built }) => eventsOf(from, built));
      return builtEvents(slot, withChildren(callItem(slot, turn, cwd), slot.id, slots));
  }
}

function builtEvents(slot: CallSlot | Slot, built: BuiltItem | null): HarnessEvent[] {
  return built === null ? [] : eventsOf(slot, built);
}

function withChildren(built: BuiltItem | null, id: string, slots: TurnSlots): BuiltItem | null {
  const children = slots.childrenOf(id);
  return built === null || children.length === 0 ? built : { ...built, result: { ...built.result, children } };
}
