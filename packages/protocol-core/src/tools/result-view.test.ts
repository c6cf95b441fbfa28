import { describe, expect, it } from "vitest";
import {
  detailOf, interpretCall, interpretResult, itemDetail, NO_RESULT, toolDetail, type CallResult, type ToolResultView, type ToolRule,
} from "./index.ts";
import { pendingView } from "./result-view.ts";

const SEARCH: ToolRule = { kind: "web_search" };
const FETCH: ToolRule = { kind: "web_fetch" };
const read = (input: unknown, rule: ToolRule) => interpretCall({ name: "web", input, rule, cwd: "/" });
const viewOf = (input: unknown, rule: ToolRule, result: Partial<CallResult>): ToolResultView =>
  interpretResult(read(input, rule), { ...NO_RESULT, outcome: { status: "succeeded" }, ...result }).view;
const search = (structured: unknown): ToolResultView => viewOf({ query: "cats" }, SEARCH, { structured });
const fetched = (structured: unknown): ToolResultView => viewOf({ url: "https://a/b" }, FETCH, { structured });

describe("result views", () => {
  it("shows a search's sources with every member that a source has", () => {
    const sources = [{ url: "https://a", title: "A", snippet: "s", publishedAt: "2026-01-01" }, { url: "https://b" }];
    expect(search({ sources, answer: "Cats.", truncated: true })).toEqual({ card: "web", kind: "search", query: "cats", sources, answer: "Cats.", truncated: true });
  });

  it("reads the grouped results of Claude Code", () => {
    const structured = { query: "cats", results: [{ tool_use_id: "1", content: [{ title: "A", url: "https://a" }] }, "Result: cats."], searchCount: 1 };
    expect(search(structured)).toMatchObject({ sources: [{ url: "https://a", title: "A" }], answer: "Result: cats.", truncated: false });
  });

  it("takes an empty list of sources for a result", () => {
    expect(search({ sources: [] })).toEqual({ card: "web", kind: "search", query: "cats", sources: [], truncated: false });
  });

  it("shows a fetch by address and status, without the body", () => {
    expect(viewOf({ url: "https://a/b" }, FETCH, { structured: { url: "https://a/c", code: 200, truncated: true, result: "long body" }, output: "long body" })).toEqual({
      card: "web", kind: "fetch", url: "https://a/c", statusCode: 200, truncated: true,
    });
  });

  it.each<[string, unknown]>([
    ["no result", null], ["a text", "text"], ["a number", 7], ["no list", { sources: {} }], ["a source that is no object", { sources: [7] }],
    ["a source without address", { sources: [{ title: "A" }] }], ["an empty address", { sources: [{ url: "" }] }], ["an address of another type", { sources: [{ url: 7 }] }],
    ["a title of another type", { sources: [{ url: "https://a", title: 7 }] }], ["a snippet of another type", { sources: [{ url: "https://a", snippet: [] }] }],
    ["a date of another type", { sources: [{ url: "https://a", publishedAt: 1 }] }], ["an answer of another type", { sources: [], answer: {} }],
    ["a mark of another type", { sources: [], truncated: "yes" }], ["a bad source in a group", { results: [{ content: [{ url: null }] }] }],
  ])("is generic for a search with %s", (_, structured) => {
    expect(viewOf({ query: "cats" }, SEARCH, { structured, output: "as told to the model" })).toEqual({
      card: "generic", content: [{ type: "inputText", text: "as told to the model" }],
    });
  });

  it.each<[string, unknown]>([
    ["no result", null], ["a list", []], ["nothing known", {}], ["an address of another type", { url: 7, code: 200 }], ["a status of another type", { url: "https://a", code: "200" }],
    ["a broken status", { url: "https://a", code: 20.5 }], ["a mark of another type", { url: "https://a", truncated: 1 }],
  ])("is generic for a fetch with %s", (_, structured) => {
    expect(fetched(structured)).toEqual({ card: "generic" });
  });

  it("is generic for a failed search, whatever came with it", () => {
    expect(viewOf({ query: "cats" }, SEARCH, { structured: { sources: [] }, outcome: { status: "failed" } })).toEqual({ card: "generic" });
  });

  it("gives a pending call the kind of its result", () => {
    expect(pendingView(read({ query: "cats" }, SEARCH))).toMatchObject({ card: "web", kind: "search", sources: [] });
    expect(pendingView(read({ url: "https://a" }, FETCH))).toMatchObject({ card: "web", kind: "fetch", statusCode: null });
    expect(pendingView(read({ command: "ls" }, { kind: "run_command" }))).toMatchObject({ card: "terminal", command: "ls" });
    expect(pendingView(read({ path: "a", content: "x" }, { kind: "write_file" }))).toEqual({ card: "diff", paths: ["/a"] });
  });

  it.each<[unknown, ToolRule, unknown]>([
    [{ query: "cats" }, SEARCH, { sources: [{ url: "https://a", snippet: "s" }], answer: "Cats.", truncated: true }],
    [{ query: "cats" }, SEARCH, { sources: [] }],
    [{ query: "cats" }, SEARCH, "malformed"],
    [{ url: "https://a/b" }, FETCH, { url: "https://a/c", statusCode: 404 }],
  ])("comes back the same over the wire: %j", (input, rule, structured) => {
    const reading = read(input, rule);
    const outcome = { status: "succeeded" } as const;
    const result = interpretResult(reading, { ...NO_RESULT, outcome, structured, output: "text" });
    const detail = detailOf({ callId: "i", rawName: "web", rawInput: input }, reading, outcome, result);
    if (reading.as.item !== "webSearch") throw new Error("no search");
    const item = { type: "webSearch", id: "i", query: reading.as.query, action: reading.as.action, results: result.sources, startedAtMs: 1, completedAtMs: 2 };
    const wire = JSON.parse(JSON.stringify({ item, detail: itemDetail(detail) })) as { item: never; detail: { view: object } };
    expect(wire.detail.view).not.toHaveProperty("sources");
    expect(toolDetail(wire.item, wire.detail)).toEqual(JSON.parse(JSON.stringify(detail)));
  });
});
