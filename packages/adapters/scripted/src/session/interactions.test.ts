import { afterEach, describe, expect, it } from "vitest";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent, InteractionAnswer } from "@foldcast/protocol-core/harness";
import type { ScenarioInput } from "../scenario/schema.ts";
import { makeHarness, scenario, shape, start, type TestHarness } from "../testing.ts";

type Steps = ScenarioInput["turns"][number]["steps"];
const accept: InteractionAnswer = { kind: "approval", decision: "accept" };
const decline: InteractionAnswer = { kind: "approval", decision: "decline" };

let harness: TestHarness | null = null;
afterEach(async () => {
  await harness?.cleanup();
  harness = null;
});

/** Plays steps, answering what opens in order. */
async function playAnswering(steps: Steps, ...answers: InteractionAnswer[]): Promise<HarnessEvent[]> {
  harness = await makeHarness([scenario("test", { steps })]);
  const { session, listener } = await start(harness.adapter, "test");
  let from = 0;
  for (const answer of answers) {
    const opened = await listener.until("a request", (event) => event.type === "interaction.opened", from);
    from = listener.events.indexOf(opened) + 1;
    if (opened.type === "interaction.opened") await session.answer(opened.interaction.id, answer);
  }
  const events = await listener.turnEnd(0);
  expect(orderFaults(events)).toEqual([]);
  return events;
}

const COMMAND: Steps = [
  { tool: { id: "rm", name: "shell", input: { command: "rm -rf build" } } },
  { approve: { id: "rm", kind: "command", offers: ["accept", "decline", "cancel"], reason: "why" } },
  { output: "rm", text: "gone" },
  { result: { id: "rm", output: "gone", exitCode: 0 } },
  { message: "on it goes", id: "after" },
];
const opened = {
  type: "interaction.opened",
  interaction: { id: "rm", kind: "approval", about: "command", itemId: "rm", reason: "why", command: "rm -rf build", offers: ["accept", "decline", "cancel"] },
};
const answered = (interactionId: string): object => ({ type: "interaction.closed", interactionId, reason: "answered" });

