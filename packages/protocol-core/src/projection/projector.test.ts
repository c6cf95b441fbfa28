import { describe, expect, it } from "vitest";
import { foldTurn } from "../folding/index.ts";
import type { HarnessEvent, HarnessItem } from "../harness/index.ts";
import type { ToolMap } from "../tools/index.ts";
import { brief, DEFAULT_POLICY, DESKTOP_POLICY, Given, project } from "./testing.ts";

const FAILED = { status: "failed", error: { message: "boom" } } as const;

function phases(given: Given): (string | null)[] {
  return given.project().projector.turn(DEFAULT_POLICY).items.flatMap((item) => (item.type === "agentMessage" ? [item.phase] : []));
}

describe("the stream that a default client gets", () => {
  it("holds the last message's completion until its phase is known and sends it once", () => {
    const frames = brief(new Given().turn("hi").message("a", "Looking").command("c").message("m", "Done").end().project().frames(DEFAULT_POLICY));
    expect(frames).toEqual([
      "turn/started",
      "item/started user:1",
      "item/completed user:1",
      "item/started message:1 null \"\"",
      "delta message:1 \"Looking\"",
      "item/completed message:1 null \"Looking\"",
      "item/started command:1 inProgress",
      "item/completed command:1 completed",
      "item/started message:2 null \"\"",
      "delta message:2 \"Done\"",
      "item/completed message:2 final_answer \"Done\"",
      "turn/completed completed message:2=final_answer",
    ]);
  });

  it("never sends a completion again when only merged edits followed the answer", () => {
    const given = new Given().turn("hi").edit("e1", "/w/x", "1\n", "2\n").message("m", "Done").edit("e2", "/w/x", "2\n", "3\n").end();
    const frames = brief(given.project().frames(DEFAULT_POLICY));
    expect(frames.filter((frame) => frame.startsWith("item/completed message:1"))).toEqual(["item/completed message:1 null \"Done\""]);
    expect(frames.at(-1)).toBe("turn/completed completed message:1=final_answer");
  });

  it("gets the answer's completion once, too, where records of kinds that nobody knows follow it", () => {
    const strange = (id: string): HarnessItem => ({ kind: "tool", id, name: "future.record", input: {}, unknown: true });
    const given = new Given().turn("hi").command("c").message("m", "Done").start(strange("x")).done("x").start(strange("y")).done("y").end();
    const frames = brief(given.project().frames(DEFAULT_POLICY));
    expect(frames.filter((frame) => frame.startsWith("item/completed message:1"))).toEqual(["item/completed message:1 final_answer \"Done\""]);
    const turn = given.project().projector.turn(DEFAULT_POLICY);
    expect(turn.items.map((item) => item.type)).toEqual(["userMessage", "commandExecution", "agentMessage", "dynamicToolCall", "dynamicToolCall"]);
    expect(foldTurn(turn)).toMatchObject({ folds: true, foldedItemIds: [turn.items[1]!.id] });
    // Work behind it says that it was no answer, with or without such records between them.
    expect(phases(new Given().turn("hi").message("m", "Looking").start(strange("x")).done("x").command("c").end())).toEqual([null]);
    // A text that ends behind such a record is still the last thing.
    expect(phases(new Given().turn("hi").start({ kind: "message", id: "m" }).text("m", "Done").start(strange("x")).done("x").done("m").end())).toEqual(["final_answer"]);
  });

  it("gets one file change an edit, started with its change", () => {
    const frames = brief(new Given().turn("hi").edit("e1", "/w/x", "1\n", "2\n").edit("e2", "/w/y", null, "n\n").end().project().frames(DEFAULT_POLICY));
    expect(frames.filter((frame) => frame.includes("edit:"))).toEqual([
      "item/started edit:1 inProgress /w/x",
      "item/completed edit:1 completed /w/x",
      "item/started edit:2 inProgress /w/y",
      "item/completed edit:2 completed /w/y",
    ]);
  });
});

