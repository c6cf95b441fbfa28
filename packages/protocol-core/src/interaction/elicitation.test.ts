import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentRequest, ElicitationProperty, ElicitationSchema, InteractionAnswer } from "../harness/index.ts";
import { fromServerReply, fromServerRequest, payloadOf, readElicitationSchema, readEvent, readTyped, renderFallback, toServerReply, toServerRequest, type FormAnswers, type TypedAnswer } from "./index.ts";

const METHOD = "mcpServer/elicitation/request";
const schema: ElicitationSchema = {
  properties: {
    title: { type: "string", title: "Title", minLength: 3 },
    severity: { type: "string", title: "Severity", oneOf: [{ const: "low", title: "Can wait" }, { const: "high", title: "Urgent" }], default: "low" },
    notify: { type: "boolean", title: "Tell the team" },
    copies: { type: "integer", title: "Copies", minimum: 1, maximum: 5 },
    tags: { type: "array", title: "Tags", items: { type: "string", enum: ["a", "b", "1"] }, maxItems: 2 },
  },
  required: ["title"],
};
type Elicitation = Extract<AgentRequest, { kind: "elicitation" }>;
const form: Elicitation = { id: "r", kind: "elicitation", server: "issues", message: "A few things.", mode: "form", schema };
const page: Elicitation = { id: "r", kind: "elicitation", server: "issues", message: "Sign in.", mode: "url", url: "https://x.example/", elicitationId: "e1" };
const place = { threadId: "TH", turnId: "T", item: null, cwd: "/w", startedAt: 7 };

describe("the schema of an MCP server", () => {
  it("is taken with what a form can show of it", () => {
    expect(readElicitationSchema({ type: "object", properties: { a: { type: "string", format: "email", pattern: "x", title: 3 }, b: { type: "number", minimum: 0 }, c: { type: "string", enum: ["x"], enumNames: ["X"] } }, required: ["a", "gone"] })).toEqual({
      properties: { a: { type: "string", format: "email" }, b: { type: "number", minimum: 0 }, c: { type: "string", enum: ["x"], enumNames: ["X"] } }, required: ["a"],
    });
    expect(readElicitationSchema({})).toEqual({ properties: {}, required: [] });
  });
  it("is none where it nests, or is no schema", () => {
    for (const raw of [null, [], "x", { type: "array" }, { properties: [] }, { properties: { a: { type: "object" } } }, { properties: { a: { type: "array", items: { type: "number" } } } }, { properties: {}, required: [1] }]) expect(readElicitationSchema(raw)).toBeNull();
  });
  it("may be anything at all without a throw, and what is taken survives the wire", () => {
    const json = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(fc.constantFrom<unknown>("object", "string", "integer", "array", null, 1, true), fc.dictionary(fc.constantFrom("type", "properties", "a", "required", "enum", "items", "__proto__"), tie("value"), { maxKeys: 4 }), fc.array(tie("value"), { maxLength: 2 })),
    })).value;
    fc.assert(fc.property(fc.dictionary(fc.constantFrom("type", "properties", "required"), json), (raw) => {
      const read = readElicitationSchema(raw);
      if (read !== null) expect(readElicitationSchema({ type: "object", ...read })).toEqual(read);
    }), { seed: 1 });
  });
});

