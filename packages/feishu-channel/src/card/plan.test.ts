import type { ThreadItem } from "@foldcast/protocol-core/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TurnCard } from "./document.ts";
import { layoutTurn } from "./pages.ts";
import { afterChange, nextChange } from "./plan.ts";
import { applied, commandItem, inputOf, messageItem, turnWith, userItem } from "./testing.ts";

const cardOf = (items: readonly ThreadItem[], status: "inProgress" | "completed" = "inProgress"): TurnCard => layoutTurn(inputOf(turnWith(items, { status }))).cards[0]!;

describe("the next change of a card", () => {
  it("is nothing when nothing differs", () => {
    const card = cardOf([commandItem("c", "ls")]);
    expect(nextChange(card, structuredClone(card))).toBeNull();
  });

  it("is the text alone while it grows", () => {
    const change = nextChange(cardOf([messageItem("m", "Hel")]), cardOf([messageItem("m", "Hello")]));
    expect(change).toEqual({ kind: "content", elementId: "i0", content: "Hello" });
  });

  it("adds one tool by one action into its group and leaves what the reader opened", () => {
    const change = nextChange(cardOf([commandItem("c1", "a")]), cardOf([commandItem("c1", "a"), commandItem("c2", "b")]));
    expect(change?.kind).toBe("batch");
    const actions = change?.kind === "batch" ? change.actions : [];
    expect(actions.map((action) => action.action)).toEqual(["partial_update_element", "add_elements"]);
    expect(JSON.stringify(actions)).not.toContain('"expanded":true');
  });

  it("leads from any state of a turn to any later one, in few steps, as Feishu applies them", () => {
    const item = fc.oneof(
      fc.nat(99).map((index) => ({ make: (id: string): ThreadItem => commandItem(id, `run ${index}`) })),
      fc.nat(99).map((index) => ({ make: (id: string): ThreadItem => messageItem(id, `text ${index} `.repeat(1 + (index % 5))) })),
      fc.constant({ make: (id: string): ThreadItem => ({ type: "reasoning", id, summary: ["thinking"], content: [] }) }),
    );
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), fc.nat(12), fc.boolean(), (parts, at, ends) => {
        const items = [userItem("u", "x"), ...parts.map((part, index) => part.make(`k${index}`))];
        let shadow = cardOf(items.slice(0, Math.max(1, at)));
        const desired = cardOf(ends ? [...items, messageItem("last", "Done.", "final_answer")] : items, ends ? "completed" : "inProgress");
        for (let steps = 0; ; steps += 1) {
          expect(steps).toBeLessThan(4);
          const change = nextChange(shadow, desired);
          if (change === null) break;
          const real = applied(shadow, change);
          shadow = afterChange(shadow, desired, change);
          expect(real).toEqual(shadow);
        }
        expect(shadow).toEqual(desired);
      }),
      { numRuns: 300, seed: 11 },
    );
  });
});
