import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../json.ts";
import { permissionAsk } from "./permissions.ts";

const option = (kind: string, optionId = kind, name = kind) => ({ optionId, name, kind });
const KINDS = { allow_once: "accept", allow_always: "acceptForSession", reject_once: "decline", reject_always: "decline" } as const;
const approval = (options: object[], toolCall: JsonRecord = {}) => {
  const ask = permissionAsk("ask-1", { options, toolCall }, "item-1");
  if (ask.interaction.kind !== "approval") throw new Error("no approval");
  return { ask, interaction: ask.interaction };
};

describe("a permission request", () => {
  it("offers exactly what the agent does, and stopping; each answer is one of its options", () => {
    fc.assert(fc.property(fc.uniqueArray(fc.constantFrom("allow_once", "allow_always", "reject_once"), { minLength: 1 }), (kinds) => {
      const { ask, interaction } = approval(kinds.map((kind) => option(kind, `id of ${kind}`)));
      expect(interaction.offers).toEqual([...kinds.map((kind) => KINDS[kind]), "cancel"]);
      for (const kind of kinds) expect(ask.reply({ kind: "approval", decision: KINDS[kind] })).toEqual({ outcome: { outcome: "selected", optionId: `id of ${kind}` } });
      expect(ask.reply({ kind: "approval", decision: "cancel" })).toEqual({ outcome: { outcome: "cancelled" } });
    }), { numRuns: 40, seed: 21 });
  });

  it("says what it is about: a command, changes, or a tool", () => {
    expect(approval([option("allow_once")], { kind: "execute", title: "Run it", rawInput: { command: "ls", cwd: "/w" } }).interaction).toMatchObject({ about: "command", title: "Run it", command: "ls", cwd: "/w", itemId: "item-1" });
    const content = [{ type: "diff", path: "/w/a", oldText: "a", newText: "b" }, { type: "content", content: { type: "text", text: "Because." } }];
    expect(approval([option("allow_once")], { content }).interaction).toMatchObject({ about: "fileChange", reason: "Because.", edits: [{ path: "/w/a", fragments: [{ old: "a", new: "b" }] }] });
    expect(approval([option("allow_once")], { kind: "fetch" }).interaction).toMatchObject({ about: "tool" });
  });

  it("without options can only be stopped", () => {
    expect(approval([]).interaction.offers).toEqual(["cancel"]);
    expect(approval([{ name: "no id", kind: "allow_once" }]).interaction.offers).toEqual(["cancel"]);
  });

  it("refuses the call with a refusal alone", () => {
    const { ask } = approval([option("allow_once"), option("reject_once")]);
    expect(["accept", "decline", "cancel"].map((decision) => ask.declines({ kind: "approval", decision: decision as "accept" }))).toEqual([false, true, false]);
  });

  it("whose options say more than yes and no is a question with their names", () => {
    const ask = permissionAsk("ask-1", {
      options: [option("allow_once", "p0", "Small plan"), option("allow_once", "p1", "Large plan"), option("reject_once", "no", "Skip")], toolCall: { title: "Which plan?" },
    }, null);
    expect(ask.interaction).toEqual({ id: "ask-1", kind: "question", questions: [{ id: "choice", question: "Which plan?", options: [{ label: "Small plan" }, { label: "Large plan" }] }] });
    expect(ask.reply({ kind: "question", answers: { choice: ["Large plan"] } })).toEqual({ outcome: { outcome: "selected", optionId: "p1" } });
    expect(ask.reply({ kind: "question", answers: {} })).toEqual({ outcome: { outcome: "selected", optionId: "no" } });
    expect(ask.withdrawn).toEqual({ outcome: { outcome: "cancelled" } });
  });

  it("with a kind of option that is not known is a question too", () => {
    const { interaction } = permissionAsk("ask-1", { options: [option("allow_for_a_day", "d", "For a day"), option("reject_once", "r", "Never")] }, null);
    expect(interaction).toMatchObject({ kind: "question", questions: [{ options: [{ label: "For a day" }, { label: "Never" }] }] });
  });

  it("is never lost in what an agent should not have sent", () => {
    fc.assert(fc.property(fc.dictionary(fc.constantFrom("options", "toolCall", "sessionId"), fc.jsonValue()), fc.jsonValue(), (params, options) => {
      const ask = permissionAsk("ask-1", { ...params, options }, null);
      expect(["approval", "question"]).toContain(ask.interaction.kind);
    }), { numRuns: 100, seed: 22 });
  });
});
