import type { HarnessEvent, HarnessItem, ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import type { MessagePhase, UserInput } from "@foldcast/protocol-core/wire";
import type { SessionRecord } from "./record.ts";

/** Kinds of records that tell the same thing: events, the model's own items, and completed items (0.145 and later). */
export type Source = "event" | "record" | "item";

interface SlotTimes {
  /** Unique in its turn. */
  id: string;
  startedAt: number | null;
  completedAt: number | null;
}

export interface MessageSlot extends SlotTimes {
  kind: "message";
  text: string;
  phase: MessagePhase | null;
  sources: Set<Source>;
}
export interface UserSlot extends SlotTimes {
  kind: "user";
  input: UserInput[];
  text: string;
  clientId: string | null;
  sources: Set<Source>;
}
export interface ReasoningSlot extends SlotTimes {
  kind: "reasoning";
  parts: string[];
}
/** A call of the model's, what it gave, and the item that Codex made of it where one was written. */
export interface CallSlot extends SlotTimes {
  kind: "call";
  name: string;
  input: unknown;
  outputs: unknown[];
  native: SessionRecord | null;
  /** Items that Codex made of the calls inside of a program. */
  nested: NativeSlot[];
  /** The call goes on with one that was made before; this one only waits for it. */
  continues: CallSlot | null;
  continuations: CallSlot[];
}
/** An item without a call of the model's. */
export interface NativeSlot extends SlotTimes {
  kind: "native";
  native: SessionRecord;
  /** It stands in the place of the program that made it. */
  program: CallSlot | null;
}
/** Anything that is one harness item and needs no other record. */
export interface ItemSlot extends SlotTimes {
  kind: "item";
  item: HarnessItem;
}
export type Slot = MessageSlot | UserSlot | ReasoningSlot | CallSlot | NativeSlot | ItemSlot;

export interface BuiltItem {
  item: HarnessItem;
  outcome: ItemOutcome;
  result?: ItemResult | undefined;
}

export function eventsOf({ startedAt, completedAt }: SlotTimes, { item, outcome, result }: BuiltItem): HarnessEvent[] {
  return [
    { type: "item.started", item, at: startedAt },
    { type: "item.completed", itemId: item.id, outcome, ...(result === undefined ? {} : { result }), at: completedAt ?? startedAt },
  ];
}
