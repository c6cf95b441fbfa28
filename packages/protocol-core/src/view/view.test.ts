import { describe, expect, it } from "vitest";
import type { Notification } from "../wire/index.ts";
import { DEFAULT_POLICY, DESKTOP_POLICY, Given } from "../projection/testing.ts";
import { applyToThread, runningTurn, turnOfView, viewOfThread } from "./index.ts";

const idle = { id: "TH", name: null, status: { type: "idle" as const } };
const GIVEN = new Given().turn("q").start({ kind: "reasoning", id: "r" }).text("r", "think").done("r").message("a", "Looking").start({ kind: "command", id: "c", command: "ls" })
  .output("c", "a\n").output("c", "b\n").done("c", { exitCode: 0 }).edit("e", "/w/x", "1\n", "2\n").message("m", "Done").edit("f", "/w/x", "2\n", "3\n").end();

describe.each([["default", DEFAULT_POLICY], ["desktop", DESKTOP_POLICY]] as const)("a followed turn, %s dialect", (_name, policy) => {
  it("is what history shows", () => {
    const { projector, frames } = GIVEN.project();
    const view = viewOfThread(idle, []);
    for (const frame of frames(policy)) applyToThread(view, frame);
    expect(turnOfView(view.turns.get("T")!)).toEqual(projector.turn(policy));
  });
});

it("shows streamed text before its completion, without changing what was handed in", () => {
  const sent = new Given().turn("q").start({ kind: "message", id: "m" }).text("m", "so ").text("m", "far").project().frames(DEFAULT_POLICY);
  const copy = structuredClone(sent);
  const view = viewOfThread(idle, []);
  for (const frame of sent) applyToThread(view, frame);
  expect([...runningTurn(view)!.items.values()].at(-1)!.item).toMatchObject({ text: "so far" });
  expect(sent).toEqual(copy);
});

it("ignores other threads, late deltas and a second end of a turn", () => {
  const view = viewOfThread(idle, []);
  const frames = GIVEN.project().frames(DEFAULT_POLICY);
  for (const frame of frames) applyToThread(view, frame);
  const before = structuredClone(turnOfView(view.turns.get("T")!));
  const late: Notification[] = [
    { method: "item/agentMessage/delta", params: { threadId: "TH", turnId: "T", itemId: "T:message:2", delta: "late" } },
    { method: "turn/completed", params: { threadId: "TH", turn: { ...before, status: "failed", items: [] } } },
    { method: "thread/status/changed", params: { threadId: "other", status: { type: "systemError" } } },
  ];
  for (const frame of late) expect(applyToThread(view, frame)).toBe(false);
  expect(turnOfView(view.turns.get("T")!)).toEqual(before);
});

it("keeps what was streamed of a message that is completed with nothing", () => {
  const view = viewOfThread(idle, []);
  for (const frame of new Given().turn("q").start({ kind: "message", id: "m" }).text("m", "The answer.").project().frames(DEFAULT_POLICY)) applyToThread(view, frame);
  const { item } = [...runningTurn(view)!.items.values()].at(-1)!;
  applyToThread(view, { method: "item/completed", params: { threadId: "TH", turnId: "T", item: { ...item, text: " " }, completedAtMs: 0 } } as Notification);
  expect([...runningTurn(view)!.items.values()].at(-1)!.item).toMatchObject({ text: "The answer." });
});
