import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { DEFAULT_POLICY } from "@foldcast/protocol-core/delivery";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { TurnProjector } from "@foldcast/protocol-core/projection";
import { orderFaults } from "../conformance/order.ts";
import { type JsonRecord, objectOf, stringOf } from "../json.ts";
import { acpRecordings, promptsOf, type RecordedPrompt } from "./testing/recordings.ts";
import { callsOf, textsOf } from "./testing/told.ts";
import { AcpUpdates, outcomeOf } from "./updates.ts";

const DATA = join(import.meta.dirname, "../../../../../../shared/data/harnesses");
const RECORDINGS = acpRecordings(DATA).map((file) => [relative(DATA, file), file] as const);

/** Kinds of updates that agents really sent, and this core does not know. */
const UNKNOWN: readonly string[] = [];

interface Told {
  events: HarnessEvent[];
  unknown: string[];
  cancelled: boolean;
}

function tell(prompt: RecordedPrompt): Told {
  const unknown: string[] = [];
  const updates = new AcpUpdates({ dialect: {}, terminal: () => null, count: (_, sample) => unknown.push(sample ?? "") });
  const events: HarnessEvent[] = [{ type: "turn.started", turnKey: "turn-1", at: 0, input: [] }];
  let cancelled = false;
  prompt.steps.forEach((step, at) => {
    if ("update" in step) events.push(...updates.take(step.update, at));
    else if ("cancel" in step) {
      cancelled = true;
      updates.calls.stop();
    } else {
      const { events: shown, itemId } = updates.demand(step.asked, at);
      events.push(...shown);
      if (step.declined && itemId !== null) updates.calls.decline(itemId);
    }
  });
  const outcome = outcomeOf(prompt.answer ?? {}, cancelled);
  events.push(...updates.end(outcome.status === "cancelled", prompt.steps.length), { type: "turn.completed", outcome, at: prompt.steps.length });
  return { events, unknown, cancelled };
}

const updatesOf = (prompt: RecordedPrompt): JsonRecord[] => prompt.steps.flatMap((step) => ("update" in step ? [step.update] : []));
const said = (prompt: RecordedPrompt, kind: string): string =>
  updatesOf(prompt).filter((update) => update["sessionUpdate"] === kind).map((update) => stringOf(objectOf(update["content"])["text"]) ?? "").join("");

describe("recorded conversations of agents that speak ACP", () => {
  test("are there", () => expect(RECORDINGS.length).toBeGreaterThan(15));

  test.each(RECORDINGS)("%s: nothing is lost, nothing told twice, all that began ends", (name, file) => {
    for (const [index, prompt] of promptsOf(file).entries()) {
      const place = `${name}, prompt ${index}`;
      const { events, unknown } = tell(prompt);
      expect(orderFaults(events), place).toEqual([]);
      expect(unknown.map((sample) => JSON.parse(sample) as JsonRecord).map((update) => update["sessionUpdate"]).filter((kind) => !UNKNOWN.includes(String(kind))), place).toEqual([]);
      expect(textsOf(events, "message").join(""), place).toBe(said(prompt, "agent_message_chunk"));
      expect(textsOf(events, "reasoning").join(""), place).toBe(said(prompt, "agent_thought_chunk"));

      // Every call that was named anywhere is one item, with its end.
      const named = new Set(prompt.steps.flatMap((step) => ("update" in step ? [step.update["toolCallId"]] : "asked" in step ? [step.asked["toolCallId"]] : [])).filter((id) => id !== undefined));
      const started = events.flatMap((event) => (event.type === "item.started" && event.item.kind !== "message" && event.item.kind !== "reasoning" ? [event.item.id] : []));
      expect(new Set(started), place).toEqual(named);
      const ended = new Set(events.flatMap((event) => (event.type === "item.completed" ? [event.itemId] : [])));
      expect(started.filter((id) => !ended.has(id)), place).toEqual([]);
      for (const { name: tool } of callsOf(events).values()) expect(tool, place).not.toBe("");
    }
  });

  test.each(RECORDINGS)("%s: the projection takes all of it", (name, file) => {
    for (const [index, prompt] of promptsOf(file).entries()) {
      const place = `${name}, prompt ${index}`;
      const { events } = tell(prompt);
      const projector = new TurnProjector({ turnId: "T", threadId: "TH", cwd: "/workspace", toolMaps: {}, defaultMap: "", childThreadId: (ref) => `child-${ref}` });
      for (const event of events) projector.apply(event);
      expect([...projector.diagnostics], place).toEqual([]);
      const { items, status } = projector.turn(DEFAULT_POLICY);
      expect(status, place).not.toBe("inProgress");
      expect(items.filter((item) => "status" in item && item.status === "inProgress"), place).toEqual([]);
      const messages = items.flatMap((item) => (item.type === "agentMessage" ? [item.text] : [])).join("");
      expect(messages, place).toBe(said(prompt, "agent_message_chunk"));
    }
  });

  test("what was stopped is not told as done", () => {
    const stopped = RECORDINGS.filter(([name]) => name.endsWith("/live.jsonl")).flatMap(([, file]) => promptsOf(file)).map(tell).filter(({ cancelled }) => cancelled);
    expect(stopped.length).toBeGreaterThanOrEqual(10);
    for (const { events } of stopped) {
      expect(events.at(-1)).toMatchObject({ outcome: { status: "cancelled" } });
      const last = events.filter((event) => event.type === "item.completed").at(-1);
      expect(last).not.toMatchObject({ outcome: { status: "succeeded" } });
    }
  });
});
