import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import type { ScenarioInput } from "../scenario/schema.ts";
import { bundledChild, makeHarness, options, prompt, scenario, shape, start, type TestHarness } from "../testing.ts";

let harness: TestHarness | null = null;
let childCommand: string[] = [];
beforeAll(async () => {
  childCommand = await bundledChild();
});
afterEach(async () => {
  await harness?.cleanup();
  harness = null;
});

const cancelled = { type: "turn.completed", outcome: { status: "cancelled" } };
const flood: ScenarioInput = scenario("test", { steps: Array.from({ length: 2000 }, (_, index) => ({ message: "x".repeat(50), id: `m${index}`, chunks: 50 })) });

describe.each([["in this process", false], ["in a child process", true]])("cancelling %s", (_, inChild) => {
  const make = async (scenarios: ScenarioInput[], speed = 1): Promise<TestHarness> => {
    harness = await makeHarness(scenarios, { speed, process: inChild, childCommand });
    return harness;
  };

  it("breaks off a delay at once and leaves open what was open", async () => {
    const { adapter } = await make([scenario("test", { steps: [{ tool: { id: "t", name: "shell" } }, { delayMs: 60_000 }, { result: { id: "t" } }] })]);
    const { session, listener } = await start(adapter, "test");
    await listener.until("the tool", (event) => event.type === "item.started");
    await session.cancel();
    expect(shape(await listener.turnEnd(0))).toEqual([{ type: "item.started", item: { kind: "tool", id: "t", name: "shell", input: {} } }, cancelled]);
  });

  it("closes an approval that is open", async () => {
    const { adapter } = await make([scenario("test", { steps: [{ tool: { id: "t", name: "shell" } }, { approve: { id: "t", kind: "tool" } }] })]);
    const { session, listener } = await start(adapter, "test");
    await listener.until("the approval", (event) => event.type === "interaction.opened");
    await session.cancel();
    expect(shape(await listener.turnEnd(0)).slice(2)).toEqual([{ type: "interaction.closed", interactionId: "t", reason: "cancelled" }, cancelled]);
    await expect(session.answer("t", { kind: "approval", decision: "accept" })).rejects.toThrow("not open");
  });

  it("stops a flood of events at speed 0", async () => {
    const { adapter } = await make([flood], 0);
    const { session, listener } = await start(adapter, "test");
    await listener.until("an item", (event) => event.type === "item.started");
    await session.cancel();
    const events = await listener.turnEnd(0);
    expect(orderFaults(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject(cancelled);
    expect(events.length).toBeLessThan(100_000);
  });

  it("stops a flood that nobody reads, and closes it, without growing memory", async () => {
    const { adapter } = await make([flood], 0);
    const session = await adapter.open({ kind: "create", options: options("test") });
    await session.startTurn(prompt("go"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await session.cancel();
    await session.close();
    let unread = 0;
    for await (const event of session.events) unread += event.type === "turn.completed" ? 0 : 1;
    expect(unread).toBeLessThan(5000);
  });

  it("counts also before the turn has begun", async () => {
    const { adapter } = await make([scenario("test", { steps: [{ delayMs: 60_000 }] })]);
    const session = await adapter.open({ kind: "create", options: options("test") });
    const started = session.startTurn(prompt("go"));
    await session.cancel();
    await started;
    const types: string[] = [];
    for await (const event of session.events) {
      types.push(event.type);
      if (event.type === "turn.completed") break;
    }
    expect(types).toEqual(["session.state", "turn.started", "turn.completed"]);
  });

  it("lets the next turn start from within the loop that reads the end of this one", async () => {
    const { adapter } = await make([scenario("test", { steps: [{ message: "hi" }] })], 0);
    const session = await adapter.open({ kind: "create", options: options("test") });
    await session.startTurn(prompt("1"));
    let turns = 0;
    for await (const event of session.events) {
      if (event.type !== "turn.completed") continue;
      turns += 1;
      if (turns === 20) break;
      await session.startTurn(prompt(String(turns)));
    }
    expect(turns).toBe(20);
  });
});

describe("steering", () => {
  it("adds the person's words in the middle of the turn, each time under an id of its own", async () => {
    const { adapter } = harness = await makeHarness([scenario("test", { steps: [{ message: "a", id: "a" }, { approve: { id: "hold", kind: "tool" } }] })]);
    const { session, listener } = await start(adapter, "test");
    await listener.until("the approval", (event) => event.type === "interaction.opened");
    await session.steer(prompt("one", "c1"));
    await session.steer(prompt("two"));
    await session.answer("hold", { kind: "approval", decision: "accept" });
    const events = await listener.turnEnd(0);
    expect(orderFaults(events)).toEqual([]);
    expect(events.flatMap((event) => event.type === "item.started" && event.item.kind === "userMessage" ? [event.item] : [])).toEqual([
      { kind: "userMessage", id: "steer-1", content: prompt("one").input, clientId: "c1" },
      { kind: "userMessage", id: "steer-2", content: prompt("two").input, clientId: null },
    ]);
  });
});

describe("compaction", () => {
  it.each([["in this process", false], ["in a child process", true]])("%s is a turn of its own, which the file has too", async (_, inChild) => {
    const { adapter } = harness = await makeHarness([scenario("test", { steps: [{ message: "a" }] })], { process: inChild, childCommand });
    const { session, listener } = await start(adapter, "test");
    await listener.turnEnd(0);
    await session.compact!();
    const events = await listener.turnEnd(1);
    expect(events[0]).toMatchObject({ type: "turn.started", turnKey: "t2", input: [], clientId: null });
    const id = events[1]?.type === "item.started" ? events[1].item.id : "";
    expect(shape(events)).toEqual([
      { type: "item.started", item: { kind: "compaction", id } }, { type: "item.completed", itemId: id, outcome: { status: "succeeded" } },
      { type: "turn.completed", outcome: { status: "succeeded" } },
    ]);
    const index = await adapter.history!.open(session.file!);
    expect(index.turns.map(({ key, prompt: words }) => [key, words])).toEqual([["t1", "go"], ["t2", ""]]);
  });
});
