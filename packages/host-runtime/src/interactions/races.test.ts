import fc from "fast-check";
import { expect, test } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import { silentLogger } from "../log/logger.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient } from "../testing/client.ts";
import { fakeEntry } from "../testing/fake-adapter.ts";
import type { FakeAdapter, FakeSession } from "../testing/fake-adapter.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { InteractionManager } from "./manager.ts";

/** Runs beyond the 500: as many as this says, each with its own seed. */
const RUNS = process.env["RACES"] === undefined ? { numRuns: 500, seed: 20_261_130 } : { numRuns: Number(process.env["RACES"]) };

const KINDS = {
  command: { kind: "approval", about: "command", command: "ls", offers: ["accept", "decline", "cancel"] },
  // Offers no way to say no, and no way to say always.
  odd: { kind: "approval", about: "tool", title: "Fetch", offers: ["accept"] },
  permissions: { kind: "approval", about: "permissions", permissions: { network: true }, offers: ["accept", "acceptForSession", "decline"] },
  question: { kind: "question", questions: [{ id: "q", question: "Which?", options: [{ label: "a" }] }, { id: "p", question: "And?", options: [] }] },
  form: { kind: "elicitation", server: "s", message: "m", mode: "form", schema: { properties: { name: { type: "string" }, n: { type: "integer" } }, required: ["name"] } },
  page: { kind: "elicitation", server: "s", message: "m", mode: "url", url: "https://x.example/", elicitationId: "e" },
  quick: { kind: "quickReply", text: "Next?", replies: [{ label: "on", value: "go on" }] },
} satisfies Record<string, DistributiveOmit<InteractionRequest, "id">>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type Kind = keyof typeof KINDS;

const RESULTS = [
  { decision: "accept" }, { decision: "decline" }, { decision: "cancel" }, { answers: {} }, { answers: { q: { answers: ["a"] }, approval: { answers: ["Approve"] } } }, { nothing: true },
  { permissions: { network: { enabled: true } }, scope: "session" }, { permissions: {} }, { action: "accept", content: { name: "x" } }, { action: "accept", content: null }, { action: "cancel" },
];
/** Replies of a client that read the request: yes, no, nothing. */
const FITTING: Record<Kind, readonly object[]> = {
  command: [{ decision: "accept" }, { decision: "decline" }, { decision: "cancel" }],
  odd: [{ answers: { approval: { answers: ["Approve"] } } }, { answers: { approval: { answers: ["Deny", "no"] } } }, { answers: {} }],
  permissions: [{ permissions: { network: { enabled: true } }, scope: "session" }, { permissions: {} }, { permissions: {} }],
  question: [{ answers: { q: { answers: ["a"] }, p: { answers: ["b"] } } }, { answers: {} }, { answers: {} }],
  form: [{ action: "accept", content: { name: "x" } }, { action: "decline" }, { action: "accept", content: null }],
  page: [{ action: "accept" }, { action: "decline" }, { action: "cancel" }],
  quick: [{}, {}, {}],
};
const TYPED = ["approve", "deny no", "a", "q=a", "p=b", "name=x", "submit", "1", "", "?"];
const SENDER = { channel: "c", chatId: "g", senderId: "u" };

const who = fc.nat(2);
const which = fc.nat(3);
const move = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), who, which, how: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reply" as const), who, which, result: fc.nat(RESULTS.length - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cannotDraw" as const), who, which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("type" as const), who, which, value: fc.constantFrom(...TYPED) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("press" as const), who, which, actionId: fc.constantFrom("approve", "name", "q", "reply-1", "submit", ""), value: fc.constantFrom(...TYPED), sender: fc.constantFrom(SENDER, { ...SENDER, senderId: "other" }, {}) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("interrupt" as const, "expire" as const, "harnessExits" as const, "harnessEndsTurn" as const, "hostStops" as const, "pause" as const, "offer" as const, "prompt" as const) }) },
);

