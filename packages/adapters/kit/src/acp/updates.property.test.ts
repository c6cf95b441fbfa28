import fc from "fast-check";
import { expect, it } from "vitest";
import { orderFaults } from "../conformance/order.ts";
import type { JsonRecord } from "../json.ts";
import { call, callsOf, callUpdate, say, textContent, textsOf, think, toldTurn } from "./testing/told.ts";

const ids = fc.constantFrom("a", "b", "c");
const statuses = fc.constantFrom("pending", "in_progress", "completed", "failed", undefined);
const words = fc.string({ maxLength: 6 });
const members = fc.record({ status: statuses, rawInput: fc.option(fc.dictionary(words, fc.integer(), { maxKeys: 2 })), title: fc.option(words), kind: fc.constantFrom("execute", "edit", null), content: fc.option(fc.oneof(fc.jsonValue(), words.map((text) => textContent(text)))) }, { requiredKeys: [] });
const lawful = fc.oneof(
  words.map((text) => say(text)), words.map(think),
  fc.tuple(ids, members).map(([id, more]) => call(id, more)), fc.tuple(ids, members).map(([id, more]) => callUpdate(id, more)), fc.tuple(ids, members).map(([toolCallId, more]): JsonRecord => ({ toolCallId, ...more })),
);
const anything = fc.oneof(lawful, fc.dictionary(fc.constantFrom("sessionUpdate", "content", "entries", "toolCallId", "status", "_meta", "title", "rawInput"), fc.oneof(fc.jsonValue(), fc.constantFrom("tool_call", "plan", "agent_message_chunk", "compaction_update", "completed"))));

it("whatever is sent, in any order, nothing throws and the turn is lawful", () => {
  fc.assert(fc.property(fc.array(anything, { maxLength: 30 }), (steps) => {
    const { events } = toldTurn(steps);
    expect(orderFaults(events)).toEqual([]);
    const open = new Set<string>();
    for (const event of events) {
      if (event.type === "item.started") open.add(event.item.id);
      if (event.type === "item.completed") open.delete(event.itemId);
    }
    expect([...open]).toEqual([]);
  }), { numRuns: 400, seed: 11 });
});

it("every piece of text is told exactly once, in its order", () => {
  fc.assert(fc.property(fc.array(lawful, { maxLength: 30 }), (steps) => {
    const { events } = toldTurn(steps);
    const said = (kind: string): string => steps.flatMap((step) => (step["sessionUpdate"] === kind ? [(step["content"] as { text: string }).text] : [])).join("");
    expect(textsOf(events, "message").join("")).toBe(said("agent_message_chunk"));
    expect(textsOf(events, "reasoning").join("")).toBe(said("agent_thought_chunk"));
    expect([...textsOf(events, "message"), ...textsOf(events, "reasoning")]).not.toContain("");
  }), { numRuns: 300, seed: 12 });
});

it("a call ends with the last arguments, and with its output told once", () => {
  const argument = fc.string({ minLength: 1, maxLength: 8 });
  fc.assert(fc.property(fc.array(argument, { minLength: 1, maxLength: 6 }), fc.array(words, { maxLength: 6 }), fc.array(words, { maxLength: 3 }), (inputs, output, between) => {
    const inputSteps = inputs.map((command, index) => (index === 0 ? call : callUpdate)("a", { kind: "execute", rawInput: { command } }));
    const outputSteps = output.map((_, index) => callUpdate("a", { status: "in_progress", ...textContent(output.slice(0, index + 1).join("")) }));
    const whole = output.join("");
    const { events } = toldTurn([...inputSteps, ...outputSteps, ...between.map((text) => say(text)), callUpdate("a", { status: "completed", ...textContent(whole) })]);
    expect(callsOf(events).get("a")).toMatchObject({ input: { command: inputs.at(-1) }, streamed: whole, output: whole, status: "succeeded" });
  }), { numRuns: 200, seed: 13 });
});
