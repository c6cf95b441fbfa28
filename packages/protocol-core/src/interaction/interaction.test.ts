import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentRequest } from "../harness/index.ts";
import { buttonsOf, chooseAction, mayAnswer, parseInteractionCommand, payloadInLocale, payloadOf, planInteraction, renderFallback, type InteractionField, type InteractionPayload } from "./index.ts";

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

it("of one question lists a line for each of its answers", () => {
  const question: AgentRequest = { id: "q", kind: "question", questions: [{ id: "folder", header: "Folder", question: "Which folder?", allowOther: true, options: [{ label: "build" }, { label: "dist" }] }] };
  expect(renderFallback(payloadOf(question, { interactionId: "i-1", expiresAt: null }), "en")).toBe([
    "Folder", "", "Which folder?", "1. build", "2. dist", "", "Reply with:", "/_interaction i-1 build", "/_interaction i-1 dist", "/_interaction i-1 <answer>",
  ].join("\n"));
});

it("tells an approval in another language, and leaves what the agent said", () => {
  const request: AgentRequest = { id: "a", kind: "approval", about: "tool", title: "Fetch", command: "fetch https://x.example", cwd: "/w", reason: "Folder: is what it wants\nReason: none", offers: ["accept", "decline", "acceptForSession"] };
  const english = payloadOf(request, { interactionId: "i", expiresAt: null });
  expect(payloadInLocale(english, "zh")).toEqual(payloadOf(request, { interactionId: "i", expiresAt: null, locale: "zh" }));
  expect(payloadInLocale(english, "zh").body).toContain("原因: Folder: is what it wants\nReason: none");
  expect(payloadInLocale(english, "en")).toEqual(english);
  const lines = { ...english, body: "Command: echo\nmore\nFolder: /w", actions: [{ id: "x", label: "Approve", value: "x", style: "default" as const }] };
  expect(payloadInLocale(lines, "zh")).toMatchObject({ body: "命令: echo\nmore\nFolder: /w", actions: lines.actions });
});

it("reads its own lines back, and no other text", () => {
  fc.assert(fc.property(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.stringMatching(/^[a-z ]{0,12}$/), (interactionId, value) => {
    expect(parseInteractionCommand(`/_interaction ${interactionId} ${value}`)).toEqual({ interactionId, value: value.trim() });
  }), { seed: 1 });
  for (const text of ["approve", "/_interactions i approve", "say /_interaction i approve", ""]) expect(parseInteractionCommand(text)).toBeNull();
  expect(parseInteractionCommand("  /_interaction  ")).toEqual({ interactionId: "", value: "" });
});

it("takes a number, a value or a label", () => {
  for (const typed of ["2", "deny", "DENY", " Deny "]) expect(chooseAction(approval, typed)).toBe("deny");
  for (const typed of ["0", "4", "maybe", ""]) expect(chooseAction(approval, typed)).toBeNull();
});

describe("the plan of a channel", () => {
  const all = { interactiveButtons: true, forms: true, messageUpdate: true, markdownCards: true };
  const field: InteractionField = { id: "f", label: "Which?", description: null, type: "text", options: [], multiple: false, freeText: true, required: true, default: null };
  const choice: InteractionField = { ...field, id: "c", options: [{ label: "A", value: "a" }, { label: "B", value: "b" }], freeText: false };
  const form = (...fields: InteractionField[]): InteractionPayload => ({ ...approval, kind: "formSubmit", actions: [], fields });

  it("is native where every part can be", () => {
    expect(planInteraction(approval, all)).toEqual({ render: "native", widgets: "buttons", body: "markdown", settle: "update" });
    expect(planInteraction(form(choice), { ...all, forms: false })).toMatchObject({ render: "native", widgets: "buttons" });
    expect(planInteraction(form(choice, field), all)).toMatchObject({ render: "native", widgets: "form" });
  });
  it("is text where buttons or forms are missing, or there is nothing to press", () => {
    for (const [payload, missing] of [
      [approval, { interactiveButtons: false }], [form(field), { forms: false }], [form(choice, { ...choice, multiple: true }), { forms: false }], [{ ...approval, actions: [] }, {}],
    ] as const) expect(planInteraction(payload, { ...all, ...missing })).toMatchObject({ render: "text", widgets: "none" });
  });
  it("tells the end in a new message where old ones cannot change, in plain words where there is no markdown", () => {
    expect(planInteraction(approval, { ...all, messageUpdate: false, markdownCards: false })).toMatchObject({ render: "native", body: "plain", settle: "newMessage" });
  });
  it("has a button for each option and action, which says what it answers", () => {
    expect(buttonsOf({ ...form(choice, field), actions: approval.actions.slice(0, 1) })).toEqual([
      { label: "A", actionId: "c", actionValue: "a", style: "default" }, { label: "B", actionId: "c", actionValue: "b", style: "default" },
      { label: "Approve", actionId: "a", actionValue: "approve", style: "primary" },
    ]);
  });
});

it("lets the one answer who started the turn, in its chat, and approvers; nobody else", () => {
  const starter = { channel: "c", chatId: "group", senderId: "u1" };
  const allowed = (who: Partial<typeof starter>, startedBy: typeof starter | null = starter, approvers: string[] = []): boolean => mayAnswer({ ...starter, ...who }, startedBy, approvers);
  expect([allowed({}), allowed({ senderId: "u2" }, starter, ["u2"]), allowed({ senderId: "u2" }, null, ["u2"])]).toEqual([true, true, true]);
  expect([
    // Of the same group, from another chat, from another channel, unnamed, and where nobody is known to have started it.
    allowed({ senderId: "u2" }), allowed({ chatId: "other" }), allowed({ chatId: "other", senderId: "u2" }, starter, ["u2"]), allowed({ channel: "d" }),
    allowed({ senderId: "" }, starter, [""]), allowed({}, null),
  ]).toEqual([false, false, false, false, false, false]);
});

it("survives serialisation", () => {
  expect(JSON.parse(JSON.stringify(approval))).toEqual(approval);
});