describe("the stream that Desktop gets", () => {
  it("gets a provisional completion at once and the final one before the turn's end", () => {
    const frames = brief(new Given().turn("hi").message("a", "Looking").command("c").message("m", "Done").end().project().frames(DESKTOP_POLICY));
    expect(frames.filter((frame) => frame.startsWith("item/completed message"))).toEqual([
      "item/completed message:1 null \"Looking\"",
      "item/completed message:2 null \"Done\"",
      "item/completed message:2 final_answer \"Done\"",
    ]);
    expect(frames.at(-1)).toMatch(/^turn\/completed/);
  });

  it("gets the edits of a turn as one summary at the place of the first", () => {
    const projected = new Given().turn("hi").edit("e1", "/w/x", null, "1\n").command("c").edit("e2", "/w/x", "1\n", "2\n").edit("e3", "/w/y", "a\n", "b\n").message("m", "Done").end().project();
    expect(brief(projected.frames(DESKTOP_POLICY)).filter((frame) => frame.includes("files:") || frame.includes("edit:"))).toEqual([
      "item/started files:1 inProgress /w/x",
      "item/completed files:1 completed /w/x,/w/y",
    ]);
    const items = projected.projector.turn(DESKTOP_POLICY).items;
    expect(items.map((item) => item.type)).toEqual(["userMessage", "fileChange", "commandExecution", "agentMessage"]);
    expect(items[1]).toMatchObject({ changes: [{ path: "/w/x", kind: { type: "add" }, diff: "2\n" }, { path: "/w/y" }] });
  });

  it("gets an edit that failed as an item of its own, outside the summary", () => {
    const frames = brief(new Given().turn("hi").edit("e1", "/w/x", "1\n", "2\n", { status: "failed" }).edit("e2", "/w/y", "1\n", "2\n").end().project().frames(DESKTOP_POLICY));
    expect(frames.filter((frame) => /edit:|files:/.test(frame))).toEqual([
      "item/started edit:1 inProgress /w/x",
      "item/completed edit:1 failed /w/x",
      "item/started files:1 inProgress /w/y",
      "item/completed files:1 completed /w/y",
    ]);
  });

  it("gets an edit that needed an approval as an item of its own, started before the request", () => {
    const given = new Given().turn("hi").start({ kind: "fileChange", id: "e1", edits: [{ path: "/w/x", before: "1\n", after: "2\n" }] })
      .event({ type: "interaction.opened", at: 1, interaction: { id: "i", kind: "approval", about: "fileChange", itemId: "e1", offers: ["accept", "decline"] } })
      .event({ type: "interaction.closed", at: 2, interactionId: "i", reason: "answered" }).done("e1").edit("e2", "/w/y", "1\n", "2\n").end();
    const { projector, frames } = given.project();
    expect(brief(frames(DESKTOP_POLICY)).filter((frame) => /edit:|files:/.test(frame))).toEqual([
      "item/started edit:1 inProgress /w/x",
      "item/completed edit:1 completed /w/x",
      "item/started files:1 inProgress /w/y",
      "item/completed files:1 completed /w/y",
    ]);
    expect(projector.diff()).toContain("+++ b/x");
    const opened = projector.turn(DEFAULT_POLICY).items.find((item) => item.type === "fileChange");
    expect(opened?.id).toBe("T:edit:1");
  });

  it("keeps a reverted change as an item without changes, which is not drawn", () => {
    const given = new Given().turn("hi").edit("e1", "/w/x", "1\n", "2\n").edit("e2", "/w/x", "2\n", "1\n").message("m", "Done").end();
    const turn = given.project().projector.turn(DESKTOP_POLICY);
    expect(turn.items[1]).toMatchObject({ type: "fileChange", changes: [] });
    expect(foldTurn(turn)).toMatchObject({ folds: false, reason: "nothingBefore" });
  });
});