describe("on the wire", () => {
  it("has Codex's shape, without an item, and comes back as what it was", () => {
    expect(toServerRequest(form, place, "i")).toEqual({
      method: METHOD, params: { threadId: "TH", turnId: "T", serverName: "issues", message: "A few things.", _meta: null, mode: "form", requestedSchema: { type: "object", properties: schema.properties, required: ["title"] } },
    });
    expect(toServerRequest(page, place, "i").params).toEqual({ threadId: "TH", turnId: "T", serverName: "issues", message: "Sign in.", _meta: null, mode: "url", url: "https://x.example/", elicitationId: "e1" });
    for (const request of [form, page]) expect(fromServerRequest(METHOD, toServerRequest(request, place, "i").params, null)).toEqual({ ...request, id: "", meta: null });
  });
  it("takes accept with what fits the form, decline, and cancel, which ends no turn", () => {
    const reply = (result: unknown): unknown => fromServerReply(METHOD, form, result);
    expect(reply({ action: "accept", content: { title: "abc", copies: 2, extra: 1 } })).toEqual({ kind: "answer", answer: { kind: "elicitation", action: "accept", content: { title: "abc", copies: 2 } }, interrupt: false });
    for (const action of ["decline", "cancel"]) expect(reply({ action, content: null })).toEqual({ kind: "answer", answer: { kind: "elicitation", action }, interrupt: false });
    for (const content of [{ title: "ab" }, { title: 5 }, { copies: 2 }, { title: "abc", copies: 1.5 }, { title: "abc", tags: ["c"] }, { title: "abc", severity: "odd" }, []]) expect(reply({ action: "accept", content })).toEqual({ kind: "unreadable" });
    for (const result of [{}, { action: "yes" }, null]) expect(reply(result)).toEqual({ kind: "unreadable" });
  });
  it("a yes of a client that cannot fill it in chooses nothing", () => {
    expect(fromServerReply(METHOD, form, { action: "accept", content: null })).toEqual({ kind: "empty" });
    expect(fromServerReply(METHOD, page, { action: "accept", content: null })).toEqual({ kind: "answer", answer: { kind: "elicitation", action: "accept" }, interrupt: false });
  });
  it("an answer comes through as it was given", () => {
    for (const answer of [{ kind: "elicitation", action: "accept", content: { title: "abc", notify: false, tags: ["a"] } }, { kind: "elicitation", action: "decline" }] satisfies InteractionAnswer[]) {
      expect(fromServerReply(METHOD, form, toServerReply(METHOD, {}, answer))).toEqual({ kind: "answer", answer, interrupt: false });
    }
  });
});

describe("in words", () => {
  it("is a form with its questions, and the lines that answer each of them", () => {
    expect(renderFallback(payloadOf(form, { interactionId: "i-1", expiresAt: null }), "en")).toBe([
      "Answer needed:", "", "A few things.", "Asked by: issues", "", "Title", "", "Severity (optional, default: low)", "1. Can wait", "2. Urgent", "", "Tell the team (optional)", "1. Yes", "2. No", "",
      "Copies (optional)", "", "Tags (optional)", "1. a", "2. b", "3. 1", "", "Reply with:", "/_interaction i-1 title=<answer>", "/_interaction i-1 severity=low", "/_interaction i-1 notify=true",
      "/_interaction i-1 copies=<answer>", "/_interaction i-1 tags=a", "/_interaction i-1 submit", "/_interaction i-1 deny",
    ].join("\n"));
  });
  it("is a yes or a no for a page, and for a form without questions", () => {
    expect(renderFallback(payloadOf(page, { interactionId: "i-1", expiresAt: null, locale: "zh" }), "zh")).toBe([
      "需要确认：", "", "Sign in.", "要打开的页面: https://x.example/", "来自: issues", "", "可选操作：", "1. 批准", "2. 拒绝", "", "回复：", "/_interaction i-1 approve", "/_interaction i-1 deny",
    ].join("\n"));
    expect(readTyped(page, "1")).toEqual({ kind: "answer", answer: { kind: "elicitation", action: "accept" } });
    expect(readTyped({ ...form, mode: "form", schema: { properties: {} } }, "approve")).toEqual({ kind: "answer", answer: { kind: "elicitation", action: "accept", content: {} } });
    expect(readTyped(page, "deny")).toEqual({ kind: "answer", answer: { kind: "elicitation", action: "decline" } });
  });
});

/** What a person types, line by line, and where it ends. */
function type(...lines: string[]): TypedAnswer {
  let answers: FormAnswers = {};
  let read: TypedAnswer = { kind: "unreadable", expected: "" };
  for (const line of lines) {
    read = readTyped(form, line, answers);
    if (read.kind === "partial") answers = read.answers;
  }
  return read;
}
const accepted = (content: object): object => ({ kind: "answer", answer: { kind: "elicitation", action: "accept", content } });

