import fc from "fast-check";
import { expect, test } from "vitest";
import { foldTurn } from "@foldcast/protocol-core/folding";
import type { ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { desktopFold } from "./desktop-fold.ts";
import { turnFromWire } from "./desktop-turns.ts";

const text = fc.constantFrom("", "  ", "\n", "words");
const item = fc.oneof(
  fc.record({ type: fc.constant("userMessage"), content: fc.constant([{ type: "text", text: "x", text_elements: [] }]) }),
  fc.record({ type: fc.constant("agentMessage"), text, phase: fc.constantFrom(null, "commentary", "partial_answer", "final_answer") }),
  fc.record({ type: fc.constant("reasoning"), summary: fc.array(text, { maxLength: 2 }), content: fc.constant(["hidden"]) }),
  fc.record({ type: fc.constant("fileChange"), changes: fc.array(fc.constant({ path: "/a", kind: { type: "add" }, diff: "" }), { maxLength: 1 }) }),
  fc.record({ type: fc.constant("commandExecution") }),
  fc.record({ type: fc.constant("plan"), text }),
);
const turn = fc.record({
  items: fc.array(item, { maxLength: 5 }).map((items) => items.map((one, n) => ({ ...one, id: String(n) }) as unknown as ThreadItem)),
  status: fc.constantFrom("completed" as const, "interrupted" as const, "failed" as const, "inProgress" as const),
  durationMs: fc.option(fc.nat()),
});

test("the product's verdict and Desktop's rule, written down apart, agree on any turn", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(turn, (parts) => {
      const wire: Turn = { id: "u", rootTurnId: null, itemsView: "full", error: null, startedAt: null, completedAt: null, ...parts };
      const verdict = foldTurn(wire);
      const desktop = desktopFold(turnFromWire(wire));
      seen.add(verdict.reason ?? "folds");
      expect(desktop.collapses).toBe(verdict.folds);
      expect(desktop.hidden).toEqual(verdict.foldedItemIds);
      expect(desktop.finalAnswer !== null).toBe(verdict.finalAnswerId !== null);
      const { divider } = verdict;
      const words = divider === null ? null : divider.kind === "workedFor" ? `Worked for ${divider.value} ms` : `${divider.value} previous messages`;
      expect(desktop.divider).toBe(words);
    }),
    { numRuns: 2_000 },
  );
  expect([...seen].sort()).toEqual(["cancelled", "folds", "noFinalAnswer", "nothingBefore", "running"]);
});
