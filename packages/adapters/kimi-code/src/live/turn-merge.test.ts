import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { shown } from "../history/testing.ts";
import { TurnMerge } from "./turn-merge.ts";

type Text = "message" | "reasoning";
const start = (kind: Text, id: string, text?: string): HarnessEvent => ({ type: "item.started", item: { kind, id, ...(text === undefined ? {} : { text }) }, at: 1 });
const grow = (itemId: string, append: string): HarnessEvent => ({ type: "item.updated", itemId, update: { type: "text", append }, at: 1 });
const end = (itemId: string, output?: string): HarnessEvent => ({ type: "item.completed", itemId, outcome: { status: "succeeded" }, ...(output === undefined ? {} : { result: { output } }), at: 1 });
const tool = (id: string, name: string, input: unknown): HarnessEvent => ({ type: "item.started", item: { kind: "tool", id, name, input }, at: 1 });

/** A text as it streams, and as the file has it. */
const streams = (id: string, ...pieces: string[]): HarnessEvent[] => [start("message", id), ...pieces.map((piece) => grow(id, piece)), end(id)];
const written = (id: string, text: string): HarnessEvent[] => [start("message", id, text), end(id)];

const OVER: HarnessEvent = { type: "turn.completed", outcome: { status: "succeeded" }, at: 2 };
const turnOf = (events: readonly HarnessEvent[]): HarnessEvent[] => [{ type: "turn.started", turnKey: "turn-0", at: 0, input: [] }, ...events, OVER];

/** What is told of a turn, step by step: e = streamed, l = read in the file. */
function told(steps: readonly (["e" | "l", readonly HarnessEvent[]])[]): { events: HarnessEvent[]; texts: string[] } {
  const merge = new TurnMerge((name) => name === "Edit");
  const events = turnOf([...steps.flatMap(([which, given]) => (which === "e" ? merge.early(given) : merge.late(given))), ...merge.close({ status: "succeeded" }, 2)]);
  expect(orderFaults(events)).toEqual([]);
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === "item.started" && event.item.kind === "message") texts.set(event.item.id, event.item.text ?? "");
    if (event.type === "item.updated" && event.update.type === "text") texts.set(event.itemId, `${texts.get(event.itemId)}${event.update.append}`);
    if (event.type === "item.completed" && event.result?.text !== undefined) texts.set(event.itemId, event.result.text);
  }
  return { events, texts: [...texts.values()] };
}

describe("a text that streams and is written", () => {
  it("is one, and ends in the stream", () => {
    expect(told([["e", streams("a", "Hel", "lo")], ["l", written("f1", "Hello")]]).texts).toEqual(["Hello"]);
  });

  it("takes the file's words when it is still open then, and what streams late of it is told already", () => {
    expect(told([["e", [start("message", "a"), grow("a", "Hel")]], ["l", written("f1", "Hello")], ["e", [grow("a", "l"), grow("a", "o"), end("a")]]]).texts).toEqual(["Hello"]);
  });

  it("goes on as the next one behind what the file has closed", () => {
    expect(told([["e", [start("message", "a"), grow("a", "Hel")]], ["l", written("f1", "Hello")], ["e", [grow("a", "lo. And"), grow("a", " more"), end("a")]], ["l", written("f2", ". And more")]]).texts).toEqual(["Hello", ". And more"]);
  });

  it("that the file has first is not shown again", () => {
    expect(told([["l", written("f1", "Hello")], ["e", streams("a", "Hello")]]).texts).toEqual(["Hello"]);
  });

  it("of two in the file is both of them", () => {
    expect(told([["e", streams("a", "One. Two.")], ["l", [...written("f1", "One. "), ...written("f2", "Two.")]]]).texts).toEqual(["One. Two."]);
  });

  it("and a thought are not taken for each other", () => {
    const { events } = told([["e", [start("reasoning", "r"), grow("r", "hm"), end("r"), ...streams("a", "Yes.")]], ["l", [start("reasoning", "f0", "hm"), end("f0"), ...written("f1", "Yes.")]]]);
    expect(events.filter(({ type }) => type === "item.started").length).toBe(2);
  });
});

