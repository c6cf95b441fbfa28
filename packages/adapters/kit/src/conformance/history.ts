import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { HarnessEvent, HistoryIndex, HistorySource } from "@foldcast/protocol-core/harness";
import { orderFaults } from "./order.ts";
import { summarizeTurn } from "./summary.ts";
import type { ConformanceContext, ScenarioKind } from "./suite.ts";

/** Reads turns `from` ≤ i < `to`, checking that they come in order and complete. */
export async function readTurns(index: HistoryIndex, from = 0, to = index.turns.length): Promise<(readonly HarnessEvent[])[]> {
  const turns: (readonly HarnessEvent[])[] = [];
  for await (const turn of index.read(from, to)) {
    expect(turn.index).toBe(from + turns.length);
    turns.push(turn.events);
  }
  expect(turns.length).toBe(Math.max(0, Math.min(to, index.turns.length) - from));
  return turns;
}

/** Tests of saved sessions: the file read back is the turn that ran. */
export function describeHistory(context: ConformanceContext): void {
  const source = (): HistorySource => {
    if (context.adapter.history === null) throw new Error("The harness keeps no history.");
    return context.adapter.history;
  };
  const compare = (saved: readonly HarnessEvent[], live: readonly HarnessEvent[]): void => {
    if (context.hooks.historyEquality === "events") expect(saved).toEqual(live);
    else {
      const [wanted, got] = [summarizeTurn(live), summarizeTurn(saved)];
      // A source that cannot know how a turn ended must not be asked.
      if (context.adapter.manifest.capabilities.historyOutcome !== "complete") got.outcome = wanted.outcome;
      expect(got).toEqual(wanted);
    }
  };
  const kinds = (["plain", "tools", "crash"] as const satisfies ScenarioKind[]).filter((kind) => context.hooks.scenario(kind) !== null);

  describe("history", () => {
    it.each(kinds)("gives back a %s turn as it ran", async (kind) => {
      if (context.adapter.history === null) return;
      const { session, listener } = await context.run(kind);
      const live = await listener.turnEnd(0);
      await session.close();
      const index = await source().open(session.file!);
      expect(index.turns.length).toBe(1);
      const [saved] = await readTurns(index);
      expect(orderFaults(saved!)).toEqual([]);
      compare(saved!, live);
      const [turn] = index.turns;
      expect(saved![0]).toMatchObject({ type: "turn.started", turnKey: turn!.key });
      if (context.adapter.manifest.capabilities.historyOutcome === "complete") {
        expect(turn!.outcome.status).toBe(kind === "crash" ? "failed" : "succeeded");
      }
      if (context.adapter.manifest.capabilities.historyOutcome === "alwaysUnknown") expect(turn!.outcome.status).toBe("unknown");
      await index.close();
    });

    it("gives back a cancelled turn", async () => {
      if (context.adapter.history === null) return;
      const { session, listener } = await context.run("long");
      await listener.until("an item", (event) => event.type === "item.started");
      await session.cancel();
      const live = await listener.turnEnd(0);
      await session.close();
      const index = await source().open(session.file!);
      const [saved] = await readTurns(index);
      expect(orderFaults(saved!)).toEqual([]);
      if (context.adapter.manifest.capabilities.historyOutcome === "complete") {
        expect(index.turns[0]!.outcome.status).toBe("cancelled");
        compare(saved!, live);
      }
      await index.close();
    });

    it("knows its own files, and keeps keys stable over reads, growth and refresh", async () => {
      if (context.adapter.history === null) return;
      const { session, listener, input } = await context.run("plain");
      await listener.turnEnd(0);
      const file = session.file!;
      expect(source().recognises(file, (await readFile(file, "utf8")).slice(0, 4096))).toBe(true);
      expect(source().recognises("/somewhere/else.txt", "plain words")).toBe(false);
      const index = await source().open(file);
      const first = index.turns.map((turn) => turn.key);
      expect(first.length).toBe(1);
      expect(index.nativeSessionId).toBe(session.nativeSessionId);
      expect(await index.refresh()).toBe(false);
      await session.startTurn(input);
      const live = await listener.turnEnd(1);
      await session.close();
      expect(await index.refresh()).toBe(true);
      expect(index.turns.length).toBe(2);
      expect(index.turns[0]!.key).toBe(first[0]);
      const fresh = await source().open(file);
      expect(fresh.turns).toEqual(index.turns);
      const [alone] = await readTurns(index, 1, 2);
      compare(alone!, live);
      expect(await readTurns(fresh)).toEqual(await readTurns(index));
      expect(await readTurns(index, 1, 99)).toEqual([alone]);
      expect(await index.refresh()).toBe(false);
      await Promise.all([index.close(), fresh.close()]);
    });

    it("rejects a file that is missing or not its own", async () => {
      if (context.adapter.history === null) return;
      await expect(source().open("/nowhere/at/all.jsonl")).rejects.toThrow(Error);
      await expect(source().open(import.meta.filename)).rejects.toThrow(Error);
    });
  });
}
