import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentRequest, InteractionAnswer } from "../harness/index.ts";
import type { ThreadItem } from "../wire/index.ts";
import { fromServerReply, fromServerRequest, payloadOf, readTyped, refusal, toServerReply, toServerRequest, withinOffers } from "./index.ts";

type Approval = Extract<AgentRequest, { kind: "approval" }>;
const OFFERS = ["accept", "acceptForSession", "decline", "cancel"] as const;
const change: ThreadItem = { type: "fileChange", id: "T:edit:2", changes: [{ path: "/w/b", kind: { type: "add" }, diff: "x\n" }], status: "inProgress" };
const place = { threadId: "TH", turnId: "T", item: null, cwd: "/w", startedAt: 7 };
const approval = (about: Approval["about"], offers: Approval["offers"] = OFFERS): Approval => ({ id: "r", kind: "approval", about, title: "Fetch", reason: "Needed.", offers });

describe("the request that clients get", () => {
  it("is of the kind that they can draw", () => {
    const method = (request: AgentRequest, item: ThreadItem | null = null): string => toServerRequest(request, { ...place, item }, "foldcast:1").method;
    expect(method(approval("command"))).toBe("item/commandExecution/requestApproval");
    expect(method(approval("fileChange"), change)).toBe("item/fileChange/requestApproval");
    expect(method(approval("permissions"))).toBe("item/permissions/requestApproval");
    for (const request of [approval("tool"), approval("fileChange")]) expect(method(request)).toBe("item/tool/requestUserInput");
  });
  it("always names an item, and the right one", () => {
    expect(toServerRequest(approval("command"), place, "foldcast:1").params).toHaveProperty("itemId", "foldcast:1");
    expect(toServerRequest(approval("fileChange"), { ...place, item: change }, "foldcast:1").params).toHaveProperty("itemId", "T:edit:2");
  });
  it("lists only what is offered", () => {
    const tool = toServerRequest(approval("tool", ["accept", "cancel"]), place, "i");
    expect(tool.method === "item/tool/requestUserInput" && tool.params.questions[0]!.options!.map(({ label }) => label)).toEqual(["Approve", "Deny"]);
    expect(payloadOf(approval("tool", ["accept", "decline"]), { interactionId: "i", expiresAt: null }).actions.map(({ value }) => value)).toEqual(["approve", "deny"]);
  });
});

it("an answer comes through the wire as it was given", () => {
  const decision = fc.constantFrom("accept" as const, "acceptForSession" as const, "decline" as const);
  fc.assert(fc.property(fc.constantFrom("command", "fileChange", "permissions", "tool" as const), fc.constantFrom(null, change), decision, (about, item, chosen) => {
    const request = approval(about);
    const { method, params } = toServerRequest(request, { ...place, item }, "i");
    const answer: InteractionAnswer = { kind: "approval", decision: chosen };
    expect(fromServerReply(method, request, toServerReply(method, params, answer))).toEqual({ kind: "answer", answer, interrupt: false });
  }));
  const question: AgentRequest = { id: "q", kind: "question", questions: [{ id: "a", question: "A?", options: [] }] };
  const given: InteractionAnswer = { kind: "question", answers: { a: ["x", "y"] } };
  const { method, params } = toServerRequest(question, place, "i");
  expect(fromServerReply(method, question, toServerReply(method, params, given))).toEqual({ kind: "answer", answer: given, interrupt: false });
});

it("any result is read without a throw, and never as more than is offered", () => {
  fc.assert(fc.property(fc.constantFrom("command", "fileChange", "permissions", "tool" as const), fc.subarray([...OFFERS]), fc.anything(), fc.constantFrom("accept", "acceptForSession", "cancel"), (about, offers, junk, decision) => {
    const request = approval(about, offers);
    const { method } = toServerRequest(request, { ...place, item: change }, "i");
    for (const result of [junk, { decision }, { permissions: { network: {} }, scope: "session" }, { answers: { approval: { answers: ["Always approve"] } } }, { answers: junk }]) {
      const read = fromServerReply(method, request, result);
      if (read.kind !== "answer" || read.answer.kind !== "approval" || read.answer.decision === "decline") continue;
      expect(offers).toContain(read.answer.decision);
    }
  }));
  expect(withinOffers("accept", ["acceptForSession", "decline"])).toBe("decline");
});

it("a no to a question-like approval carries its words", () => {
  const request = approval("tool");
  const read = fromServerReply("item/tool/requestUserInput", request, { answers: { approval: { answers: ["Deny", "user_note: use the cache"] } } });
  expect(read).toEqual({ kind: "answer", answer: { kind: "approval", decision: "decline", text: "use the cache" }, interrupt: false });
  expect(refusal(request, "late")).toEqual({ kind: "approval", decision: "decline", text: "late" });
});

it("a client makes the same interaction of a request, native or ours, and null of another", () => {
  const request = toServerRequest({ ...approval("command", ["accept", "cancel"]), command: "ls" }, place, "i");
  expect(fromServerRequest(request.method, request.params, null)).toMatchObject({ kind: "approval", about: "command", command: "ls", offers: ["accept", "cancel"] });
  const native = { itemId: "x", availableDecisions: ["accept", { acceptWithExecpolicyAmendment: {} }, "cancel"] };
  expect(fromServerRequest("item/commandExecution/requestApproval", native, null)).toMatchObject({ offers: ["accept", "cancel"] });
  expect(fromServerRequest("item/fileChange/requestApproval", { itemId: "x" }, change)).toMatchObject({ edits: [{ path: "/w/b" }] });
  expect(fromServerRequest("mcpServer/elicitation/request", {}, null)).toBeNull();
});

it("a typed answer to a form takes numbers, labels and lists, each question by itself", () => {
  const form: AgentRequest = { id: "q", kind: "question", questions: [{ id: "a", question: "A?", multiSelect: true, options: [{ label: "x" }, { label: "y" }] }] };
  const values = (typed: string): unknown => {
    const read = readTyped(form, typed);
    return read.kind === "answer" && read.answer.kind === "question" ? read.answer.answers["a"] : read.kind;
  };
  expect([values("1,2"), values("Y"), values("a=1"), values("z"), values("")]).toEqual([["x", "y"], ["y"], ["x"], "unreadable", "unreadable"]);
});
