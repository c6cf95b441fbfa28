import { describe, expect, it } from "vitest";
import type { AcpDialect } from "./dialect.ts";
import { call, callsOf, callUpdate, say, textContent, toldTurn } from "./testing/told.ts";

const tool = (events: ReturnType<typeof toldTurn>["events"]) => [...callsOf(events).values()][0];

describe("a tool call", () => {
  it("is shown when its input is there, with the name that the agent gives", () => {
    const { events } = toldTurn([
      call("c", { title: "Run", kind: "execute", name: "shell", status: "pending", rawInput: {} }), callUpdate("c", { status: "in_progress", rawInput: { command: "ls" } }),
      callUpdate("c", { status: "completed", ...textContent("a\nb") }),
    ]);
    expect(events.map((event) => event.type)).toEqual(["turn.started", "item.started", "item.completed", "turn.completed"]);
    expect(tool(events)).toMatchObject({ name: "shell", input: { command: "ls" }, inputs: 0, status: "succeeded", output: "a\nb" });
  });

  it("takes later arguments in the place of the earlier ones", () => {
    const { events } = toldTurn([call("c", { kind: "execute", rawInput: { command: "l" } }), callUpdate("c", { rawInput: { command: "ls" } }), callUpdate("c", { rawInput: { command: "ls -l" } }), callUpdate("c", { rawInput: { command: "ls -l" } })]);
    expect(tool(events)).toMatchObject({ input: { command: "ls -l" }, inputs: 2 });
  });

  it("shows what grows of its output once, and what does not go on only at the end", () => {
    const { events } = toldTurn([
      call("c", { kind: "execute", rawInput: { command: "x" }, status: "in_progress" }), callUpdate("c", textContent("one\n")), callUpdate("c", textContent("one\ntwo\n")), callUpdate("c", textContent("other")),
      callUpdate("c", { status: "completed", ...textContent("the whole") }),
    ]);
    expect(tool(events)).toMatchObject({ streamed: "one\ntwo\n", output: "the whole" });
  });

  it("may begin with what is asked about it, or with its end", () => {
    const asked = toldTurn([{ toolCallId: "c", title: "Edit x", kind: "edit", rawInput: { path: "x" } }, call("c", { status: "pending" }), callUpdate("c", { status: "completed" })]);
    expect([...callsOf(asked.events).values()]).toMatchObject([{ name: "edit", input: { path: "x" }, status: "succeeded" }]);
    const ended = toldTurn([callUpdate("d", { status: "failed", title: "Fetch", kind: "fetch" })]);
    expect([...callsOf(ended.events).values()]).toMatchObject([{ name: "fetch", input: { title: "Fetch" }, status: "failed" }]);
  });

  it("is cancelled where its end never comes, also when nothing was known of it", () => {
    const { events } = toldTurn([call("c", { kind: "read", rawInput: { path: "x" } }), call("d", { title: "Later" }), callUpdate("d", {})]);
    expect([...callsOf(events).values()].map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });

  it("with the id of one that has ended is another one", () => {
    const { events } = toldTurn([call("c", { rawInput: { n: 1 }, status: "completed" }), call("c", { rawInput: { n: 2 }, status: "completed" }), callUpdate("c", { status: "failed" })]);
    expect([...callsOf(events)].map(([id, { input, status }]) => [id, input, status])).toEqual([["c", { n: 1 }, "succeeded"], [expect.not.stringMatching(/^c$/), { n: 2 }, "succeeded"]]);
  });

  it("takes its place before the text that comes behind it", () => {
    const { events } = toldTurn([call("c", { title: "Wait" }), say("Meanwhile."), callUpdate("c", { status: "completed" })]);
    expect(events.flatMap((event) => (event.type === "item.started" ? [event.item.kind] : []))).toEqual(["tool", "message"]);
  });

  it("of changes alone is a change of files", () => {
    const diff = (newText: string) => ({ content: [{ type: "diff", path: "/w/a.ts", oldText: "one", newText }] });
    const { events } = toldTurn([call("c", { kind: "edit", ...diff("two") }), callUpdate("c", diff("three")), callUpdate("c", { status: "completed" })]);
    expect(events.slice(1, 4)).toMatchObject([
      { type: "item.started", item: { kind: "fileChange", edits: [{ path: "/w/a.ts", fragments: [{ old: "one", new: "two" }] }] } },
      { type: "item.updated", update: { type: "edits", edits: [{ fragments: [{ old: "one", new: "three" }] }] } },
      { type: "item.completed", outcome: { status: "succeeded" } },
    ]);
  });

  it("knows new and deleted files by what agents really send", () => {
    const edits = (part: object) => toldTurn([call("c", { status: "completed", content: [{ type: "diff", path: "p", ...part }] })]).events.flatMap((event) => (event.type === "item.started" && event.item.kind === "fileChange" ? event.item.edits : []));
    expect(edits({ oldText: null, newText: "n" })).toEqual([{ path: "p", before: null, after: "n" }]);
    expect(edits({ oldText: "", newText: "n", _meta: { kind: "add" } })).toEqual([{ path: "p", before: null, after: "n" }]);
    expect(edits({ oldText: "o", newText: "", _meta: { kind: "delete" } })).toEqual([{ path: "p", kind: "delete", before: "o", after: null }]);
    expect(edits({ oldText: "", newText: "n" })).toEqual([{ path: "p", after: "n" }]);
    expect(edits({ oldText: "o" })).toEqual([]);
  });

  it("takes output and exit code of this client's terminal", () => {
    const { events } = toldTurn([call("c", { kind: "execute", rawInput: { command: "x" }, content: [{ type: "terminal", terminalId: "t" }] }), callUpdate("c", { status: "completed" })], {}, { t: { output: "said", exitCode: 3 } });
    expect(events.find((event) => event.type === "item.completed")).toMatchObject({ result: { output: "said", exitCode: 3 } });
  });

  it("hands pictures on, but for those that are too large", () => {
    const picture = (data: string) => ({ type: "content", content: { type: "image", mimeType: "image/png", data } });
    const { events } = toldTurn([call("c", { rawInput: { path: "x" } }), callUpdate("c", { status: "completed", content: [picture("AAAA"), picture("A".repeat(1024 * 1024 + 1))] })]);
    expect(events.find((event) => event.type === "item.completed")).toMatchObject({ result: { content: [{ type: "inputImage", imageUrl: "data:image/png;base64,AAAA" }, { type: "inputText", text: expect.stringContaining("too large") }] } });
  });
});

describe("a dialect", () => {
  it("may find name, id and input elsewhere, and correct the end", () => {
    const dialect: AcpDialect = {
      callId: (id) => id.slice(2), toolName: ({ firstTitle }) => firstTitle, toolInput: ({ meta }) => meta["input"],
      result: (_view, { result }) => ({ outcome: { status: "failed", message: "it says so" }, result: { ...result, exitCode: 1 } }),
    };
    const { events } = toldTurn([call("0:c", { title: "Bash" }), callUpdate("0:c", { title: "Running", _meta: { input: { command: "x" } } }), callUpdate("0:c", { status: "completed" })], dialect);
    expect(events.slice(1, 3)).toMatchObject([{ item: { id: "c", name: "Bash", input: { command: "x" } } }, { outcome: { status: "failed", message: "it says so" }, result: { exitCode: 1 } }]);
  });

  it("whose arguments stream as content does not take them for output", () => {
    const { events } = toldTurn([call("c", { title: "B", rawInput: { a: 1 }, status: "in_progress" }), callUpdate("c", { status: "in_progress", ...textContent("{\"a\":") })], { streamsInput: true });
    expect(tool(events)).toMatchObject({ streamed: "" });
  });
});
