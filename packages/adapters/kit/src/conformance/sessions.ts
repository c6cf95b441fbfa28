import { describe, expect, it } from "vitest";
import type { HarnessSession, TurnInput } from "@foldcast/protocol-core/harness";
import { orderFaults } from "./order.ts";
import type { ConformanceContext } from "./suite.ts";

async function expectAllRefused(session: HarnessSession, input: TurnInput): Promise<void> {
  await expect(session.startTurn(input), "startTurn").rejects.toThrow(Error);
  await expect(session.steer(input), "steer").rejects.toThrow(Error);
  await expect(session.cancel(), "cancel").rejects.toThrow(Error);
  await expect(session.answer("none", { kind: "approval", decision: "accept" }), "answer").rejects.toThrow(Error);
  await expect(session.select({ thinking: "medium" }), "select").rejects.toThrow(Error);
}

/** Tests of a session's life: close, resume, fork, crash. */
export function describeSessions(context: ConformanceContext): void {
  describe("sessions", () => {
    it("ends a running turn as cancelled when it is closed, then the stream; closing again is fine", async () => {
      const { session, listener, input } = await context.run("long");
      await listener.until("an item", (event) => event.type === "item.started");
      await Promise.all([session.close(), session.close()]);
      await listener.untilEnded();
      await session.close();
      const events = listener.turn(0);
      expect(orderFaults(events)).toEqual([]);
      expect(events.find((event) => event.type === "turn.completed")).toMatchObject({ outcome: { status: "cancelled" } });
      await expectAllRefused(session, input);
    });

    it("can be closed before its first turn and by a host that never read its events", async () => {
      const { options } = context.hooks.scenario("plain")!;
      const unread = await context.adapter.open({ kind: "create", options });
      const read = await context.adapter.open({ kind: "create", options });
      expect(read.nativeSessionId).not.toBe(unread.nativeSessionId);
      const listener = context.listen(read);
      await Promise.all([read.close(), unread.close()]);
      await listener.untilEnded();
      expect(listener.events.filter((event) => event.type !== "session.state")).toEqual([]);
    });

    it("closes every session with the adapter, whichever turn runs; closing again is fine", async () => {
      const first = await context.run("long");
      const second = await context.run("plain");
      await second.listener.turnEnd(0);
      await Promise.all([context.adapter.close(), context.adapter.close()]);
      await Promise.all([first.listener.untilEnded(), second.listener.untilEnded()]);
      await context.adapter.close();
      expect(orderFaults(first.listener.turn(0))).toEqual([]);
      await expectAllRefused(first.session, first.input);
      await expect(context.adapter.open({ kind: "create", options: context.hooks.scenario("plain")!.options })).rejects.toThrow(Error);
    });

    it("resumes a session where it says so, with turn keys that go on", async () => {
      const { session, listener, input } = await context.run("plain");
      const [first] = await listener.turnEnd(0);
      await session.close();
      const request = { kind: "resume" as const, nativeSessionId: session.nativeSessionId, options: context.hooks.scenario("plain")!.options };
      if (!context.adapter.manifest.capabilities.resume) {
        await expect(context.adapter.open(request)).rejects.toThrow(Error);
        return;
      }
      const resumed = await context.adapter.open(request);
      expect(resumed.nativeSessionId).toBe(session.nativeSessionId);
      expect(resumed.file).toBe(session.file);
      const again = context.listen(resumed);
      await resumed.startTurn(input);
      const [second] = await again.turnEnd(0);
      if (first?.type !== "turn.started" || second?.type !== "turn.started") throw new Error("no turn");
      expect(second.turnKey).not.toBe(first.turnKey);
    });

    it("refuses to resume or fork a session that does not exist", async () => {
      const { options } = context.hooks.scenario("plain")!;
      for (const nativeSessionId of ["00000000-0000-7000-8000-000000000000", "../../etc/passwd", ""]) {
        await expect(context.adapter.open({ kind: "resume", nativeSessionId, options }), nativeSessionId).rejects.toThrow(Error);
        await expect(context.adapter.open({ kind: "fork", nativeSessionId, options }), nativeSessionId).rejects.toThrow(Error);
      }
    });

    it("forks a session through a turn where it says so, and leaves the original alone", async () => {
      const { session, listener, input } = await context.run("plain");
      const [first] = await listener.turnEnd(0);
      await session.startTurn(input);
      await listener.turnEnd(1);
      if (first?.type !== "turn.started") throw new Error("no turn");
      const { options } = context.hooks.scenario("plain")!;
      const request = { kind: "fork" as const, nativeSessionId: session.nativeSessionId, throughTurnKey: first.turnKey, options };
      if (!context.adapter.manifest.capabilities.fork) {
        await expect(context.adapter.open(request)).rejects.toThrow(Error);
        return;
      }
      const fork = await context.adapter.open(request);
      expect(fork.nativeSessionId).not.toBe(session.nativeSessionId);
      const forked = context.listen(fork);
      await fork.startTurn(input);
      expect(orderFaults(await forked.turnEnd(0))).toEqual([]);
      const { history } = context.adapter;
      if (history !== null && fork.file !== null && session.file !== null) {
        const copy = await history.open(fork.file);
        const original = await history.open(session.file);
        expect([copy.turns.length, original.turns.length]).toEqual([2, 2]);
        expect(copy.nativeSessionId).toBe(fork.nativeSessionId);
        expect(copy.parentNativeSessionId).toBe(session.nativeSessionId);
        await Promise.all([copy.close(), original.close()]);
      }
      await expect(context.adapter.open({ ...request, throughTurnKey: "no such turn" })).rejects.toThrow(Error);
    });

    it("selects among its models where it says so, and stays usable", async () => {
      const { session, listener, input } = await context.run("plain");
      await listener.turnEnd(0);
      if (context.adapter.manifest.capabilities.selectModel) {
        const { models } = await context.adapter.inspect();
        for (const model of models.slice(0, 3)) await session.select({ model: model.id });
        await session.select({ model: context.hooks.scenario("plain")!.options.model ?? models[0]!.id });
      } else {
        await expect(session.select({ model: "no such model" })).rejects.toThrow(Error);
      }
      await session.startTurn(input);
      expect(orderFaults(await listener.turnEnd(1))).toEqual([]);
    });

    it.runIf(context.hooks.scenario("crash") !== null)("reports a crash as a fault, ends the stream and refuses the rest", async () => {
      const { session, listener, input } = await context.run("crash");
      await listener.untilEnded();
      const events = listener.turn(0);
      expect(orderFaults(events)).toEqual([]);
      const fault = events.at(-1);
      expect(fault?.type).toBe("fault");
      if (fault?.type === "fault") expect(fault.error.message.trim()).not.toBe("");
      await expectAllRefused(session, input);
      await session.close();
    });
  });
}