describe("a call that streams and is written", () => {
  it("is one by its id, and ends where it ends first", () => {
    const { events } = told([["e", [tool("c", "Bash", { command: "ls" }), end("c", "out")]], ["l", [tool("c", "Bash", { command: "ls" }), end("c", "out")]]]);
    expect(shown(events)).toEqual(["tool Bash {\"command\":\"ls\"} -> succeeded \"out\"", "succeeded"]);
  });

  it("waits for the file where only that one knows the whole", () => {
    const { events } = told([["e", [tool("c", "Edit", {}), end("c", "short")]], ["l", [tool("c", "Edit", {}), end("c", "with its texts")]]]);
    expect(shown(events)).toEqual(["tool Edit {} -> succeeded \"with its texts\"", "succeeded"]);
  });

  it("ends as it streamed when the file never says more", () => {
    expect(shown(told([["e", [tool("c", "Edit", {}), end("c", "short")]]]).events)).toEqual(["tool Edit {} -> succeeded \"short\"", "succeeded"]);
  });

  it("without an end is cancelled", () => {
    expect(shown(told([["e", [tool("c", "Bash", {})]]]).events)).toEqual(["tool Bash {} -> cancelled", "succeeded"]);
  });

  it("has the file's arguments where they differ", () => {
    const { events } = told([["e", [tool("c", "Bash", {})]], ["l", [tool("c", "Bash", { command: "ls" }), end("c")]]]);
    expect(events).toContainEqual({ type: "item.updated", itemId: "c", update: { type: "input", input: { command: "ls" } }, at: 1 });
  });
});

it("a question belongs to the item that is shown, and the file's copy of it is left out", () => {
  const asks = (itemId: string): HarnessEvent => ({ type: "interaction.opened", interaction: { id: "q", kind: "approval", about: "command", itemId, offers: ["accept"] }, at: 1 });
  const { events } = told([["e", [tool("c", "Bash", {}), asks("c"), { type: "interaction.closed", interactionId: "q", reason: "answered", at: 1 }]], ["l", [tool("c", "Bash", {}), asks("c"), end("c")]]]);
  expect(events.filter(({ type }) => type === "interaction.opened")).toMatchObject([{ interaction: { itemId: "c" } }]);
});

it("however the two tellings of a turn are interleaved, each thing is shown once and ends", () => {
  const thing = fc.oneof(fc.string({ minLength: 1, maxLength: 5 }).map((text) => ({ text })), fc.constantFrom("Bash", "Edit").map((name) => ({ name })));
  fc.assert(fc.property(fc.array(thing, { maxLength: 8 }), fc.array(fc.boolean(), { maxLength: 40 }), (things, order) => {
    const early = things.flatMap((one, at) => ("text" in one ? streams(`e${at}`, ...Array.from(one.text)) : [tool(`c${at}`, one.name, {}), end(`c${at}`)])).map((event) => [event]);
    const late = things.map((one, at) => ("text" in one ? written(`f${at}`, one.text) : [tool(`c${at}`, one.name, {}), end(`c${at}`)]));
    const steps: ["e" | "l", HarnessEvent[]][] = [];
    for (const first of [...order, ...early.map(() => true), ...late.map(() => false)]) {
      const next = (first ? early : late).shift();
      if (next !== undefined) steps.push([first ? "e" : "l", next]);
    }
    const { events, texts } = told(steps);
    expect(texts).toEqual(things.flatMap((one) => ("text" in one ? [one.text] : [])));
    expect(events.filter(({ type }) => type === "item.started").length).toBe(things.length);
    expect(events.filter(({ type }) => type === "item.completed").length).toBe(things.length);
  }), { numRuns: 300, seed: 21 });
});