describe("approvals", () => {
  it("wait between a tool and its output, and let it run when accepted", async () => {
    expect(shape(await playAnswering(COMMAND, accept)).slice(0, 5)).toEqual([
      { type: "item.started", item: { kind: "tool", id: "rm", name: "shell", input: { command: "rm -rf build" } } },
      opened, answered("rm"),
      { type: "item.updated", itemId: "rm", update: { type: "output", append: "gone" } },
      { type: "item.completed", itemId: "rm", outcome: { status: "succeeded" }, result: { output: "gone", exitCode: 0 } },
    ]);
  });

  it("end the tool as declined, without output, and the turn goes on", async () => {
    const events = shape(await playAnswering(COMMAND, decline));
    expect(events.slice(1, 5)).toEqual([
      opened, answered("rm"),
      { type: "item.completed", itemId: "rm", outcome: { status: "declined" } },
      { type: "item.started", item: { kind: "message", id: "after" } },
    ]);
    expect(events.at(-1)).toEqual({ type: "turn.completed", outcome: { status: "succeeded" } });
  });

  it("end the turn as cancelled when the answer is cancel", async () => {
    expect(shape(await playAnswering(COMMAND, { kind: "approval", decision: "cancel" })).slice(1)).toEqual([
      opened, answered("rm"),
      { type: "item.completed", itemId: "rm", outcome: { status: "declined" } },
      { type: "turn.completed", outcome: { status: "cancelled" } },
    ]);
  });

  const edit = { edit: { id: "e", path: "a.txt", before: "1", after: "2" } };
  const approve = { approve: { id: "e", kind: "fileChange" as const } };
  const edits = [{ path: "a.txt", before: "1", after: "2" }];
  it.each([["behind", [edit, approve]], ["in front of", [approve, edit]]])("come between the start and the end of an edit, standing %s it", async (_, steps) => {
    for (const [answer, status] of [[accept, "succeeded"], [decline, "declined"]] as const) {
      expect(shape(await playAnswering(steps, answer))).toEqual([
        { type: "item.started", item: { kind: "fileChange", id: "e", edits } },
        { type: "interaction.opened", interaction: { id: "e", kind: "approval", about: "fileChange", itemId: "e", edits, offers: ["accept", "decline", "cancel"] } },
        answered("e"),
        { type: "item.completed", itemId: "e", outcome: { status } },
        { type: "turn.completed", outcome: { status: "succeeded" } },
      ]);
      await harness?.cleanup();
    }
  });

  it("may concern nothing in particular", async () => {
    const events = shape(await playAnswering([{ approve: { id: "net", kind: "permissions", title: "Network" } }], decline));
    expect(events[0]).toEqual({
      type: "interaction.opened",
      interaction: { id: "net", kind: "approval", about: "permissions", title: "Network", offers: ["accept", "decline", "cancel"] },
    });
  });

  it("can be open side by side and answered in any order", async () => {
    harness = await makeHarness([scenario("test", { steps: [
      { parallel: [
        [{ approve: { id: "a", kind: "tool" } }, { message: "a", id: "after-a" }],
        [{ approve: { id: "b", kind: "tool" } }, { message: "b", id: "after-b" }],
      ] },
    ] })]);
    const { session, listener } = await start(harness.adapter, "test");
    await listener.until("the second request", (event) => event.type === "interaction.opened" && event.interaction.id === "b");
    await session.answer("b", accept);
    await listener.until("the answer's effect", (event) => event.type === "item.started" && event.item.id === "after-b");
    await session.answer("a", accept);
    expect(orderFaults(await listener.turnEnd(0))).toEqual([]);
  });

  it("refuse answers that were not offered, of another kind, or given before", async () => {
    harness = await makeHarness([scenario("test", { steps: [{ approve: { id: "a", kind: "tool", offers: ["accept", "decline"] } }, { delayMs: 1 }] })]);
    const { session, listener } = await start(harness.adapter, "test");
    await expect(session.answer("b", accept)).rejects.toThrow("not open");
    await listener.until("the request", (event) => event.type === "interaction.opened");
    await expect(session.answer("a", { kind: "approval", decision: "acceptForSession" })).rejects.toThrow("it offers accept, decline");
    await expect(session.answer("a", { kind: "question", answers: {} })).rejects.toThrow("of kind approval");
    const twice = [session.answer("a", accept), session.answer("a", accept)];
    await expect(Promise.all(twice)).rejects.toThrow("not open");
    expect(orderFaults(await listener.turnEnd(0))).toEqual([]);
  });

  it("can be made by raw events and answered", async () => {
    const events = shape(await playAnswering([
      { raw: { type: "interaction.opened", interaction: { id: "r", kind: "approval", about: "tool", offers: ["accept"] } } },
      { approve: { id: "hold", kind: "tool" } },
    ], accept, accept));
    expect(events).toContainEqual(answered("r"));
  });
});

describe("elicitations and quick replies", () => {
  const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  it("wait for an answer to a form", async () => {
    expect(shape(await playAnswering([{ elicit: { id: "f", server: "s", message: "m", schema } }], { kind: "elicitation", action: "accept", content: { name: "x" } }))).toEqual([
      { type: "interaction.opened", interaction: { id: "f", kind: "elicitation", server: "s", message: "m", mode: "form", schema: { properties: { name: { type: "string" } }, required: ["name"] } } },
      answered("f"),
      { type: "turn.completed", outcome: { status: "succeeded" } },
    ]);
  });
  it("wait for a page to be opened, and for nobody who might choose a reply", async () => {
    const steps: Steps = [{ suggest: { id: "s", text: "Next?", replies: [{ label: "On" }] } }, { elicit: { id: "u", server: "s", message: "m", url: "https://x.example/" } }];
    expect(shape(await playAnswering([steps[1]!], { kind: "elicitation", action: "cancel" }))[0]).toMatchObject({ interaction: { mode: "url", url: "https://x.example/", elicitationId: "u" } });
    await harness?.cleanup();
    expect(shape(await playAnswering([steps[0]!]))).toEqual([
      { type: "interaction.opened", interaction: { id: "s", kind: "quickReply", text: "Next?", replies: [{ label: "On" }] } },
      { type: "turn.completed", outcome: { status: "succeeded" } },
    ]);
  });
});

describe("questions", () => {
  it("wait for an answer, also an empty one", async () => {
    const questions = [{ id: "q1", question: "Which?", options: [{ label: "a" }, { label: "b" }] }];
    expect(shape(await playAnswering([{ ask: { id: "q", questions } }], { kind: "question", answers: {} }))).toEqual([
      { type: "interaction.opened", interaction: { id: "q", kind: "question", questions } },
      answered("q"),
      { type: "turn.completed", outcome: { status: "succeeded" } },
    ]);
  });
});
