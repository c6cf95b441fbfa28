import { describe, expect, test } from "vitest";
import type { AgentMessageItem, Turn } from "@foldcast/protocol-core/wire";
import { applyNotification, newTurn, type DesktopTurn, type Dropped } from "./desktop-turns.ts";

const message = (id: string, text: string, phase: AgentMessageItem["phase"] = null): AgentMessageItem => ({
  type: "agentMessage", id, text, phase, moderation: null, memoryCitation: null, delivery: null, questions: null,
});
const nothing = (): Dropped => ({ completedWithoutStart: 0, deltaWithoutItem: 0, unknownTurn: 0, unknownThread: 0 });

function play(frames: readonly [string, object][], turns: DesktopTurn[] = [newTurn("u")]): { turns: DesktopTurn[]; dropped: Dropped } {
  const dropped = nothing();
  for (const [method, params] of frames) applyNotification(turns, { method, params: { turnId: "u", ...params } }, dropped);
  return { turns, dropped };
}

describe("a client like Codex Desktop", () => {
  test("ignores a completion without a start of the same id and type", () => {
    const { turns, dropped } = play([
      ["item/completed", { item: message("a", "x") }],
      ["item/started", { item: { type: "reasoning", id: "b", summary: [], content: [] } }],
      ["item/completed", { item: message("b", "x") }],
    ]);
    expect(turns[0]?.items.map((item) => item.type)).toEqual(["reasoning"]);
    expect(dropped.completedWithoutStart).toBe(2);
  });

  test("takes a user message's completion without a start", () => {
    const item = { type: "userMessage", id: "a", clientId: null, content: [{ type: "text", text: "x", text_elements: [] }] };
    expect(play([["item/completed", { item }]]).turns[0]?.items).toEqual([item]);
  });

  test("replaces an item by its id, at its place", () => {
    const { turns } = play([
      ["item/started", { item: message("a", "") }],
      ["item/agentMessage/delta", { itemId: "a", delta: "hello" }],
      ["item/completed", { item: message("a", "hello") }],
      ["item/started", { item: message("b", "") }],
      ["item/completed", { item: message("a", "hello", "final_answer") }],
    ]);
    expect(turns[0]?.items).toEqual([message("a", "hello", "final_answer"), message("b", "")]);
  });

  test("reads status, error and duration of the turn's end, not its items", () => {
    const end: Turn = {
      id: "u", rootTurnId: null, items: [message("a", "answer", "final_answer")], itemsView: "summary", status: "completed", error: null,
      startedAt: 1, completedAt: 2, durationMs: 7,
    };
    const { turns } = play([["turn/completed", { turn: end }]]);
    expect(turns[0]).toMatchObject({ items: [], status: "completed", durationMs: 7 });
  });

  test("gives its unnamed turn the id that the server starts, and makes one where it has none", () => {
    const started = (id: string): [string, object] => ["turn/started", { turn: { id, startedAt: 5 } }];
    expect(play([started("u")], [newTurn(null)]).turns).toMatchObject([{ id: "u", startedAt: 5 }]);
    expect(play([started("v")], []).turns).toMatchObject([{ id: "v" }]);
  });

  test("drops what belongs to no turn that it knows", () => {
    const { dropped } = play([["item/started", { turnId: "other", item: message("a", "") }], ["item/agentMessage/delta", { itemId: "a", delta: "x" }]]);
    expect(dropped).toMatchObject({ unknownTurn: 1, deltaWithoutItem: 1 });
  });
});