/** Lets everything that is under way in this process come to rest. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 6; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("answers of three clients, expiry, interrupt, the harness's exit and the host's stop in any order: each settled once, no harness waits", async () => {
  const seen = new Map<string, number>();
  const kinds = fc.array(fc.constantFrom<Kind>(...(Object.keys(KINDS) as Kind[])), { minLength: 1, maxLength: 4 });
  await fc.assert(fc.asyncProperty(kinds, fc.boolean(), fc.array(move, { minLength: 1, maxLength: 12 }), async (asked, denyText, moves) => {
    const clock = new VirtualClock();
    let ids = 0;
    const interactions = new InteractionManager({ log: silentLogger, now: () => clock.now, expiryMs: 60_000, schedule: clock.schedule, newId: () => String((ids += 1)) });
    let made: FakeAdapter | undefined;
    const { host } = await startTestHost({ interactions, harnesses: [fakeEntry((adapter) => (made = adapter), "fake", { denyText })] });
    const adapter = made!;
    const clients: TestClient[] = [];
    for (const name of ["a", "b", "c"]) {
      const foldcast = { interaction: true, ...(name === "c" ? { channel: { name: "c", approvers: [] } } : {}) };
      clients.push(await connectStdio(host).initialize({ name, capabilities: { extensions: { foldcast } } }));
    }
    const threadId = (await clients[0]!.call("thread/start", { cwd: "/w" })).thread.id;
    // What the harness still waits for; it is let go by an answer, a cancel or the end of its session.
    const waiting = new Set<string>();
    let session: FakeSession | undefined;
    adapter.script = (run, input, key) => {
      session ??= run;
      run.begin(key, input);
      // What follows from a quick reply or from words with a refusal.
      if (key !== "k1") return run.end({ status: "succeeded" });
      asked.forEach((kind, at) => {
        if (kind !== "quick") waiting.add(`r${at}`);
        run.emit({ type: "interaction.opened", at: 0, interaction: { id: `r${at}`, ...KINDS[kind] } });
      });
    };
    adapter.onCancel = (run) => {
      waiting.clear();
      run.end({ status: "cancelled" });
    };
    const turnId = (await clients[0]!.call("turn/start", { threadId, input: [{ type: "text", text: "go" }], foldcast: { sender: SENDER } })).turn.id;
    await settle();
    for (const client of clients.slice(1)) await client.call("thread/resume", { threadId });

    for (const [at, step] of moves.entries()) {
      const id = "which" in step ? `foldcast:${step.which + 1}` : "";
      const send = (client: number, frame: object): void => clients[client]!.sendRaw(JSON.stringify(frame));
      switch (step.do) {
        case "answer": {
          const kind = asked[step.which];
          if (kind !== undefined) send(step.who, { id, result: FITTING[kind][step.how] });
          break;
        }
        case "reply":
          send(step.who, { id, result: RESULTS[step.result] });
          break;
        case "cannotDraw":
          send(step.who, { id, error: { code: -32601, message: "no" } });
          break;
        case "type":
          send(step.who, { id: `t${at}`, method: "turn/steer", params: { threadId, expectedTurnId: turnId, input: [{ type: "text", text: `/_interaction ${id} ${step.value}` }], ...(step.who === 2 ? { foldcast: { sender: SENDER } } : {}) } });
          break;
        case "press":
          send(step.who, { id: `p${at}`, method: "foldcast/interaction/answer", params: { interactionId: id, actionId: step.actionId, actionValue: step.value, ...step.sender } });
          break;
        case "offer":
          send(0, { id: `o${at}`, method: "foldcast/interaction/offer", params: { threadId, kind: "command", body: "?", actions: [{ label: "on", value: "/on" }] } });
          break;
        case "prompt":
          send(0, { id: `n${at}`, method: "turn/start", params: { threadId, input: [{ type: "text", text: "and now?" }] } });
          break;
        case "leave":
          send(step.who, { id: `l${at}`, method: "thread/unsubscribe", params: { threadId } });
          break;
        case "interrupt":
          send(0, { id: `i${at}`, method: "turn/interrupt", params: { threadId, turnId } });
          break;
        case "expire":
          clock.pass(60_000);
          break;
        case "harnessExits":
          session?.breakOff(new Error("gone"));
          waiting.clear();
          break;
        case "harnessEndsTurn":
          session?.end({ status: "succeeded" });
          waiting.clear();
          break;
        case "hostStops":
          void host.close();
          waiting.clear();
          break;
        case "pause":
          await settle();
      }
    }
    await settle();
    if (moves.some((step) => step.do === "hostStops")) expect(interactions.size).toBe(0);
    // Nobody answers any more: time must do it.
    clock.pass(120_000);
    await settle();
    const answered = session!.answers.map(({ id }) => id);
    for (const id of answered) waiting.delete(id);
    expect([...waiting]).toEqual([]);
    expect(new Set(answered).size).toBe(answered.length);
    expect(interactions.size).toBe(0);
    expect(JSON.stringify([session!.steered, session!.answers])).not.toContain("_interaction");
    for (const { answer } of session!.answers) if (answer.kind === "approval" && !denyText) expect(answer).not.toHaveProperty("text");
    for (const client of clients) {
      const told = client.of("foldcast/interaction/resolved").map(({ params }) => params as unknown as { requestId: string; how: string; answer: { kind: string } | null });
      for (const { how, answer } of client === clients[0] ? told : []) seen.set(`${how} ${answer?.kind ?? "-"}`, (seen.get(`${how} ${answer?.kind ?? "-"}`) ?? 0) + 1);
      expect(new Set(told.map(({ requestId }) => requestId)).size).toBe(told.length);
      const requests = client.frames.filter((frame) => "method" in frame && "id" in frame).map(({ id }) => id);
      const ends = client.of("serverRequest/resolved").map(({ params }) => (params as unknown as { requestId: string }).requestId);
      expect(new Set(ends).size).toBe(ends.length);
      // Whoever still watched was told of each that it had been shown.
      if (!moves.some((step) => (step.do === "leave" && clients[step.who] === client) || step.do === "hostStops")) expect([...ends].sort()).toEqual([...requests].sort());
    }
    await host.close();
  }), RUNS);
  if (process.env["RACES"] !== undefined) console.log(Object.fromEntries([...seen].sort()));
  // The races went everywhere: each way to settle, each kind of answer.
  for (const way of ["answered approval", "answered question", "answered elicitation", "answered quickReply", "expired approval", "skipped elicitation", "unreadable approval", "interrupted -", "superseded -"]) expect([...seen.keys()]).toContain(way);
}, 120_000);
