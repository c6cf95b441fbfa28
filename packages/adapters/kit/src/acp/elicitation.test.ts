import { describe, expect, it } from "vitest";
import { elicitationAsk } from "./elicitation.ts";

const form = (properties: object, message = "") => elicitationAsk("ask-1", { mode: "form", message, requestedSchema: { type: "object", properties } }, null);

describe("a form of the agent", () => {
  it("is a question for each of its members", () => {
    const ask = form({
      colour: { type: "string", title: "Colour", oneOf: [{ const: "r", title: "Red", description: "Warm" }, { const: "b", title: "Blue" }] },
      sizes: { type: "array", title: "Sizes", items: { anyOf: [{ const: "S", title: "Small" }, { const: "L", title: "Large" }] } },
      sure: { type: "boolean", title: "Sure?" },
      name: { type: "string" },
      count: { type: "integer" },
    });
    expect(ask?.interaction).toMatchObject({ kind: "question", questions: [
      { id: "colour", question: "Colour", multiSelect: false, allowOther: false, options: [{ label: "Red", description: "Warm" }, { label: "Blue" }] },
      { id: "sizes", multiSelect: true, options: [{ label: "Small" }, { label: "Large" }] },
      { id: "sure", options: [{ label: "Yes" }, { label: "No" }] }, { id: "name", allowOther: true, options: [] }, { id: "count" },
    ] });
    expect(ask?.reply({ kind: "question", answers: { colour: ["Blue"], sizes: ["Small", "Large"], sure: ["No"], name: ["Ann"], count: ["3"] } }))
      .toEqual({ action: "accept", content: { colour: "b", sizes: ["S", "L"], sure: false, name: "Ann", count: 3 } });
  });

  it("leaves out what nobody answered, and is declined where nothing is", () => {
    const ask = form({ a: { type: "string" }, b: { type: "number" } });
    expect(ask?.reply({ kind: "question", answers: { a: ["x"], b: ["many"] } })).toEqual({ action: "accept", content: { a: "x" } });
    expect(ask?.reply({ kind: "question", answers: {} })).toEqual({ action: "decline" });
    expect(ask?.withdrawn).toEqual({ action: "cancel" });
  });

  it("takes the message for the question where it has a line for each", () => {
    expect(form({ q0: { title: "Colour", type: "string" }, q1: { title: "Size", type: "string" } }, "Which colour?\nWhich size?")?.interaction)
      .toMatchObject({ questions: [{ question: "Which colour?", header: "Colour" }, { question: "Which size?", header: "Size" }] });
    expect(form({ q: { title: "T", type: "string", enum: ["a", "b"], enumNames: ["A"] } }, "Long\nwords")?.interaction).toMatchObject({ questions: [{ question: "Long\nwords", header: "T", options: [{ label: "A" }, { label: "b" }] }] });
  });

  it("of another mode, or without members, is none", () => {
    expect(elicitationAsk("ask-1", { mode: "url", url: "https://example.org" }, null)).toBeNull();
    expect(form({})).toBeNull();
  });
});
