import fc from "fast-check";
import { expect, test } from "vitest";
import type { InteractionRequest } from "@foldcast/protocol-core/harness";
import { silentLogger } from "../log/logger.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient } from "../testing/client.ts";
import type { FakeSession } from "../testing/fake-adapter.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { InteractionManager } from "./manager.ts";

const request = (id: string, question: boolean): InteractionRequest => question
  ? { id, kind: "question", questions: [{ id: "q", question: "Which?", options: [{ label: "a" }] }] }
  : { id, kind: "approval", about: "command", command: "ls", offers: ["accept", "decline", "cancel"] };
const RESULTS = [{ decision: "accept" }, { decision: "decline" }, { decision: "cancel" }, { answers: {} }, { answers: { q: { answers: ["a"] } } }, { nothing: true }];

const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("reply" as const), who: fc.nat(2), which: fc.nat(2), result: fc.nat(RESULTS.length - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("type" as const), who: fc.nat(2), which: fc.nat(2), value: fc.constantFrom("approve", "deny no", "a") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), who: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("interrupt" as const, "expire" as const, "harnessExits" as const, "harnessEndsTurn" as const, "hostStops" as const, "pause" as const) }) },
);

/** Lets everything that is under way in this process come to rest. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 6; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("answers of three clients, expiry, interrupt, the harness's exit and the host's stop in any order: each settled once, no harness waits", async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }), fc.array(move, { minLength: 1, maxLength: 12 }), async (questions, moves) => {
    const clock = new VirtualClock();
    let ids = 0;
    const interactions = new InteractionManager({ log: silentLogger, now: () => clock.now, expiryMs: 60_000, schedule: clock.schedule, newId: () => String((ids += 1)) });
    const { host, adapter } = await startTestHost({ interactions });
    const clients: TestClient[] = [];
    for (const name of ["a", "b", "c"]) clients.push(await connectStdio(host).initialize({ name, capabilities: { extensions: { foldcast: { interaction: true } } } }));
    const threadId = (await clients[0]!.call("thread/start", { cwd: "/w" })).thread.id;
    // What the harness still waits for; it is let go by an answer, a cancel or the end of its session.
    const waiting = new Set<string>();
    let session: FakeSession | undefined;
    adapter.script = (made, input, key) => {
      session = made;
      made.begin(key, input);
      questions.forEach((question, at) => {
        waiting.add(`r${at}`);
        made.emit({ type: "interaction.opened", at: 0, interaction: request(`r${at}`, question) });
      });
    };
    adapter.onCancel = (made) => {
      waiting.clear();
      made.end({ status: "cancelled" });
    };
    const turnId = (await clients[0]!.call("turn/start", { threadId, input: [{ type: "text", text: "go" }] })).turn.id;
    await settle();
    for (const client of clients.slice(1)) await client.call("thread/resume", { threadId });

    for (const step of moves) {
      switch (step.do) {
        case "reply":
          clients[step.who]!.sendRaw(JSON.stringify({ id: `foldcast:${step.which + 1}`, result: RESULTS[step.result] }));
          break;
        case "type":
          clients[step.who]!.sendRaw(JSON.stringify({ id: `t${step.which}`, method: "turn/steer", params: { threadId, expectedTurnId: turnId, input: [{ type: "text", text: `/_interaction foldcast:${step.which + 1} ${step.value}` }] } }));
          break;
        case "leave":
          clients[step.who]!.sendRaw(JSON.stringify({ id: "leave", method: "thread/unsubscribe", params: { threadId } }));
          break;
        case "interrupt":
          clients[0]!.sendRaw(JSON.stringify({ id: "stop", method: "turn/interrupt", params: { threadId, turnId } }));
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
    // Nobody answers any more: time must do it.
    clock.pass(120_000);
    await settle();
    const answered = session!.answers.map(({ id }) => id);
    for (const id of answered) waiting.delete(id);
    expect([...waiting]).toEqual([]);
    expect(new Set(answered).size).toBe(answered.length);
    expect(interactions.size).toBe(0);
    expect(session!.steered).toEqual([]);
    for (const client of clients) {
      const told = client.of("foldcast/interaction/resolved").map(({ params }) => (params as unknown as { requestId: string }).requestId);
      expect(new Set(told).size).toBe(told.length);
      expect(client.of("serverRequest/resolved")).toHaveLength(told.length);
    }
    await host.close();
  }), { numRuns: 500 });
}, 120_000);
