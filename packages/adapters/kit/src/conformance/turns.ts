import { describe, expect, it } from "vitest";
import { orderFaults } from "./order.ts";
import type { ConformanceContext } from "./suite.ts";

/** Tests of single turns: order, cancelling, steering, interactions. */
export function describeTurns(context: ConformanceContext): void {
  const has = (kind: Parameters<ConformanceContext["run"]>[0]): boolean => context.hooks.scenario(kind) !== null;

  describe("turns", () => {
    it("reports a plain turn in order, with its input and times", async () => {
      const { listener, input } = await context.run("plain");
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      const [started] = events;
      expect(started).toMatchObject({ type: "turn.started", input: input.input });
      if (started?.type === "turn.started" && input.clientId !== null) expect(started.clientId).toBe(input.clientId);
      expect(events.find((event) => event.type === "turn.completed")).toMatchObject({ outcome: { status: "succeeded" } });
      for (const event of events) expect(event.at, event.type).toBeTypeOf("number");
    });

    it.runIf(has("tools"))("reports tools and edits in order", async () => {
      const { listener } = await context.run("tools");
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      expect(events.some((event) => event.type === "item.started" && !["message", "reasoning", "userMessage"].includes(event.item.kind))).toBe(true);
    });

    it("runs one turn after the other, each with a key of its own", async () => {
      const { session, listener, input } = await context.run("plain");
      await listener.turnEnd(0);
      await session.startTurn({ ...input, clientId: "second" });
      const second = await listener.turnEnd(1);
      expect(orderFaults(second)).toEqual([]);
      const keys = listener.events.flatMap((event) => event.type === "turn.started" ? [event.turnKey] : []);
      expect(new Set(keys).size).toBe(2);
    });

    it("refuses a second turn while one runs, and the first goes on", async () => {
      const { session, listener, input } = await context.run("long");
      await expect(session.startTurn(input)).rejects.toThrow(Error);
      await session.cancel();
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      expect(listener.events.filter((event) => event.type === "turn.started").length).toBe(1);
    });

    it("ends a cancelled turn as cancelled, long before its own end, and takes another one", async () => {
      const { session, listener, input } = await context.run("long");
      await listener.until("an item", (event) => event.type === "item.started");
      await session.cancel();
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      expect(events.find((event) => event.type === "turn.completed")).toMatchObject({ outcome: { status: "cancelled" } });
      await session.startTurn(input);
      await listener.until("the second turn", (event) => event.type === "turn.started", listener.events.indexOf(events.at(-1)!) + 1);
      await session.cancel();
      expect(orderFaults(await listener.turnEnd(1))).toEqual([]);
    });

    it("does nothing when there is no turn to cancel", async () => {
      const { session, listener } = await context.run("plain");
      await listener.turnEnd(0);
      const before = listener.events.length;
      await session.cancel();
      await session.cancel();
      expect(listener.events.slice(before).filter((event) => event.type !== "session.state")).toEqual([]);
    });

    it("can be told to compact exactly where it says so", async () => {
      const { session } = await context.run("plain");
      expect(session.compact !== undefined).toBe(context.adapter.manifest.capabilities.compact);
    });

    it("steers a running turn exactly where it says so", async () => {
      const steering = { input: [{ type: "text" as const, text: "and be quick", text_elements: [] }], clientId: "steered" };
      const { session, listener } = await context.run("long");
      await listener.until("an item", (event) => event.type === "item.started");
      if (context.adapter.manifest.capabilities.steer) {
        await session.steer(steering);
        const shown = await listener.until("the steering message", (event) => event.type === "item.started" && event.item.kind === "userMessage");
        expect(shown).toMatchObject({ item: { content: steering.input, clientId: "steered" } });
      } else {
        await expect(session.steer(steering)).rejects.toThrow(Error);
      }
      await session.cancel();
      expect(orderFaults(await listener.turnEnd(0))).toEqual([]);
      await expect(session.steer(steering)).rejects.toThrow(Error);
    });
  });

  describe.runIf(has("approval") || has("question"))("interactions", () => {
    it.runIf(has("approval"))("opens an approval, takes one answer for it, and goes on", async () => {
      expect(context.adapter.manifest.capabilities.interactions).toBe(true);
      const { session, listener } = await context.run("approval");
      const opened = await listener.until("an approval", (event) => event.type === "interaction.opened");
      if (opened.type !== "interaction.opened" || opened.interaction.kind !== "approval") throw new Error("not an approval");
      const { id, offers } = opened.interaction;
      expect(offers.length).toBeGreaterThan(0);
      await expect(session.answer("no such interaction", { kind: "approval", decision: "accept" })).rejects.toThrow(Error);
      await session.answer(id, { kind: "approval", decision: offers[0]! });
      await expect(session.answer(id, { kind: "approval", decision: offers[0]! })).rejects.toThrow(Error);
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      expect(events).toContainEqual(expect.objectContaining({ type: "interaction.closed", interactionId: id, reason: "answered" }));
    });

    it.runIf(has("approval"))("declines where it offers that, and the turn still ends in order", async () => {
      const { session, listener } = await context.run("approval");
      const opened = await listener.until("an approval", (event) => event.type === "interaction.opened");
      if (opened.type !== "interaction.opened" || opened.interaction.kind !== "approval") throw new Error("not an approval");
      const { id, offers, itemId } = opened.interaction;
      if (!offers.includes("decline")) return;
      await session.answer(id, { kind: "approval", decision: "decline", text: "not like this" });
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      if (itemId !== undefined) {
        expect(events.find((event) => event.type === "item.completed" && event.itemId === itemId)).toMatchObject({ outcome: { status: "declined" } });
      }
    });

    it.runIf(has("approval"))("closes what is open when the turn is cancelled", async () => {
      const { session, listener } = await context.run("approval");
      const opened = await listener.until("an approval", (event) => event.type === "interaction.opened");
      await session.cancel();
      const events = await listener.turnEnd(0);
      expect(orderFaults(events)).toEqual([]);
      const id = opened.type === "interaction.opened" ? opened.interaction.id : "";
      expect(events).toContainEqual(expect.objectContaining({ type: "interaction.closed", interactionId: id, reason: "cancelled" }));
      await expect(session.answer(id, { kind: "approval", decision: "accept" })).rejects.toThrow(Error);
    });

    it.runIf(has("question"))("asks a question and goes on with its answer", async () => {
      const { session, listener } = await context.run("question");
      const opened = await listener.until("a question", (event) => event.type === "interaction.opened");
      if (opened.type !== "interaction.opened" || opened.interaction.kind !== "question") throw new Error("not a question");
      const { id, questions } = opened.interaction;
      const answers = Object.fromEntries(questions.map((question) => [question.id, [question.options[0]?.label ?? "yes"]]));
      await session.answer(id, { kind: "question", answers });
      expect(orderFaults(await listener.turnEnd(0))).toEqual([]);
    });
  });
}
