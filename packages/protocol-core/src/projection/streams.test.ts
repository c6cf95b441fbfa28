import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY, DESKTOP_POLICY, type DeliveryPolicy } from "../delivery/index.ts";
import type { HarnessEvent, HarnessItem } from "../harness/index.ts";
import type { Notification, ThreadItem } from "../wire/index.ts";
import { project } from "./testing.ts";

const id = fc.constantFrom("a", "b", "c", "d", "e");
const path = fc.constantFrom("/w/x", "/w/y");
const text = fc.constantFrom("", " ", "word", "two words", "\n");
const content = fc.constantFrom(null, "1\n", "2\n", "3\n");
const item: fc.Arbitrary<HarnessItem> = fc.oneof(
  id.map((value): HarnessItem => ({ kind: "message", id: value })),
  fc.tuple(id, fc.constantFrom("commentary", "final_answer", "partial_answer")).map(([value, phase]): HarnessItem => ({ kind: "message", id: value, phase: phase as "commentary" })),
  id.map((value): HarnessItem => ({ kind: "reasoning", id: value })),
  id.map((value): HarnessItem => ({ kind: "command", id: value, command: "ls" })),
  id.map((value): HarnessItem => ({ kind: "tool", id: value, name: "Odd", input: {} })),
  fc.tuple(id, path, content, content).map(([value, file, before, after]): HarnessItem => ({ kind: "fileChange", id: value, edits: [{ path: file, before, after }] })),
  id.map((value): HarnessItem => ({ kind: "userMessage", id: value, content: [{ type: "text", text: "more", text_elements: [] }] })),
);
const outcome = fc.constantFrom("succeeded", "failed", "cancelled", "declined").map((status) => ({ status }) as { status: "succeeded" });
const event: fc.Arbitrary<HarnessEvent> = fc.oneof(
  { weight: 4, arbitrary: item.map((value): HarnessEvent => ({ type: "item.started", item: value, at: 10 })) },
  { weight: 3, arbitrary: fc.tuple(id, text).map(([itemId, append]): HarnessEvent => ({ type: "item.updated", itemId, update: { type: "text", append }, at: 11 })) },
  { weight: 4, arbitrary: fc.tuple(id, outcome).map(([itemId, value]): HarnessEvent => ({ type: "item.completed", itemId, outcome: value, at: 12 })) },
  { weight: 1, arbitrary: id.map((itemId): HarnessEvent => ({ type: "interaction.opened", at: 13, interaction: { id: "i", kind: "approval", about: "fileChange", itemId, offers: ["accept"] } })) },
);
const turnEnd = fc.constantFrom("succeeded", "cancelled", "unknown", "failed").map((status): HarnessEvent => ({
  type: "turn.completed", at: 20, outcome: status === "failed" ? { status, error: { message: "x" } } : { status: status as "succeeded" },
}));
const turn = fc.tuple(fc.array(event, { maxLength: 30 }), turnEnd).map(([events, end]): HarnessEvent[] => [
  { type: "turn.started", turnKey: "k", at: 1, input: [{ type: "text", text: "q", text_elements: [] }] }, ...events, end,
]);

/** A client that replaces items by id, in order of their start, and knows the closing message list of the turn. */
function follow(frames: readonly Notification[]): { items: ThreadItem[]; completions: Map<string, number> } {
  const items = new Map<string, ThreadItem>();
  const completions = new Map<string, number>();
  for (const frame of frames) {
    if (frame.method === "item/started") {
      expect(items.has(frame.params.item.id), "started twice").toBe(false);
      items.set(frame.params.item.id, frame.params.item);
    } else if (frame.method === "item/completed") {
      const { item: done } = frame.params;
      expect(items.get(done.id)?.type, "completed without a start").toBe(done.type);
      items.set(done.id, done);
      completions.set(done.id, (completions.get(done.id) ?? 0) + 1);
    } else if (frame.method === "turn/completed") {
      for (const final of frame.params.turn.items) items.set(final.id, final);
    }
  }
  return { items: [...items.values()], completions };
}

describe.each<[string, DeliveryPolicy]>([["default", DEFAULT_POLICY], ["desktop", DESKTOP_POLICY]])("any sequence of events, %s dialect", (_name, policy) => {
  it("gives a lawful stream that ends in the state that history shows", () => {
    fc.assert(fc.property(turn, (events) => {
      const { projector, frames } = project(events);
      const sent = frames(policy);
      const { items, completions } = follow(sent);
      expect(sent.filter((frame) => frame.method === "turn/completed")).toHaveLength(1);
      expect(sent.at(-1)?.method).toBe("turn/completed");
      expect(items).toEqual(projector.turn(policy).items);
      expect(completions.size).toBe(items.length);
    }), { numRuns: 2000 });
  });
});

it("never completes an item twice for a default client", () => {
  fc.assert(fc.property(turn, (events) => {
    const { completions } = follow(project(events).frames(DEFAULT_POLICY));
    for (const count of completions.values()) expect(count).toBe(1);
  }), { numRuns: 2000 });
});
