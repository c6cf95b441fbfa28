import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HarnessAdapter, HarnessSession, SessionOptions, TurnInput } from "@foldcast/protocol-core/harness";
import { describeHistory } from "./history.ts";
import { describeSessions } from "./sessions.ts";
import { describeTurns } from "./turns.ts";
import { SessionListener } from "./listener.ts";

/**
 * Behaviours that a harness can be asked for: `plain` ends by itself, `tools` runs at least one tool or edit, `long`
 * goes on until it is cancelled, `approval` waits for one approval and ends by itself when it is answered,
 * `question` the same with a question, `crash` dies in the middle of the turn.
 */
export type ScenarioKind = "plain" | "tools" | "long" | "approval" | "question" | "crash";

export interface ScenarioHooks {
  /** How to get a behaviour out of the harness; null = it cannot be had (`plain` and `long` must be). */
  scenario(kind: ScenarioKind): { options: SessionOptions; input: TurnInput } | null;
  /** `events`: history gives the very events of the live turn. `summary`: the same items, texts and outcomes. */
  historyEquality: "events" | "summary";
  /** Milliseconds for one test. Default 60,000. */
  timeout?: number;
}

/** A fresh adapter with files of its own; `cleanup` runs after the adapter was closed. */
export type MakeAdapter = () => Promise<{ adapter: HarnessAdapter; cleanup?: () => Promise<void> | void }>;

/** What a test of the suite works with. */
export interface ConformanceContext {
  readonly adapter: HarnessAdapter;
  readonly hooks: ScenarioHooks;
  /** Opens a session for a behaviour and starts its first turn. Throws where the harness does not have it. */
  run(kind: ScenarioKind): Promise<{ session: HarnessSession; listener: SessionListener; input: TurnInput }>;
  /** Follows a session that the test opened itself. */
  listen(session: HarnessSession): SessionListener;
}

/**
 * Declares the tests that every adapter must pass: the contract's promises on order, cancelling, closing, errors,
 * history and honest capabilities. Call it at the top level of a vitest file.
 */
export function describeAdapter(name: string, makeAdapter: MakeAdapter, hooks: ScenarioHooks): void {
  describe(`${name} keeps the adapter contract`, { timeout: hooks.timeout ?? 60_000 }, () => {
    let current: { adapter: HarnessAdapter; cleanup?: () => Promise<void> | void };
    let listeners: SessionListener[] = [];
    const context: ConformanceContext = {
      get adapter() {
        return current.adapter;
      },
      hooks,
      async run(kind) {
        const scenario = hooks.scenario(kind);
        if (scenario === null) throw new Error(`There is no way given to get a "${kind}" turn.`);
        const session = await current.adapter.open({ kind: "create", options: scenario.options });
        const listener = context.listen(session);
        await session.startTurn(scenario.input);
        return { session, listener, input: scenario.input };
      },
      listen(session) {
        const listener = new SessionListener(session);
        listeners.push(listener);
        return listener;
      },
    };
    beforeEach(async () => {
      current = await makeAdapter();
      listeners = [];
    });
    afterEach(async () => {
      await current.adapter.close();
      await current.cleanup?.();
      for (const listener of listeners) expect(listener.thrown, "the event stream threw").toBeUndefined();
    });

    describe("manifest and inspection", () => {
      it("names itself and knows its tools as data", () => {
        const { manifest } = current.adapter;
        expect(manifest.id).toMatch(/^[a-z0-9][a-z0-9-]*$/);
        expect(manifest.displayName.trim()).not.toBe("");
        expect(JSON.parse(JSON.stringify(manifest))).toEqual(manifest);
        if (current.adapter.history === null) expect(manifest.capabilities.historyOutcome).toBe("alwaysUnknown");
      });

      it("answers an inspection at any time, also after it was closed", async () => {
        const inspection = await current.adapter.inspect();
        expect(inspection.ready, inspection.reason ?? "").toBe(true);
        expect(new Set(inspection.models.map((model) => model.id)).size).toBe(inspection.models.length);
        for (const model of inspection.models) {
          expect(model.id.trim()).not.toBe("");
          expect(model.efforts).toContain(model.defaultEffort);
        }
        const { permissionModes = [] } = inspection;
        expect(permissionModes.filter((mode) => mode.trim() === "" || mode.startsWith(":"))).toEqual([]);
        expect(new Set(permissionModes).size).toBe(permissionModes.length);
        await current.adapter.close();
        await expect(current.adapter.inspect()).resolves.toBeDefined();
      });
    });

    describeTurns(context);
    describeSessions(context);
    describeHistory(context);
  });
}