describe("an answer in words", () => {
  it("goes to the first open question, or to the one that it names; the last one submits", () => {
    expect(type("Broken build", "2", "yes", "copies=3")).toMatchObject({ kind: "partial", open: ["tags"] });
    expect(type("Broken build", "urgent", "no", "3", "a, 1")).toEqual(accepted({ title: "Broken build", severity: "high", notify: false, copies: 3, tags: ["a", "1"] }));
  });
  it("is submitted without what is optional, with the form's own defaults", () => {
    expect(type("title=Broken build", "submit")).toEqual(accepted({ title: "Broken build", severity: "low" }));
    expect(type("copies=2", "submit")).toEqual({ kind: "unreadable", expected: "title=<a text>" });
  });
  it("that does not fit is told what would", () => {
    expect(type("ab")).toEqual({ kind: "unreadable", expected: "title=<a text>" });
    expect(type("copies=9")).toEqual({ kind: "unreadable", expected: "copies=<a whole number>" });
    expect(type("severity=odd")).toEqual({ kind: "unreadable", expected: "severity=<Can wait, Urgent>" });
    expect(type("tags=a,b,1")).toMatchObject({ kind: "unreadable" });
  });
  it("declines", () => {
    expect(type("Broken build", "deny")).toEqual({ kind: "answer", answer: { kind: "elicitation", action: "decline" } });
  });
});

describe("an event", () => {
  const event = (actionId: string, actionValue: string, metadata: Record<string, string> = {}) => ({ actionId, actionValue, metadata });
  it("answers the question that it names, or all of them at once", () => {
    expect(readEvent(form, event("severity", "high"))).toMatchObject({ kind: "partial", answers: { severity: ["high"] } });
    expect(readEvent(form, event("tags", '["1","a"]'))).toMatchObject({ answers: { tags: ["1", "a"] } });
    expect(readEvent(form, event("submit", JSON.stringify({ title: "Broken build", severity: "", notify: true, copies: 4, tags: ["b"] })))).toEqual(accepted({ title: "Broken build", severity: "low", notify: true, copies: 4, tags: ["b"] }));
    expect(readEvent(form, event("submit", "submit"), { title: ["Broken build"] })).toEqual(accepted({ title: "Broken build", severity: "low" }));
    expect(readEvent(form, event("submit", JSON.stringify({ title: "Broken build", copies: 9 })))).toMatchObject({ kind: "unreadable" });
  });
  it("decides an approval, with words where it says no", () => {
    const approval: AgentRequest = { id: "r", kind: "approval", about: "command", offers: ["accept", "decline"] };
    expect(readEvent(approval, event("approve", "approve"))).toEqual({ kind: "answer", answer: { kind: "approval", decision: "accept" } });
    expect(readEvent(approval, event("deny", "deny", { text: "use the cache" }))).toEqual({ kind: "answer", answer: { kind: "approval", decision: "decline", text: "use the cache" } });
    expect(readEvent(approval, event("always", "always"))).toMatchObject({ kind: "unreadable", expected: "approve, deny" });
  });
  it("fills a question of several, each by itself", () => {
    const question: AgentRequest = { id: "q", kind: "question", questions: [{ id: "a", question: "A?", options: [{ label: "2" }, { label: "1" }] }, { id: "b", question: "B?", options: [] }] };
    expect(readEvent(question, event("a", "1"))).toEqual({ kind: "partial", answers: { a: ["1"] }, open: ["b"] });
    expect(readEvent(question, event("b", "free"), { a: ["1"] })).toEqual({ kind: "answer", answer: { kind: "question", answers: { a: ["1"], b: ["free"] } } });
  });
});

it("whatever is typed, a form is accepted only with content that fits it", () => {
  const property = fc.constantFrom<ElicitationProperty>(...Object.values(schema.properties), { type: "number" }, { type: "string", format: "email" }, { type: "string", format: "date" });
  fc.assert(fc.property(fc.dictionary(fc.constantFrom("a", "b", "__proto__", "submit"), property, { minKeys: 1 }), fc.subarray(["a", "b"]), fc.array(fc.oneof(fc.string(), fc.constantFrom("1", "a=1", "b=x@y", "submit", "yes", "2024-01-01", "b=true", "__proto__=1")), { maxLength: 6 }), (properties, required, lines) => {
    const read = readElicitationSchema({ properties, required });
    const request: Elicitation = { ...form, mode: "form", schema: read! };
    let answers: FormAnswers = {};
    for (const line of lines) {
      const typed = readTyped(request, line, answers);
      if (typed.kind === "partial") answers = typed.answers;
      if (typed.kind !== "answer" || typed.answer.kind !== "elicitation" || typed.answer.action !== "accept") continue;
      expect(fromServerReply(METHOD, request, { action: "accept", content: typed.answer.content })).toEqual({ kind: "answer", answer: typed.answer, interrupt: false });
    }
  }), { seed: 1 });
});
