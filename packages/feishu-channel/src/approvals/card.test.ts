import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import { expect, it } from "vitest";
import { checkCard, strictCardLimits } from "../fake/cards/card-rules.ts";
import { formAnswers, interactionCard } from "./card.ts";

const field = { description: null, type: "text" as const, required: true, default: null, options: [], multiple: false, freeText: false };
const form: InteractionPayload = {
  interactionId: "x", kind: "formSubmit", title: null, body: "", actions: [], expiresAt: null,
  fields: [
    { ...field, id: "empty", label: "Nothing to choose" },
    { ...field, id: "one", label: "One", options: [{ label: "a", value: "a" }], freeText: true },
    { ...field, id: "many", label: "Many", options: Array.from({ length: 80 }, (_, index) => ({ label: `<at id=all></at> ${index}`, value: String(index) })), multiple: true },
  ],
};
const card = (payload: InteractionPayload, locale: "en" | "zh" = "en") => interactionCard({ key: "i0", locale, payload, settled: null, expiresInMinutes: 5 });
const text = JSON.stringify;

it("has no list that nothing can be chosen from, and a field to write in instead", () => {
  expect(checkCard(card(form), strictCardLimits, () => false).advice).toEqual([]);
  expect(text(card(form)).match(/"select_static"/g)).toHaveLength(1);
  expect(text(card(form))).toContain('"name":"t0"');
  expect(text(card(form))).not.toContain('"name":"f0"');
});

it("reads what was chosen and written by the id of each question, writing first", () => {
  expect(formAnswers(form, { t0: " words ", f1: "a", t1: "", f2: ["3", "4"], other: "x" })).toEqual({ empty: "words", one: "a", many: ["3", "4"] });
  expect(formAnswers(form, { f1: "a", t1: "mine", f2: [] })).toEqual({ one: "mine" });
});

it("says what becomes of it: an approval is denied, a question is no longer good", () => {
  const approval: InteractionPayload = { ...form, kind: "approval", fields: [], actions: [{ id: "approve", label: "批准", value: "approve", style: "primary" }] };
  expect(text(card(approval, "zh"))).toContain("自动拒绝");
  expect(text(card(form, "zh"))).not.toContain("自动拒绝");
  expect(text(card(form, "zh"))).toContain("提交");
});

it("carries in a button its three values and nothing of the request", () => {
  const approval: InteractionPayload = { ...form, kind: "approval", body: "Command: secret-command", fields: [], actions: [{ id: "approve", label: "Approve", value: "approve", style: "primary" }] };
  const values = [...text(card(approval)).matchAll(/"value":(\{[^}]*\})/g)].map(([, value]) => JSON.parse(value!) as unknown);
  expect(values).toEqual([{ interaction_id: "i0", action_id: "approve", action_value: "approve" }]);
});