describe("the final answer", () => {
  it.each([
    ["last visible message of a succeeded turn", new Given().turn("q").message("a", "x").command("c").message("m", "y").end(), [null, "final_answer"]],
    ["history without a known outcome", new Given().turn("q").message("m", "y").end({ status: "unknown" }), ["final_answer"]],
    ["visible work after it", new Given().turn("q").message("m", "y").command("c").end(), [null]],
    ["a plan after it does not count", new Given().turn("q").message("m", "y").event({ type: "plan.updated", plan: [], at: 1 }).end(), ["final_answer"]],
    ["empty reasoning after it does not count", new Given().turn("q").message("m", "y").start({ kind: "reasoning", id: "r" }).done("r").end(), ["final_answer"]],
    ["a blank message after it does not count", new Given().turn("q").message("m", "y").message("b", " \n").end(), ["final_answer"]],
    ["an unreadable edit after it does not count", new Given().turn("q").message("m", "y").start({ kind: "fileChange", id: "e", edits: [] }).done("e").end(), ["final_answer"]],
    ["a later merged edit does not count", new Given().turn("q").edit("e", "/w/x", "1", "2").message("m", "y").edit("e2", "/w/x", "2", "3").end(), ["final_answer"]],
    ["a first edit after it counts", new Given().turn("q").message("m", "y").edit("e", "/w/x", "1", "2").end(), [null]],
    ["an edit after it that is taken back does not count", new Given().turn("q").message("m", "y").edit("e", "/w/x", "1", "2").edit("f", "/w/x", "2", "1").end(), ["final_answer"]],
    ["a failed edit after it counts", new Given().turn("q").message("m", "y").edit("e", "/w/x", "1", "2", { status: "failed" }).end(), [null]],
    ["a message that itself failed", new Given().turn("q").message("m", "y", { outcome: { status: "failed" } }).end(), [null]],
    ["an explicit commentary stands", new Given().turn("q").message("m", "y", { phase: "commentary" }).end(), ["commentary"]],
    ["an explicit partial answer stands", new Given().turn("q").message("m", "y", { phase: "partial_answer" }).end(), ["partial_answer"]],
    ["an explicit final answer stands in a failed turn", new Given().turn("q").message("m", "y", { phase: "final_answer" }).end(FAILED), ["final_answer"]],
    ["failed turn", new Given().turn("q").message("a", "x").command("c").message("m", "y").end(FAILED), [null, "commentary"]],
    ["cancelled turn, work after the last message", new Given().turn("q").message("a", "x").command("c").end({ status: "cancelled" }), ["commentary"]],
    ["a message still open at the end", new Given().turn("q").start({ kind: "message", id: "m" }).text("m", "y").end(), [null]],
    ["a steering message after it counts", new Given().turn("q").message("m", "y").start({ kind: "userMessage", id: "u", content: [{ type: "text", text: "and", text_elements: [] }] }).end(), [null]],
  ] as const)("%s", (_name, given, want) => {
    expect(phases(given)).toEqual(want);
  });

  it("reaches a client that got the message before, also when a message that was emptied follows it", () => {
    const { frames, projector } = new Given().turn("q").message("a", "answer").start({ kind: "message", id: "b" }).text("b", "x").done("b", { text: "" }).end().project();
    expect(brief(frames(DEFAULT_POLICY)).at(-1)).toBe("turn/completed completed message:1=final_answer");
    expect(projector.turn(DEFAULT_POLICY).items[1]).toMatchObject({ phase: "final_answer" });
  });

  it("is the same for both dialects", () => {
    const { projector } = new Given().turn("q").edit("e", "/w/x", "1", "2").message("m", "y").edit("e2", "/w/x", "2", "3").end().project();
    for (const policy of [DEFAULT_POLICY, DESKTOP_POLICY]) {
      expect(projector.turn(policy).items.filter((item) => item.type === "agentMessage").map((item) => item.phase)).toEqual(["final_answer"]);
    }
  });
});

describe("order breaches", () => {
  const cases: [string, Given, string][] = [
    ["an item after the end", new Given().turn("q").end().message("m", "late"), "order.afterEnd"],
    ["text for an unknown item", new Given().turn("q").text("nobody", "x").end(), "order.unknownItem"],
    ["a duplicate id", new Given().turn("q").message("m", "x").start({ kind: "message", id: "m", text: "y" }).end(), "order.duplicateItem"],
    ["text after completion", new Given().turn("q").message("m", "x").text("m", "more").end(), "order.afterCompletion"],
    ["the end with open items", new Given().turn("q").start({ kind: "command", id: "c", command: "ls" }).end(), "order.openAtEnd"],
    ["an item before the start", new Given().message("m", "x").end(), "order.beforeStart"],
    ["a second start", new Given().turn("q").turn("again").end(), "order.startedTwice"],
    ["an unknown event", new Given().turn("q").event({ type: "surprise", at: 1 } as unknown as HarnessEvent).end(), "event.unknown"],
    ["a malformed event", new Given().turn("q").event({ type: "item.started" } as unknown as HarnessEvent).end(), "event.malformed"],
  ];
  it.each(cases)("%s is counted, and the turn ends exactly once", (_name, given, code) => {
    const { projector, frames } = given.project();
    expect([...projector.diagnostics.keys()]).toContain(code);
    expect(brief(frames(DEFAULT_POLICY)).filter((frame) => frame.startsWith("turn/completed"))).toHaveLength(1);
  });

  it("closes what is open at the end: a command as failed, a message with its text", () => {
    const { frames } = new Given().turn("q").start({ kind: "command", id: "c", command: "sleep 9" }).start({ kind: "message", id: "m" }).text("m", "half").end().project();
    expect(brief(frames(DEFAULT_POLICY)).slice(-3)).toEqual([
      "item/completed command:1 failed",
      "item/completed message:1 null \"half\"",
      "turn/completed completed message:1=null",
    ]);
  });

  it("fails the turn of a faulty session and tells why", () => {
    const { projector } = new Given().turn("q").event({ type: "fault", error: { message: "gone" }, at: 5000 }).project();
    expect(projector.turn(DEFAULT_POLICY)).toMatchObject({ status: "failed", error: { message: "gone", codexErrorInfo: "other" }, completedAt: 5 });
  });
});

