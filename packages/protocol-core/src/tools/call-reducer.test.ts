import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolCallReducer, type ToolCallEvent, type ToolMap } from "./index.ts";

const TOOLS: ToolMap = { Bash: { kind: "run_command" }, TaskOutput: { kind: "wait" }, Read: { kind: "read_file" } };
const reduce = (events: readonly ToolCallEvent[]): ToolCallReducer => {
  const reducer = new ToolCallReducer(TOOLS, "/w");
  for (const event of events) reducer.apply(event);
  return reducer;
};
const bash = (callId: string, command = "npm test"): ToolCallEvent => ({ type: "call", callId, name: "Bash", input: { command } });
const end = (callId: string, exitCode = 0): ToolCallEvent => ({ type: "end", callId, outcome: { status: "succeeded" }, result: { exitCode } });

describe("ToolCallReducer", () => {
  it("merges a call and its end in either order", () => {
    const expected = { callId: "1", rawName: "Bash", rawInput: { command: "npm test" }, state: "failed", evidence: { exitCode: 2 } };
    expect(reduce([bash("1"), end("1", 2)]).detail("1")).toMatchObject(expected);
    expect(reduce([end("1", 2), bash("1")]).detail("1")).toMatchObject(expected);
  });

  it("never shows a call that was not made", () => {
    const reducer = reduce([end("1")]);
    expect(reducer.detail("1")).toBeNull();
    expect(reducer.details()).toEqual([]);
  });

  it("counts the first of two ends", () => {
    expect(reduce([bash("1"), end("1", 1), end("1", 0)]).detail("1")?.evidence.exitCode).toBe(1);
  });

  it("keeps a call without an end running until the turn ends", () => {
    const reducer = reduce([bash("1"), bash("2"), end("2")]);
    expect(reducer.details().map(({ state }) => state)).toEqual(["running", "succeeded"]);
    reducer.close({ status: "cancelled" });
    expect(reducer.details().map(({ state }) => state)).toEqual(["cancelled", "succeeded"]);
  });

  it("takes the last input of a call whose input was still growing", () => {
    expect(reduce([{ type: "call", callId: "1", name: "Bash", input: {} }, end("1"), bash("1")]).detail("1")).toMatchObject({
      state: "succeeded", facts: { command: "npm test" },
    });
  });

  it("joins a wait to the command that it waits for", () => {
    const started: ToolCallEvent = { type: "end", callId: "1", outcome: { status: "succeeded" }, result: { structured: { backgroundTaskId: "b1" } } };
    const wait: ToolCallEvent = { type: "call", callId: "2", name: "TaskOutput", input: { task_id: "b1" } };
    expect(reduce([bash("1"), started, wait]).detail("2")).toMatchObject({ kind: "wait", parentId: "1", facts: { command: "npm test" } });
    expect(reduce([wait]).detail("2")).toMatchObject({ parentId: null, facts: { label: "b1" } });
  });

  it("drops old ends that no call claims, and keeps what it was given otherwise", () => {
    const orphans = Array.from({ length: 300 }, (_, index) => end(`o${index}`));
    expect(reduce([...orphans, bash("o299"), bash("o0")]).details().map(({ state }) => state)).toEqual(["succeeded", "running"]);
  });

  it("comes to the same details in whatever order calls and ends arrive", () => {
    const made = fc.uniqueArray(fc.constantFrom("1", "2", "3", "4", "5"), { minLength: 1 });
    fc.assert(
      fc.property(made, fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), fc.integer(), (ids, ended, seed) => {
        const events = ids.flatMap((id, index) => [
          index % 2 === 0 ? bash(id, `npm run ${id}`) : ({ type: "call", callId: id, name: "TaskOutput", input: { task_id: `bg${ids[0]!}` } } as const),
          ...(ended[index] === true
            ? [{ type: "end", callId: id, outcome: { status: "succeeded" }, result: { structured: { task_id: `bg${id}` }, exitCode: index } } as const]
            : []),
        ]);
        const shuffled = [...events].sort((a, b) => order(a, seed) - order(b, seed));
        const byId = (reducer: ToolCallReducer) => ids.map((id) => reducer.detail(id));
        expect(byId(reduce(shuffled))).toEqual(byId(reduce(events)));
      }),
    );
  });
});

function order(event: ToolCallEvent, seed: number): number {
  return Math.imul(seed ^ (event.callId.charCodeAt(0) * (event.type === "call" ? 7 : 13)), 2_654_435_761) | 0;
}
