import { describe, expect, it } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import { silentLogger } from "../log/logger.ts";
import { MemoryInteractionStore } from "../store/interactions.ts";
import { InteractionManager } from "./manager.ts";
import { COMMAND, FakeScreen, FakeTurn, me, setup } from "./testing.ts";

describe("what nobody waits for", () => {
  const QUICK: InteractionRequest = { id: "s1", kind: "quickReply", text: "Next?", replies: [{ label: "On", value: "go on" }, { label: "Stop" }] };

  it("goes only to clients that know of it, outlives its turn, and becomes an input with its sender", () => {
    const [plain, curious] = [new FakeScreen("plain"), new FakeScreen("curious", true)];
    const { manager, turn } = setup(plain, curious);
    turn.startedBy = { channel: "c", chatId: "g", senderId: "u" };
    manager.opened(QUICK, turn);
    manager.turnOver("T");
    expect([plain.frames, turn.log]).toEqual([[], []]);
    expect(curious.of("foldcast/interaction/opened")[0]!.params).toMatchObject({ threadId: "TH", interaction: { interactionId: "foldcast:i1", kind: "quickReply", body: "Next?", actions: [{ id: "reply-1", value: "go on" }, { value: "Stop" }] } });
    const sender = { channel: "c", chatId: "g", senderId: "u" };
    expect(manager.event({ ...sender, interactionId: "foldcast:i1", actionId: "reply-1", actionValue: "go on", timestamp: 1, metadata: {} }, { client: "bot", channel: null, sender }).status).toBe("accepted");
    expect(turn.inputs).toEqual([["go on", { sender, interactionId: "foldcast:i1" }]]);
    expect(turn.answers).toEqual([]);
    expect(curious.of("foldcast/interaction/resolved")[0]!.params).toMatchObject({ how: "answered", answer: { kind: "quickReply", text: "go on" } });
  });
  it("ends with the next turn, and a late choice changes nothing", () => {
    const { manager, turn } = setup(new FakeScreen("a", true));
    manager.opened(QUICK, turn);
    manager.turnBegins("TH");
    expect(manager.typed("TH", "foldcast:i1", "1", me())).toMatchObject({ status: "late", message: "The interaction foldcast:i1 is over: the conversation has gone on." });
    expect([turn.inputs, manager.size]).toEqual([[], 0]);
  });
  it("as a command gives who chose it what to run, once, and is nothing for a typed line", () => {
    const { manager, turn } = setup();
    const spec = { kind: "command" as const, title: null, body: "Model?", actions: [{ id: "a", label: "Demo", value: "/model demo", style: "default" as const }], expiresInMs: null };
    const { interactionId } = manager.offer(spec, turn);
    const event = { channel: "", chatId: "", senderId: "", interactionId, actionId: "a", actionValue: "/model demo", timestamp: 1, metadata: {} };
    expect(manager.typed("TH", interactionId, "1", me())).toMatchObject({ status: "invalid" });
    expect(manager.event(event, me())).toMatchObject({ status: "accepted", command: "/model demo" });
    expect(manager.event(event, me())).toMatchObject({ status: "late", command: null });
    expect(turn.inputs).toEqual([]);
    for (let count = 0; count < 20; count += 1) manager.offer(spec, turn);
    expect(() => manager.offer(spec, turn)).toThrow("too many offers");
  });
});

it("a harness that asks the same again after a restart is asked under the old id; until then its answer has expired", () => {
  const store = new MemoryInteractionStore();
  const start = (name: string) => {
    let ids = 0;
    return new InteractionManager({ log: silentLogger, now: () => 5, store, newId: () => `${name}${(ids += 1)}` });
  };
  start("a").opened(COMMAND, new FakeTurn());
  const second = start("b");
  expect(second.typed("TH", "foldcast:a1", "approve", me()).status).toBe("expired");
  const turn = new FakeTurn();
  // Of other content it is another request, whatever its id.
  second.opened({ ...COMMAND, command: "rm -rf /" }, turn);
  expect(second.typed("TH", "foldcast:a1", "approve", me()).status).toBe("expired");
  second.closed("T", "r1");
  second.opened(COMMAND, turn);
  expect(second.typed("TH", "foldcast:a1", "approve", me()).status).toBe("accepted");
  expect(turn.answers).toEqual([{ kind: "approval", decision: "accept" }]);
});

it("an interaction that another process settled is not answered here as well, and its harness does not wait", () => {
  const store = new MemoryInteractionStore();
  const manager = new InteractionManager({ log: silentLogger, now: () => 5, store, newId: () => "i1" });
  const turn = new FakeTurn();
  manager.opened(COMMAND, turn);
  store.settle("foldcast:i1", "answered", 4);
  expect(manager.typed("TH", "foldcast:i1", "approve", me()).status).toBe("late");
  expect(turn.answers).toEqual([{ kind: "approval", decision: "decline" }]);
});