it("ends a turn whose items are malformed", () => {
  const bad = [{ kind: "fileChange", id: "a", edits: [null] }, { kind: "agent", id: "b", action: "wait", children: [null] }, { kind: "nothing known", id: "c" }, { kind: "plan", id: "d" }] as unknown as HarnessItem[];
  const given = new Given().turn("q");
  for (const item of bad) given.start(item);
  const { frames, projector } = given.message("m", "still here").end().project();
  for (const policy of [DEFAULT_POLICY, DESKTOP_POLICY]) expect(brief(frames(policy)).at(-1)).toMatch(/^turn\/completed completed message:1/);
  expect(projector.diagnostics.get("event.malformed")?.count).toBeGreaterThan(2);
});

it("makes no item of a plan because an adapter names it in a request", () => {
  const plan: ToolMap = { Plan: { kind: "update_plan" } };
  const { frames, projector } = new Given().turn("q").start({ kind: "tool", id: "p", name: "Plan", input: {} })
    .event({ type: "interaction.opened", at: 1, interaction: { id: "i", kind: "approval", about: "tool", itemId: "p", offers: ["accept"] } })
    .done("p").end().project({ toolMaps: { m: plan }, defaultMap: "m" });
  expect(brief(frames(DEFAULT_POLICY)).slice(3)).toEqual(["turn/completed completed "]);
  expect(projector.diagnostics.has("event.malformed")).toBe(false);
});

it("takes edits only for what edits files", () => {
  const { frames, projector } = new Given().turn("q").start({ kind: "message", id: "m" })
    .event({ type: "item.updated", itemId: "m", at: 1, update: { type: "edits", edits: [{ path: "/w/x", before: "1", after: "2" }] } })
    .end().project();
  expect(brief(frames(DEFAULT_POLICY)).slice(3)).toEqual(["turn/completed completed "]);
  expect(projector.diagnostics.get("order.updateDoesNotFit")?.count).toBe(1);
});

it("shows a plan whose text comes only with its completion", () => {
  const { projector } = new Given().turn("q").start({ kind: "plan", id: "p", text: "" }).done("p", { text: "first, then" }).end().project();
  expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({ type: "plan", text: "first, then" });
});

it("tells a turn's length in whole milliseconds", () => {
  const { projector } = new Given().turn("q").event({ type: "turn.completed", outcome: { status: "unknown" }, at: null, durationMs: 1.5 }).project();
  expect(projector.turn(DEFAULT_POLICY).durationMs).toBe(2);
});

it("does not show a blank message because an adapter names it in a request", () => {
  const given = new Given().turn("q").message("a", "x").start({ kind: "message", id: "b" })
    .event({ type: "interaction.opened", at: 1, interaction: { id: "i", kind: "approval", about: "tool", itemId: "b", offers: ["accept"] } }).end(FAILED);
  expect(brief(given.project().frames(DEFAULT_POLICY)).at(-1)).toBe("turn/completed failed message:1=commentary");
});

