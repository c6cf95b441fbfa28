import { describe, expect, it } from "vitest";
import { call, callUpdate, say, textsOf, think, toldTurn } from "./testing/told.ts";
import { AcpUpdates, outcomeOf, planOf, stateOf, usageOfAnswer } from "./updates.ts";

describe("updates of a turn", () => {
  it("join pieces of one text, and begin another one behind anything else", () => {
    const { events } = toldTurn([think("Hm"), think("m."), say("One "), say("text."), call("c", { rawInput: { n: 1 } }), say("Another."), callUpdate("c", { status: "completed" }), say(" Goes on.")]);
    expect(textsOf(events, "reasoning")).toEqual(["Hmm."]);
    expect(textsOf(events, "message")).toEqual(["One text.", "Another. Goes on."]);
  });

  it("tell messages apart by their ids, where there are some", () => {
    const { events } = toldTurn([say("a", { messageId: "1" }), say("b", { messageId: "1" }), say("c", { messageId: "2" }), say("d")]);
    expect(textsOf(events, "message")).toEqual(["ab", "cd"]);
  });

  it("name content that is no text, and leave empty pieces out", () => {
    const block = (content: object) => ({ sessionUpdate: "agent_message_chunk", content });
    const { events } = toldTurn([say(""), block({ type: "resource_link", name: "spec", uri: "file:///s" }), block({ type: "audio" }), block({ type: "resource", resource: { text: "inside" } }), { sessionUpdate: "agent_message_chunk" }]);
    expect(textsOf(events, "message")).toEqual(["[spec](file:///s)[audio]inside[content]"]);
  });

  it("show an unknown kind with its own name and content, and count it", () => {
    const { events, unknown } = toldTurn([say("Before."), { sessionUpdate: "subagent_update", agent: { n: 1 } }, say("After.")]);
    expect(events.find((event) => event.type === "item.started" && event.item.kind === "tool")).toMatchObject({ item: { name: "subagent_update", input: { agent: { n: 1 } } } });
    expect([unknown, textsOf(events, "message")]).toEqual([["update.unknownKind"], ["Before.", "After."]]);
    const notice = toldTurn([{ sessionUpdate: "notice", severity: "warning", title: "Careful" }]);
    expect([notice.unknown, notice.events.length]).toEqual([[], 4]);
  });

  it("show plans and compactions", () => {
    const { events } = toldTurn([
      { sessionUpdate: "plan", entries: [{ content: "One", status: "completed" }, { content: "Two", status: "in_progress" }, { content: "Three" }] },
      { sessionUpdate: "compaction_update", compactionId: "k", status: "in_progress" }, { sessionUpdate: "compaction_update", compactionId: "k", status: "completed" },
      { sessionUpdate: "compaction_update", compactionId: "l", status: "in_progress" },
    ]);
    expect(events.slice(1, -1)).toMatchObject([
      { type: "plan.updated", plan: [{ step: "One", status: "completed" }, { step: "Two", status: "inProgress" }, { step: "Three", status: "pending" }] },
      { type: "item.started", item: { kind: "compaction" } }, { type: "item.completed", outcome: { status: "succeeded" } },
      { type: "item.started", item: { kind: "compaction" } }, { type: "item.completed", outcome: { status: "cancelled" } },
    ]);
  });

  it("end a text that was cut off as cancelled, and trust no end of a tool once the turn was stopped", () => {
    const updates = new AcpUpdates({ dialect: {}, terminal: () => null, count: () => undefined });
    updates.take(call("c", { rawInput: { n: 1 } }), 1);
    updates.take(say("Half of"), 2);
    updates.calls.stop();
    expect(updates.take(callUpdate("c", { status: "completed" }), 3)).toMatchObject([{ type: "item.completed", outcome: { status: "cancelled" } }]);
    expect(updates.end(true, 4)).toMatchObject([{ type: "item.completed", outcome: { status: "cancelled" } }]);
  });

  it("leave a notice of the program out of the answer", () => {
    const { events } = toldTurn([say("Tip: use /help"), say("The answer.")], { isNotice: (text) => text.startsWith("Tip:") });
    expect(textsOf(events, "message")).toEqual(["The answer."]);
  });
});

describe("what an agent says of its session and of a prompt", () => {
  it("is the title, the mode and the chosen options", () => {
    expect(stateOf("session_info_update", { title: "T" })).toEqual({ title: "T" });
    expect(stateOf("session_info_update", { title: null })).toEqual({ title: null });
    expect(stateOf("session_info_update", { updatedAt: "x" })).toEqual({});
    expect(stateOf("current_mode_update", { currentModeId: "plan" })).toEqual({ permissionMode: "plan" });
    expect(stateOf("config_option_update", { configOptions: [{ id: "m", category: "model", currentValue: "big" }] })).toEqual({ model: "big" });
    expect(stateOf("agent_message_chunk", {})).toBeNull();
  });

  it("is how it ended", () => {
    expect(outcomeOf({ stopReason: "end_turn" }, false)).toEqual({ status: "succeeded" });
    expect(outcomeOf({ stopReason: "max_tokens" }, false)).toEqual({ status: "succeeded" });
    expect(outcomeOf({ stopReason: "end_turn" }, true)).toEqual({ status: "cancelled" });
    expect(outcomeOf({ stopReason: "cancelled" }, false)).toEqual({ status: "cancelled" });
    expect(outcomeOf({ stopReason: "refusal" }, false)).toMatchObject({ status: "failed" });
    expect(outcomeOf({ stopReason: "max_turn_requests" }, true)).toMatchObject({ status: "failed" });
  });

  it("is its tokens, where it counts them", () => {
    expect(usageOfAnswer({ inputTokens: 5, outputTokens: 2, cachedReadTokens: 3, thoughtTokens: 1 }, 1000)).toEqual({ last: { input: 5, output: 2, cachedInput: 3, reasoning: 1 }, contextWindow: 1000 });
    expect(usageOfAnswer({ inputTokens: "5" }, 1000)).toBeNull();
    expect(usageOfAnswer(null, null)).toBeNull();
  });

  it("is a plan without an invented step", () => {
    expect(planOf("nothing")).toEqual([]);
    expect(planOf([{ content: 3 }, null])).toEqual([{ step: "", status: "pending" }]);
  });
});
