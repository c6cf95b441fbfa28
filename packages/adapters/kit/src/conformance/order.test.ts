import { describe, expect, it } from "vitest";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { orderFaults } from "./order.ts";

const at = 1;
const started: HarnessEvent = { type: "turn.started", turnKey: "t1", at, input: [] };
const item = (id: string): HarnessEvent => ({ type: "item.started", item: { kind: "message", id }, at });
const updated = (itemId: string): HarnessEvent => ({ type: "item.updated", itemId, update: { type: "text", append: "x" }, at });
const completed = (itemId: string): HarnessEvent => ({ type: "item.completed", itemId, outcome: { status: "succeeded" }, at });
const opened = (id: string, itemId?: string): HarnessEvent => ({
  type: "interaction.opened", interaction: { id, kind: "approval", about: "tool", offers: ["accept"], ...(itemId === undefined ? {} : { itemId }) }, at,
});
const closed = (interactionId: string): HarnessEvent => ({ type: "interaction.closed", interactionId, reason: "answered", at });
const end: HarnessEvent = { type: "turn.completed", outcome: { status: "succeeded" }, at };
const fault: HarnessEvent = { type: "fault", error: { message: "gone" }, at };
const state: HarnessEvent = { type: "session.state", state: {}, at };
const usage: HarnessEvent = { type: "usage.updated", usage: { last: { input: 1, output: 1 } }, at };

describe("orderFaults", () => {
  it.each<[string, HarnessEvent[]]>([
    ["a plain turn", [started, item("a"), updated("a"), completed("a"), end]],
    ["an open item at the end", [started, item("a"), end]],
    ["session state and usage anywhere", [state, usage, started, state, end, usage, state]],
    ["an approval of an open item", [started, item("a"), opened("i", "a"), closed("i"), completed("a"), end]],
    ["an interaction id used again after it closed", [started, opened("i"), closed("i"), opened("i"), closed("i"), end]],
    ["a fault in the place of the end, whatever is open", [started, item("a"), opened("i"), fault]],
  ])("finds nothing wrong with %s", (_, events) => {
    expect(orderFaults(events)).toEqual([]);
  });

  it.each<[string, HarnessEvent[]]>([
    ["comes before turn.started", [item("a"), started, end]],
    ["no turn.started", []],
    ["a second turn.started", [started, started, end]],
    ["item a was not started", [started, updated("a"), end]],
    ["item a was not started", [started, completed("a"), end]],
    ["item a is started twice", [started, item("a"), completed("a"), item("a"), end]],
    ["item a is completed already", [started, item("a"), completed("a"), completed("a"), end]],
    ["item a is completed already", [started, item("a"), completed("a"), updated("a"), end]],
    ["interaction i is not open", [started, closed("i"), end]],
    ["interaction i is open already", [started, opened("i"), opened("i"), closed("i"), end]],
    ["interaction i is still open", [started, opened("i"), end]],
    ["concerns item a, which is not open", [started, item("a"), completed("a"), opened("i", "a"), closed("i"), end]],
    ["comes after the end of the turn", [started, end, item("a")]],
    ["2 ends of the turn", [started, end, end]],
    ["2 ends of the turn", [started, end, fault]],
    ["0 ends of the turn", [started]],
    ["something follows a fault", [started, fault, state]],
  ])("finds: %s", (fragment, events) => {
    expect(orderFaults(events).join("\n")).toContain(fragment);
  });

  it("does not ask a running turn for its end", () => {
    expect(orderFaults([started, item("a")], { ended: false })).toEqual([]);
  });
});
