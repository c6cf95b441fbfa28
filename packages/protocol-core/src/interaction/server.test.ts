import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentRequest, InteractionAnswer } from "../harness/index.ts";
import type { ThreadItem } from "../wire/index.ts";
import { changesOf, describeChanges, fromServerReply, fromServerRequest, payloadOf, readTyped, refusal, toServerReply, toServerRequest, withinOffers } from "./index.ts";

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
  }), { seed: 1 });
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
  }), { seed: 1 });
  expect(withinOffers("accept", ["acceptForSession", "decline"])).toBe("decline");
});

describe("permissions", () => {
  const METHOD = "item/permissions/requestApproval";
  const asks: Approval = { ...approval("permissions"), permissions: { network: true, read: ["/r"], write: ["/w/a", "/w/c"] } };
  const wire = { network: { enabled: true }, fileSystem: { read: ["/r"], write: ["/w/a", "/w/c"] } };
  const decisionOf = (result: unknown, request: Approval = asks): unknown => {
    const read = fromServerReply(METHOD, request, result);
    return read.kind === "answer" && read.answer.kind === "approval" ? read.answer.decision : read.kind;
  };

  it("are named as the harness named them, and never as an empty profile", () => {
    expect(toServerRequest(asks, place, "i").params).toMatchObject({ permissions: wire });
    expect(toServerRequest(approval("permissions"), place, "i").params).toMatchObject({ permissions: { network: { enabled: null }, fileSystem: null } });
    expect(payloadOf(asks, { interactionId: "i", expiresAt: null }).body).toBe("Network access\nRead: /r\nWrite: /w/a, /w/c\nReason: Needed.");
  });
  it("are granted whole, for the turn or the session, in whichever form the client says so", () => {
    expect(decisionOf({ permissions: wire, scope: "turn" })).toBe("accept");
    expect(decisionOf({ permissions: wire })).toBe("accept");
    expect(decisionOf({ permissions: wire, scope: "session" })).toBe("acceptForSession");
    const entries = [{ access: "write", path: { type: "path", path: "/w/a" } }, { access: "write", path: { type: "path", path: "/w/c" } }, { access: "read", path: { type: "path", path: "/r" } }];
    expect(decisionOf({ permissions: { network: { enabled: true }, fileSystem: { entries } } })).toBe("accept");
  });
  it("that are granted in part are not granted", () => {
    for (const permissions of [{}, { network: wire.network }, { fileSystem: wire.fileSystem }, { ...wire, fileSystem: { write: ["/w/a"], read: ["/r"] } }, { ...wire, fileSystem: { write: ["/w/a", "/w/c"], read: [] } }, { ...wire, network: { enabled: false } }, { ...wire, network: { enabled: null } }]) {
      expect(decisionOf({ permissions, scope: "turn" })).toBe("decline");
    }
  });
  it("under a review that no harness makes are declined, and the client is told", () => {
    expect(fromServerReply(METHOD, asks, { permissions: wire, scope: "turn", strictAutoReview: true })).toEqual({ kind: "answer", answer: { kind: "approval", decision: "decline" }, interrupt: false, narrowed: true });
  });
});

it("a decision that stock dialogs list and the harness does not offer comes to less, and is marked", () => {
  const reply = (decision: string, offers: Approval["offers"]): unknown => fromServerReply("item/fileChange/requestApproval", approval("fileChange", offers), { decision });
  expect(reply("acceptForSession", ["accept", "decline"])).toEqual({ kind: "answer", answer: { kind: "approval", decision: "accept" }, interrupt: false, narrowed: true });
  expect(reply("accept", ["acceptForSession", "decline"])).toMatchObject({ answer: { decision: "decline" }, narrowed: true });
  // Esc ends the turn, whatever the harness calls it.
  expect(reply("cancel", ["accept", "decline"])).toEqual({ kind: "answer", answer: { kind: "approval", decision: "decline" }, interrupt: true });
});

it("a change is shown with its diff, of the item or of what the harness tells", () => {
  const told: Approval = { ...approval("fileChange"), edits: [{ path: "/w/a", before: "1\n", after: "2\n" }] };
  const bodyOf = (item: ThreadItem | null): string => payloadOf(told, { interactionId: "i", expiresAt: null, changes: changesOf(told, item) }).body;
  expect(bodyOf(null)).toBe("Reason: Needed.\n\n/w/a\n@@ -1 +1 @@\n-1\n+2");
  expect(bodyOf(change)).toBe("Reason: Needed.\n\n/w/b\n+x");
  const long = describeChanges([{ path: "/w/l", kind: { type: "add" }, diff: "x\n".repeat(500) }], "zh");
  expect(long.split("\n")).toHaveLength(162);
  expect(long).toContain("… 还有 340 行");
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
  expect(fromServerRequest("mcpServer/elicitation/request", { mode: "openai/form" }, null)).toBeNull();
});

it("a typed answer to a form takes numbers, labels and lists, each question by itself", () => {
  const form: AgentRequest = { id: "q", kind: "question", questions: [{ id: "a", question: "A?", multiSelect: true, options: [{ label: "x" }, { label: "y" }] }] };
  const values = (typed: string): unknown => {
    const read = readTyped(form, typed);
    return read.kind === "answer" && read.answer.kind === "question" ? read.answer.answers["a"] : read.kind;
  };
  expect([values("1,2"), values("Y"), values("a=1"), values("z"), values("")]).toEqual([["x", "y"], ["y"], ["x"], "unreadable", "unreadable"]);
});
