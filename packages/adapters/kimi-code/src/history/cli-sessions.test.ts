import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import { history } from "./source.ts";
import { shown, text, turnsOf, wire, write } from "./testing.ts";

const begins = (user_input: unknown): Record<string, unknown> => wire("TurnBegin", { user_input });
const says = (words: string): Record<string, unknown> => wire("ContentPart", { type: "text", text: words });
const call = (id: string, name: string, args: string): Record<string, unknown> => wire("ToolCall", { type: "function", id, function: { name, arguments: args } });
const part = (arguments_part: string): Record<string, unknown> => wire("ToolCallPart", { arguments_part });
const result = (tool_call_id: string, return_value: Record<string, unknown>): Record<string, unknown> => wire("ToolResult", { tool_call_id, return_value: { is_error: false, output: "", message: "", display: [], ...return_value } });

describe("sessions of kimi-cli", () => {
  it("join arguments that came in parts, past what sub-agents did meanwhile", async () => {
    const [events] = await turnsOf([
      begins("go"), wire("StepBegin", { n: 1 }), call("a", "Agent", "{\"prompt\": \"one\"}"), call("b", "Shell", "{\"comm"),
      wire("SubagentEvent", { parent_tool_call_id: "a", agent_id: "ac1", subagent_type: "coder", event: { type: "TurnBegin", payload: { user_input: "one" } } }),
      part("and\": \"ls\""), part("}"), wire("SubagentEvent", { parent_tool_call_id: "a", agent_id: "ac1", event: { type: "ContentPart", payload: { type: "text", text: "inner" } } }),
      result("b", { output: "x\n" }), result("a", { output: "agent_id: ac1\nstatus: completed\n\n[summary]\nAll well." }), wire("StepBegin", { n: 2 }), says("Done."), wire("TurnEnd"),
    ]);
    expect(orderFaults(events!)).toEqual([]);
    expect(shown(events!)).toEqual([
      "tool Agent {\"prompt\":\"one\"} -> succeeded \"agent_id: ac1\\nstatus: completed\\n\\n[summary]\\nAll well.\"", "tool Shell {\"command\":\"ls\"} -> succeeded \"x\\n\"", "message Done. -> succeeded", "succeeded",
    ]);
    const agent = events!.find((event) => event.type === "item.completed" && event.itemId === "a");
    expect(agent).toMatchObject({ result: { children: [{ role: "coder", status: "completed", message: "All well." }] } });
  });

  it("of wire 1.5 and before tell what a sub-agent said only in its parent's file", async () => {
    const inner = (words: string): Record<string, unknown> => wire("SubagentEvent", { task_tool_call_id: "a", event: { type: "ContentPart", payload: { type: "text", text: words } } });
    const [events] = await turnsOf([begins([{ type: "text", text: "go" }]), wire("StepBegin", { n: 1 }), call("a", "Task", "{\"prompt\":\"one\"}"), inner("First I look."), inner("The report."), result("a", { output: "The report." })]);
    const done = events!.find((event) => event.type === "item.completed");
    expect(done).toMatchObject({ result: { children: [{ status: "completed", message: "First I look.\n\nThe report." }] } });
  });

  it("end a turn by its end, by a stop, or by the next one", async () => {
    const index = await history.open(write(text([begins("one"), says("1"), wire("TurnEnd"), begins("two"), says("2"), wire("StepInterrupted"), begins("three"), says("3"), begins("four"), says("4")])));
    expect(index.turns.map((turn) => [turn.key, turn.prompt, turn.outcome.status])).toEqual([["turn#1", "one", "succeeded"], ["turn#2", "two", "cancelled"], ["turn#3", "three", "unknown"], ["turn#4", "four", "unknown"]]);
    expect(index.turns[0]).toMatchObject({ startedAt: 1_700_000_000_000, completedAt: 1_700_000_002_000 });
  });

  it("show approvals, questions, plans, notes and everything unknown, and count tokens", async () => {
    const [events] = await turnsOf([
      begins("go"), wire("StepBegin", { n: 1 }), call("a", "Shell", "{\"command\":\"rm x\"}"),
      wire("ApprovalRequest", { id: "q", tool_call_id: "a", sender: "Shell", action: "run command", description: "Run command `rm x`", display: [{ type: "shell", command: "rm x" }] }),
      wire("StatusUpdate", { max_context_tokens: 1000, token_usage: { input_other: 10, output: 5, input_cache_read: 20, input_cache_creation: 1 } }),
      wire("ApprovalRequestResolved", { request_id: "q", response: "reject" }), result("a", { is_error: true, message: "The tool call is rejected by the user." }),
      wire("SteerInput", { user_input: "wait" }), wire("CompactionBegin"), wire("CompactionEnd"), wire("PlanDisplay", { content: "# Plan", file_path: "/p" }),
      wire("Notification", { id: "n", category: "task", type: "task.completed", title: "Done", body: "Task is done", severity: "info" }), wire("HookTriggered", { event: "Stop" }), wire("BrandNew", { x: 1 }), says("Ok."), wire("TurnEnd"),
    ]);
    expect(orderFaults(events!)).toEqual([]);
    expect(shown(events!)).toEqual([
      "tool Shell {\"command\":\"rm x\"} -> declined \"The tool call is rejected by the user.\"", "userMessage [{\"type\":\"text\",\"text\":\"wait\",\"text_elements\":[]}]", "compaction -> succeeded", "plan # Plan -> succeeded",
      "tool notification {\"id\":\"n\",\"category\":\"task\",\"type\":\"task.completed\",\"title\":\"Done\",\"severity\":\"info\"} -> succeeded \"Task is done\"", "tool BrandNew {\"type\":\"BrandNew\",\"payload\":{\"x\":1}} -> succeeded", "message Ok. -> succeeded", "succeeded",
    ]);
    expect(events!.find((event) => event.type === "usage.updated")).toMatchObject({ usage: { last: { input: 31, cachedInput: 20, cacheWrite: 1, output: 5 }, contextWindow: 1000 } });
  });

  it("show edits by the pieces that a result shows", async () => {
    const [events] = await turnsOf([begins("go"), call("a", "StrReplaceFile", "{\"path\":\"a\",\"edit\":{\"old\":\"x\",\"new\":\"y\"}}"), result("a", { display: [{ type: "diff", path: "/w/a", old_text: "x", new_text: "y" }] })]);
    expect(events!.find((event) => event.type === "item.completed")).toMatchObject({ result: { edits: [{ path: "/w/a", fragments: [{ old: "x", new: "y" }] }] } });
  });

  it("know their folder by its hash, their name, and their sub-agents' files", async () => {
    const hash = createHash("md5").update("/home/me/project").digest("hex");
    const id = "11111111-2222-4333-8444-555555555555";
    write(JSON.stringify({ work_dirs: [{ path: "/elsewhere" }, { path: "/home/me/project" }] }), "kimi/kimi.json");
    write(JSON.stringify({ custom_title: "A name" }), `kimi/sessions/${hash}/${id}/state.json`);
    const file = write(text([begins("hello")]), `kimi/sessions/${hash}/${id}/wire.jsonl`);
    const agent = write(text([begins("task")]), `kimi/sessions/${hash}/${id}/subagents/ac1/wire.jsonl`);
    const context = write("{\"role\":\"_checkpoint\",\"id\":0}\n{\"role\":\"user\",\"content\":\"hello\"}\n", `kimi/sessions/${hash}/${id}/context.jsonl`);
    expect(await history.open(file)).toMatchObject({ nativeSessionId: id, cwd: "/home/me/project", title: "A name" });
    expect(await history.peek!(agent)).toMatchObject({ nativeSessionId: `${id}/ac1`, parentNativeSessionId: id, kind: "child" });
    // The wire file beside it says the same and more.
    expect(history.recognises(context, "{\"role\":\"_checkpoint\",\"id\":0}\n")).toBe(false);
    expect(await history.peek!(context)).toBeNull();
  });

  it("from before wire files are read from the model's context", async () => {
    const lines = [
      { role: "_system_prompt", content: "…" }, { role: "_checkpoint", id: 0 }, { role: "user", content: "go" }, { role: "user", content: "<system-reminder>\nhidden\n</system-reminder>" }, { role: "_usage", token_count: 5 },
      { role: "assistant", content: [{ type: "think", think: "hm" }], tool_calls: [{ type: "function", id: "a", function: { name: "Shell", arguments: "{\"command\":\"ls\"}" } }] },
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "<system>Command executed successfully.</system>" }, { type: "text", text: "x" }] },
      { role: "assistant", content: "Done." }, { role: "user", content: "<system>Previous context has been compacted. Here is the compaction output:</system>\nlong" }, { role: "user", content: "more" },
    ];
    const file = write(lines.map((line) => JSON.stringify(line)).join("\n"), "old/context.jsonl");
    expect(history.recognises(file, "{\"role\": \"_system_prompt\", \"content\": \"…")).toBe(true);
    const index = await history.open(file);
    const turns: string[][] = [];
    for await (const { events } of index.read(0, 9)) turns.push(shown(events));
    expect(turns).toEqual([["reasoning hm -> succeeded", "tool Shell {\"command\":\"ls\"} -> succeeded \"x\"", "message Done. -> succeeded", "compaction -> succeeded", "unknown"], ["unknown"]]);
    expect(index.turns.map((turn) => turn.prompt)).toEqual(["go", "more"]);
  });
});

it("knows where its programs keep their sessions", () => {
  expect(history.roots!({ env: {}, home: "/home/me", dataDir: "/d" })).toEqual([{ folder: "/home/me/.kimi-code/sessions", depth: 4 }, { folder: "/home/me/.kimi/sessions", depth: 4 }]);
  expect(history.roots!({ env: { KIMI_CODE_HOME: "/k" }, home: "/home/me", dataDir: "/d" })[0]).toEqual({ folder: "/k/sessions", depth: 4 });
});
