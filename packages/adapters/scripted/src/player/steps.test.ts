import { describe, expect, it } from "vitest";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import { makeHarness, options, play, prompt, scenario, shape, start } from "../testing.ts";

const succeeded = { status: "succeeded" };
const end = { type: "turn.completed", outcome: succeeded };

describe("steps", () => {
  it("plays reasoning and messages as started, chunked and completed items", async () => {
    expect(shape(await play([
      { reasoning: "hmm", chunks: 2 },
      { message: "So: 👍", id: "m", phase: "commentary", chunks: 3, outcome: "failed" },
      { message: "" },
    ]))).toEqual([
      { type: "item.started", item: { kind: "reasoning", id: "s1-1" } },
      { type: "item.updated", itemId: "s1-1", update: { type: "text", append: "h" } },
      { type: "item.updated", itemId: "s1-1", update: { type: "text", append: "mm" } },
      { type: "item.completed", itemId: "s1-1", outcome: succeeded },
      { type: "item.started", item: { kind: "message", id: "m", phase: "commentary" } },
      { type: "item.updated", itemId: "m", update: { type: "text", append: "S" } },
      { type: "item.updated", itemId: "m", update: { type: "text", append: "o:" } },
      { type: "item.updated", itemId: "m", update: { type: "text", append: " 👍" } },
      { type: "item.completed", itemId: "m", outcome: { status: "failed" } },
      { type: "item.started", item: { kind: "message", id: "s1-3" } },
      { type: "item.completed", itemId: "s1-3", outcome: succeeded },
      end,
    ]);
  });

  it("plays a tool with its output and result, and leaves one without a result open", async () => {
    expect(shape(await play([
      { tool: { id: "a", name: "Bash", input: { command: "ls" }, map: "elsewhere" } },
      { tool: { name: "open" } },
      { output: "a", text: "x\ny\n", chunks: 2 },
      { result: { id: "a", output: "x\ny\n", status: "failed", message: "no", exitCode: 3, durationMs: 7, structured: { lines: 2 } } },
    ]))).toEqual([
      { type: "item.started", item: { kind: "tool", id: "a", name: "Bash", input: { command: "ls" }, map: "elsewhere" } },
      { type: "item.started", item: { kind: "tool", id: "s1-2", name: "open", input: {} } },
      { type: "item.updated", itemId: "a", update: { type: "output", append: "x\n" } },
      { type: "item.updated", itemId: "a", update: { type: "output", append: "y\n" } },
      {
        type: "item.completed", itemId: "a", outcome: { status: "failed", message: "no" },
        result: { output: "x\ny\n", exitCode: 3, durationMs: 7, structured: { lines: 2 } },
      },
      end,
    ]);
  });

  it("plays edits, plan, usage, compaction and subagents", async () => {
    expect(shape(await play([
      { edit: { id: "e", path: "a", before: "1", after: null } },
      { edit: { id: "f", path: "b", movePath: "c", before: "1", after: "2", status: "declined" } },
      { plan: [{ step: "one", status: "completed" }, { step: "two" }], explanation: "why" },
      { usage: { last: { input: 1, output: 2 }, contextWindow: 9 } },
      { compaction: true },
      { subagent: { id: "s", prompt: "go", durationMs: 5, children: [{ ref: "c", name: "Ada", status: "errored", message: "lost" }] } },
    ]))).toEqual([
      { type: "item.started", item: { kind: "fileChange", id: "e", edits: [{ path: "a", before: "1", after: null }] } },
      { type: "item.completed", itemId: "e", outcome: succeeded },
      { type: "item.started", item: { kind: "fileChange", id: "f", edits: [{ path: "b", movePath: "c", before: "1", after: "2" }] } },
      { type: "item.completed", itemId: "f", outcome: { status: "declined" } },
      { type: "plan.updated", plan: [{ step: "one", status: "completed" }, { step: "two", status: "pending" }], explanation: "why" },
      { type: "usage.updated", usage: { last: { input: 1, output: 2 }, contextWindow: 9 } },
      { type: "item.started", item: { kind: "compaction", id: "s1-5" } },
      { type: "item.completed", itemId: "s1-5", outcome: succeeded },
      { type: "item.started", item: { kind: "agent", id: "s", action: "spawnAgent", prompt: "go", children: [{ ref: "c", name: "Ada", status: "running" }] } },
      { type: "item.completed", itemId: "s", outcome: succeeded, result: { children: [{ ref: "c", name: "Ada", status: "errored", message: "lost" }] } },
      end,
    ]);
  });

  it("passes raw events as they are, and does not add an end to a raw one", async () => {
    const events = await play([
      { raw: { type: "item.updated", itemId: "ghost", update: { type: "text", append: "x" }, at: 5, extra: true } },
      { raw: { type: "turn.completed", outcome: { status: "failed", error: { message: "raw" } } } },
    ]);
    expect(events[1]).toEqual({ type: "item.updated", itemId: "ghost", update: { type: "text", append: "x" }, at: 5, extra: true });
    expect(events.filter((event) => event.type === "turn.completed")).toMatchObject([{ outcome: { error: { message: "raw" } } }]);
    expect(events.at(-1)?.at).toBeTypeOf("number");
  });

  it("ends the stream with a raw fault", async () => {
    const harness = await makeHarness([scenario("test", { steps: [{ raw: { type: "fault", error: { message: "raw" } } }, { message: "never" }] })]);
    const { session, listener } = await start(harness.adapter, "test");
    await listener.untilEnded();
    expect(listener.events.at(-1)).toMatchObject({ type: "fault", error: { message: "raw" } });
    await expect(session.startTurn(prompt("more"))).rejects.toThrow("failed");
    await harness.cleanup();
  });

  it.each([
    [{ end: "failed", error: "broken" }, { status: "failed", error: { message: "broken" } }],
    [{ end: "failed", error: { message: "m", code: "usageLimitExceeded", details: "d" } }, { status: "failed", error: { message: "m", code: "usageLimitExceeded", details: "d" } }],
    [{ end: "failed" }, { status: "failed", error: { message: "The scenario lets this turn fail." } }],
    [{ end: "cancelled" }, { status: "cancelled" }],
  ] as const)("ends a turn as %j says", async (rest, outcome) => {
    expect(shape(await play([], rest))).toEqual([{ type: "turn.completed", outcome }]);
  });

  it("interleaves parallel branches step by step, nested ones too, each in its own order", async () => {
    const events = await play([
      { parallel: [
        [{ message: "a1", id: "a1" }, { message: "a2", id: "a2" }, { message: "a3", id: "a3" }],
        [{ parallel: [[{ message: "b1", id: "b1" }], [{ message: "c1", id: "c1" }, { message: "c2", id: "c2" }]] }, { message: "b2", id: "b2" }],
        [],
      ] },
      { message: "last", id: "last" },
    ]);
    expect(orderFaults(events)).toEqual([]);
    const order = events.flatMap((event) => event.type === "item.started" ? [event.item.id] : []);
    expect(order).toEqual(["a1", "b1", "c1", "a2", "c2", "a3", "b2", "last"]);
  });

  it.each([0, 20])("orders delayed branches by scenario time at speed %d", async (speed) => {
    const events = await play([
      { parallel: [
        [{ delayMs: 300 }, { message: "late", id: "late" }],
        [{ delayMs: 100 }, { message: "early", id: "early" }, { delayMs: 100 }, { message: "middle", id: "middle" }],
        [{ message: "now", id: "now" }, { delayMs: 400 }, { message: "last", id: "last" }],
      ] },
    ], {}, { speed });
    const order = events.flatMap((event) => event.type === "item.started" ? [event.item.id] : []);
    expect(order).toEqual(["now", "early", "middle", "late", "last"]);
  });

  it("keeps delays at its speed", async () => {
    const steps = [{ delayMs: 400 }, { message: "abc", chunks: 3, chunkDelayMs: 100 }];
    const slept = await Promise.all([1, 4, 0].map(async (speed) => {
      const asked: number[] = [];
      const harness = await makeHarness([scenario("test", { steps })], { speed }, { sleep: async (ms) => void asked.push(ms) });
      await (await start(harness.adapter, "test")).listener.turnEnd(0);
      await harness.cleanup();
      return asked;
    }));
    expect(slept).toEqual([[400, 100, 100], [100, 25, 25], []]);
  });

  it("chooses the first turn whose match is in the prompt, else the first turn", async () => {
    const turn = (text: string, match?: string) => ({ ...(match === undefined ? {} : { match }), steps: [{ message: text }] });
    const harness = await makeHarness([scenario("test", turn("first", "nobody says this"), turn("second", "two"), turn("third", "tw"))]);
    const said = async (text: string): Promise<string> => {
      const { session, listener } = await start(harness.adapter, "test", text);
      const events = await listener.turnEnd(0);
      await session.close();
      return events.flatMap((event) => event.type === "item.updated" && event.update.type === "text" ? [event.update.append] : []).join("");
    };
    expect(await said("part two")).toBe("second");
    expect(await said("a twig")).toBe("third");
    expect(await said("else")).toBe("first");
    await harness.cleanup();
  });

  it("reports the input with pictures, the client's id and the model", async () => {
    const harness = await makeHarness();
    const session = await harness.adapter.open({ kind: "create", options: options("plain") });
    const input = [...prompt("look").input, { type: "image" as const, url: "data:image/png;base64,AAAA" }, { type: "localImage" as const, path: "/a.png" }];
    await session.startTurn({ input, clientId: "c1" });
    for await (const event of session.events) {
      if (event.type !== "turn.started") continue;
      expect(event).toEqual({ type: "turn.started", turnKey: "t1", at: event.at, input, clientId: "c1", model: "plain" });
      break;
    }
    await harness.cleanup();
  });
});