describe("text and output", () => {
  it("lets a completed text replace a streamed one that differs", () => {
    const { projector } = new Given().turn("q").start({ kind: "message", id: "m" }).text("m", "draft").done("m", { text: "final words" }).end().project();
    expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({ text: "final words", phase: "final_answer" });
  });

  it("streams a text that comes only with the completion", () => {
    const { frames } = new Given().turn("q").start({ kind: "message", id: "m" }).done("m", { text: "all at once" }).end().project();
    expect(brief(frames(DEFAULT_POLICY))).toContain("delta message:1 \"all at once\"");
  });

  it("keeps blank beginnings back until something can be seen, and loses none", () => {
    const { projector, frames } = new Given().turn("q").start({ kind: "message", id: "m" }).text("m", "\n").text("m", " x").done("m").end().project();
    expect(brief(frames(DEFAULT_POLICY))).toContain("delta message:1 \"\\n x\"");
    expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({ text: "\n x" });
  });

  it("takes the output at completion as authoritative, and the streamed one where there is none", () => {
    const run = (result: object): unknown => new Given().turn("q").start({ kind: "command", id: "c", command: "x" }).output("c", "part").done("c", result).end().project().projector.turn(DEFAULT_POLICY).items.at(-1);
    expect(run({ output: "whole", exitCode: 0 })).toMatchObject({ aggregatedOutput: "whole", status: "completed" });
    expect(run({ exitCode: 2 })).toMatchObject({ aggregatedOutput: "part", status: "failed", exitCode: 2 });
  });

  it("shows what a running message has so far to one who joins late", () => {
    const { projector } = new Given().turn("q").start({ kind: "message", id: "m" }).text("m", "so far").project();
    expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({ type: "agentMessage", text: "so far" });
  });

  it("declined: neither output nor exit code", () => {
    const { projector } = new Given().turn("q").start({ kind: "command", id: "c", command: "rm" }).output("c", "x").done("c", { exitCode: 1 }, { status: "declined" }).end().project();
    expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({ status: "declined", aggregatedOutput: null, exitCode: null });
  });
});

it("gives the same ids when it projects again, counting only what was shown", () => {
  const given = new Given().turn("q").message("blank", "  ").message("a", "x").start({ kind: "tool", id: "t", name: "Mystery", input: { a: 1 } }).done("t", { output: "r" }).end();
  const ids = (): string[] => project(given.events).projector.turn(DEFAULT_POLICY).items.map((item) => item.id);
  expect(ids()).toEqual(["T:user:1", "T:message:1", "T:tool:1"]);
  expect(ids()).toEqual(ids());
});

it("keeps an unknown tool with its raw name and input", () => {
  const { projector } = new Given().turn("q").start({ kind: "tool", id: "t", name: "Mystery", input: { a: [1] } }).done("t", { output: "r" }).end().project();
  expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({
    type: "dynamicToolCall", tool: "Mystery", arguments: { a: [1] }, status: "completed", success: true, contentItems: [{ type: "inputText", text: "r" }],
  });
});

it("gives what an MCP server showed in MCP's own form", () => {
  const content = [{ type: "inputText", text: "see" }, { type: "inputImage", imageUrl: "data:image/png;base64,AAAA" }, { type: "inputImage", imageUrl: "https://e.org/a.png" }] as const;
  const { projector } = new Given().turn("q").start({ kind: "mcpCall", id: "c", server: "docs", tool: "look", input: {} }).done("c", { content }).end().project();
  expect(projector.turn(DEFAULT_POLICY).items.at(-1)).toMatchObject({
    type: "mcpToolCall", result: { content: [{ type: "text", text: "see" }, { type: "image", data: "AAAA", mimeType: "image/png" }, { type: "text", text: "https://e.org/a.png" }] },
  });
});

it.each([1e300, Number.NaN, -1e300, 8.64e15])("tells no time, duration or exit code that the wire cannot carry, and keeps that the command failed: %d", (damaged) => {
  const given = new Given().turn("q");
  given.event({ type: "item.started", item: { kind: "command", id: "c", command: "ls" }, at: damaged });
  given.event({ type: "item.completed", itemId: "c", outcome: { status: "succeeded" }, result: { exitCode: damaged, durationMs: damaged }, at: damaged });
  given.event({ type: "turn.completed", outcome: { status: "succeeded" }, durationMs: damaged, at: damaged });
  const turn = given.project().projector.turn(DEFAULT_POLICY);
  expect(turn.items.at(-1)).toMatchObject({ type: "commandExecution", status: "failed", exitCode: null, startedAtMs: null, completedAtMs: null });
  const numbers = JSON.stringify(turn).match(/-?\d[\d.e+]*/g)!.map(Number);
  expect(numbers.every((number) => Number.isSafeInteger(number) && number >= 0)).toBe(true);
});
