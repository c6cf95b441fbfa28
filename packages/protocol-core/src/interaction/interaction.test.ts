import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseAction, parseInteractionCommand, planInteraction, renderFallback, type InteractionPayload } from "./index.ts";

const approval: InteractionPayload = {
  interactionId: "i-1", kind: "approval", title: null, body: "Tool: bash\nArgs: cargo test --lib", fields: [], expiresAt: null,
  actions: [
    { id: "a", label: "Approve", value: "approve", style: "primary" },
    { id: "b", label: "Deny", value: "deny", style: "danger" },
    { id: "c", label: "Always approve", value: "always", style: "default" },
  ],
};

describe("the text fallback", () => {
  it("is the numbered block, in Chinese", () => {
    expect(renderFallback(approval, "zh")).toBe([
      "需要确认：", "", "Tool: bash", "Args: cargo test --lib", "", "可选操作：", "1. Approve", "2. Deny", "3. Always approve", "",
      "回复：", "/_interaction i-1 approve", "/_interaction i-1 deny", "/_interaction i-1 always",
    ].join("\n"));
  });
  it("is the numbered block, in English, of what is offered only", () => {
    expect(renderFallback({ ...approval, actions: approval.actions.slice(0, 2) }, "en")).toBe([
      "Confirmation needed:", "", "Tool: bash", "Args: cargo test --lib", "", "Choices:", "1. Approve", "2. Deny", "",
      "Reply with:", "/_interaction i-1 approve", "/_interaction i-1 deny",
    ].join("\n"));
  });
});

it("reads its own lines back, and no other text", () => {
  fc.assert(fc.property(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.stringMatching(/^[a-z ]{0,12}$/), (interactionId, value) => {
    expect(parseInteractionCommand(`/_interaction ${interactionId} ${value}`)).toEqual({ interactionId, value: value.trim() });
  }));
  for (const text of ["approve", "/_interactions i approve", "say /_interaction i approve", ""]) expect(parseInteractionCommand(text)).toBeNull();
  expect(parseInteractionCommand("  /_interaction  ")).toEqual({ interactionId: "", value: "" });
});

it("takes a number, a value or a label", () => {
  for (const typed of ["2", "deny", "DENY", " Deny "]) expect(chooseAction(approval, typed)).toBe("deny");
  for (const typed of ["0", "4", "maybe", ""]) expect(chooseAction(approval, typed)).toBeNull();
});

it("plans text where buttons or forms are missing, and a new message where old ones cannot change", () => {
  const all = { interactiveButtons: true, forms: true, messageUpdate: true, markdownCards: true };
  const form = { ...approval, fields: [{ id: "f", label: "Which?", options: [], multiple: false, freeText: true }] };
  expect(planInteraction(approval, all)).toEqual({ render: "native", settle: "update" });
  expect(planInteraction(form, { ...all, forms: false })).toEqual({ render: "text", settle: "update" });
  expect(planInteraction(approval, { ...all, interactiveButtons: false, messageUpdate: false })).toEqual({ render: "text", settle: "newMessage" });
});

it("survives serialisation", () => {
  expect(JSON.parse(JSON.stringify(approval))).toEqual(approval);
});
