import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import { history } from "./source.ts";
import { begin, calls, copy, ended, eventsOf, finish, itemsOf, type Line, prompt, result, says, shown, text, thinks, turnsOf, write } from "./testing.ts";

const answer = (step: string, words: string): Line[] => [begin(step), says(step, words), finish(step, "end_turn")];
const turn = (words: string, said: string): Line[] => [prompt(words), copy(words), ...answer(`s-${words}`, said), ended("completed")];
const promptsOf = async (lines: readonly Line[]): Promise<string[]> => (await history.open(write(text(lines)))).turns.map((each) => each.prompt);

describe("turns of kimi-code", () => {
  it("are not ended by steps that call tools, and show their parts in order", async () => {
    const [events, ...others] = await turnsOf([
      prompt("go"), copy("go"), begin("1"), thinks("1", "hm"), says("1", "Looking."), calls("1", "a", "Bash", { command: "ls" }), calls("1", "b", "Read", { path: "/x" }),
      result("b", "1\tx", { durationMs: 3 }), result("a", "no\nCommand failed with exit code: 2.", { isError: true }), finish("1", "tool_use"),
      ...answer("2", "Done."), ended("completed", { durationMs: 900 }),
    ]);
    expect(others).toEqual([]);
    expect(orderFaults(events!)).toEqual([]);
    expect(shown(events!)).toEqual([
      "reasoning hm -> succeeded", "message Looking. -> succeeded", "tool Bash {\"command\":\"ls\"} -> failed \"no\\nCommand failed with exit code: 2.\"",
      "tool Read {\"path\":\"/x\"} -> succeeded \"1\\tx\"", "message Done. -> succeeded", "succeeded",
    ]);
    expect(events!.find((event) => event.type === "item.completed" && event.itemId === "a")).toMatchObject({ result: { exitCode: 2 } });
    expect(events!.at(-1)).toMatchObject({ durationMs: 900 });
  });

  it("before protocol 1.5 go on until the next prompt, and end as their last step says", async () => {
    const index = await history.open(write(text([
      { type: "metadata", protocol_version: "1.4" }, ...[prompt("one"), copy("one"), ...answer("1", "first")], { type: "context.append_message", message: { role: "assistant", content: [{ type: "text", text: "first" }], toolCalls: [] } },
      prompt("two"), copy("two"), begin("2"), says("2", "half"), { type: "turn.cancel" },
      copy("three"), begin("3"), finish("3", "error"), { type: "turn.step.interrupted", reason: "error", message: "[provider.api_error] 400 bad" },
      prompt("four"), copy("four"), begin("4"), says("4", "killed"),
    ])));
    expect(index.turns.map((each) => [each.key, each.prompt, each.outcome.status])).toEqual([
      ["turn#1", "one", "succeeded"], ["turn#2", "two", "cancelled"], ["turn#3", "three", "failed"], ["turn#4", "four", "unknown"],
    ]);
    const [first, , third] = await eventsOf(index);
    expect(shown(first!)).toEqual(["message first -> succeeded", "succeeded"]);
    expect(third!.at(-1)).toMatchObject({ outcome: { error: { message: "400 bad", details: "provider.api_error" } } });
  });

  it("keep their keys while the file grows, and are the same read alone", async () => {
    const lines = [...turn("one", "1"), ...turn("two", "2")].map((line, at) => (line["type"] === "turn.prompt" ? { ...line, promptId: `msg_${at}` } : line));
    const file = write(text(lines.slice(0, -2)));
    const index = await history.open(file);
    const before = index.turns.map((each) => each.key);
    expect(await index.refresh()).toBe(false);
    writeFileSync(file, text(lines));
    expect(await index.refresh()).toBe(true);
    expect(index.turns.map((each) => [each.key, each.outcome.status])).toEqual([[before[0], "succeeded"], [before[1], "succeeded"]]);
    const alone: unknown[] = [];
    for await (const { events } of index.read(1, 2)) alone.push(events);
    expect(alone[0]).toEqual((await eventsOf(await history.open(file)))[1]);
  });

  it("are shown once where lines stand there twice, and what nobody knows behind an answer is shown, too", async () => {
    const lines = [...turn("one", "1"), prompt("two"), copy("two"), ...answer("s", "2"), { type: "weather.changed", to: "rain" }, ended("completed")];
    const once = await history.open(write(text(lines)));
    const timedLines = text(lines).trimEnd().split("\n");
    for (const twice of [timedLines.flatMap((line) => [line, line]), [...timedLines, ...timedLines]]) {
      const index = await history.open(write(`${twice.join("\n")}\n`));
      expect(await eventsOf(index)).toEqual(await eventsOf(once));
      expect(index.diagnostics).toContainEqual({ code: "line.repeated", count: lines.length, sample: expect.stringContaining("turn.prompt") });
    }
    const strange = itemsOf((await eventsOf(once))[1]!).find((item) => item.kind === "tool");
    expect(strange).toMatchObject({ name: "weather.changed", unknown: true });
    const outside = await history.open(write(text([{ type: "weather.changed" }, ...turn("one", "1"), { type: "weather.changed", again: true }])));
    expect((await eventsOf(outside)).map(shown)).toEqual([["message 1 -> succeeded", "succeeded"]]);
    expect(outside.diagnostics).toMatchObject([{ code: "record.unknownType", count: 2 }]);
  });

  it("taken back by an undo are gone, with what the agent did by itself after them", async () => {
    const notice = (id: string): Line[] => [
      { type: "turn.prompt", input: [{ type: "text", text: `<notification id="${id}" type="task.completed">\nTitle: done\n</notification>` }], origin: { kind: "task", status: "completed" } },
      ...answer(id, "Noticed."), ended("completed"),
    ];
    const lines = [...turn("one", "1"), ...turn("two", "2"), ...notice("n"), { type: "context.undo", count: 1 }, ...turn("three", "3")];
    expect(await promptsOf(lines)).toEqual(["one", "three"]);
    expect(await promptsOf([...lines, { type: "context.undo", count: 2 }])).toEqual([]);
    const index = await history.open(write(text(lines)));
    expect(index.diagnostics).toEqual([{ code: "turn.takenBack", count: 2, sample: null }]);
    // Nothing before a compaction or a clear can be taken back.
    expect(await promptsOf([...turn("one", "1"), { type: "context.clear" }, { type: "context.undo", count: 3 }])).toEqual(["one"]);
  });

  it("show a compaction where it happened: alone between turns, as an item within one", async () => {
    const compaction: Line[] = [{ type: "full_compaction.begin", source: "manual" }, { type: "context.apply_compaction", summary: "long text" }, { type: "full_compaction.complete" }];
    const turns = await turnsOf([...turn("one", "1"), ...compaction, prompt("two"), copy("two"), begin("a"), calls("a", "c", "Read", {}), result("c", ""), finish("a", "tool_use"), ...compaction, ...answer("b", "2"), ended("completed")]);
    expect(turns.map(shown)).toEqual([
      ["message 1 -> succeeded", "succeeded"], ["compaction -> succeeded", "succeeded"],
      ["tool Read {} -> succeeded \"\"", "compaction -> succeeded", "message 2 -> succeeded", "succeeded"],
    ]);
    expect(turns.every((events) => orderFaults(events).length === 0)).toBe(true);
  });

  it("show news that set the agent to work, steering, and slash commands as they were typed", async () => {
    const turns = await turnsOf([
      { type: "turn.prompt", input: [{ type: "text", text: "<notification id=\"task:a\" type=\"task.failed\" source_id=\"a\">\nTitle: Build &amp; test\n</notification>" }], origin: { kind: "task", taskId: "a", status: "failed" }, turnId: 4 },
      copy("ignored", { origin: { kind: "task" } }), ...answer("1", "Seen."), ended("completed"),
      { type: "turn.prompt", input: [{ type: "text", text: "a long rendered prompt" }], origin: { kind: "skill_activation", trigger: "user-slash", skillName: "review", skillArgs: "src" } },
      copy("a long rendered prompt", { origin: { kind: "skill_activation", trigger: "user-slash", skillName: "review" } }), begin("2"), says("2", "On it."),
      { type: "turn.steer", input: [{ type: "text", text: "only tests" }], origin: { kind: "user" } }, copy("only tests"), finish("2", "tool_use"), ...answer("3", "Done."), ended("completed"),
    ]);
    expect(turns[0]![0]).toMatchObject({ turnKey: "turn-4", input: [], origin: "agent" });
    expect(shown(turns[0]!)).toEqual(["tool notification {\"id\":\"task:a\",\"type\":\"task.failed\",\"source_id\":\"a\"} -> failed \"Title: Build & test\"", "message Seen. -> succeeded", "succeeded"]);
    expect(turns[1]![0]).toMatchObject({ input: [{ text: "/review src" }], origin: "user" });
    expect(shown(turns[1]!)).toEqual(["message On it. -> succeeded", "userMessage [{\"type\":\"text\",\"text\":\"only tests\",\"text_elements\":[]}]", "message Done. -> succeeded", "succeeded"]);
  });

  it("keep commands of the person's own shell, and hide what the harness put in for the model", async () => {
    const turns = await turnsOf([
      ...turn("one", "1"),
      { type: "context.append_message", message: { role: "user", content: [{ type: "text", text: "<system-reminder>\nhidden\n</system-reminder>" }], origin: { kind: "injection", variant: "date_change" } } },
      { type: "context.append_message", message: { role: "user", content: [{ type: "text", text: "<bash-input>ls</bash-input>" }], origin: { kind: "shell_command", phase: "input" } } },
      { type: "context.append_message", message: { role: "user", content: [{ type: "text", text: "<bash-stdout>a</bash-stdout>" }], origin: { kind: "shell_command", phase: "output" } } },
      { type: "usage.record", usage: { inputOther: 1, output: 1 } }, { type: "some.new.record" },
    ]);
    expect(turns.map(shown)).toEqual([["message 1 -> succeeded", "succeeded"], ["command -> succeeded \"a\"", "succeeded"]]);
  });
});

describe("what an approval leaves in a session", () => {
  const ask = (id: string, call: string): Line => ({ type: "interaction.request", id, kind: "approval", toolCallId: call, request: { toolName: "Bash", action: "Running: touch x", display: { kind: "command", command: "touch x", cwd: "/w" } } });

  it("is a declined call where it was refused", async () => {
    const [events] = await turnsOf([
      prompt("go"), copy("go"), begin("1"), ask("q", "a"), { type: "interaction.resolved", id: "q", response: { decision: "rejected" } }, calls("1", "a", "Bash", { command: "touch x", description: "d" }),
      result("a", "Tool \"Bash\" was not run because the user rejected the approval request.", { isError: true }), finish("1", "tool_use"), ...answer("2", "Fine."), ended("completed"),
    ]);
    expect(orderFaults(events!)).toEqual([]);
    expect(events!.filter((event) => event.type.startsWith("interaction"))).toMatchObject([{ interaction: { itemId: "a", command: "touch x" } }, { reason: "answered" }]);
    expect(shown(events!)[0]).toBe("tool Bash {\"command\":\"touch x\",\"description\":\"d\"} -> declined \"Tool \\\"Bash\\\" was not run because the user rejected the approval request.\"");
  });

  it("is a cancelled call where the turn was stopped before its answer, with what was said before", async () => {
    const [events] = await turnsOf([
      prompt("go"), copy("go"), begin("1"), says("1", "Part"), ask("q", "a"), { type: "turn.cancel", turnId: 0, target: "active" }, finish("1", "interrupted"), { type: "turn.step.interrupted", reason: "aborted" },
      { type: "agent.message.appended", kind: "event", message: { meta: { source: "salvaged" }, message: { role: "assistant", content: [{ type: "think", think: "Lost thought" }, { type: "text", text: "Part" }], toolCalls: [{ id: "a", name: "Bash", arguments: "{\"command\":\"touch x\",\"description\":\"all\"}" }] } } },
      ended("cancelled"), { type: "interaction.resolved", id: "q", response: { cancelled: true, reason: "turn_ended" } },
    ]);
    expect(orderFaults(events!)).toEqual([]);
    expect(shown(events!)).toEqual(["reasoning Lost thought -> succeeded", "message Part -> succeeded", "tool Bash {\"command\":\"touch x\",\"description\":\"all\"} -> cancelled", "cancelled"]);
  });
});

describe("edits of kimi-code", () => {
  const edit = (id: string, old: string, replacement: string): Line[] => [calls("1", id, "Edit", { path: "/w/a.txt", old_string: old, new_string: replacement }), result(id, "Replaced 1 occurrence in /w/a.txt")];

  async function editsOf(lines: readonly Line[], copies: Readonly<Record<string, string>>): Promise<unknown[]> {
    const file = write(text([prompt("go"), copy("go"), begin("1"), ...lines, finish("1", "tool_use"), ended("completed")]));
    mkdirSync(join(dirname(file), "file-history"));
    for (const [name, content] of Object.entries(copies)) writeFileSync(join(dirname(file), "file-history", name), content);
    const [events] = await eventsOf(await history.open(file));
    return events!.flatMap((event) => (event.type === "item.completed" ? [event.result?.edits] : []));
  }

  it("have whole texts from the copy that was kept, carried on from edit to edit", async () => {
    const tracked = { type: "file_history.tracked", path: "/w/a.txt", entry: { key: "file-history/abc@v1", version: 1 } };
    expect(await editsOf([tracked, ...edit("a", "one", "two"), ...edit("b", "two", "three")], { "abc@v1": "x one\n" })).toEqual([
      [{ path: "/w/a.txt", before: "x one\n", after: "x two\n" }], [{ path: "/w/a.txt", before: "x two\n", after: "x three\n" }],
    ]);
    // A command may have changed the file.
    const command = [calls("1", "c", "Bash", { command: "sed -i s/x/y/ a.txt" }), result("c", "")];
    expect(await editsOf([tracked, ...command, ...edit("a", "one", "two")], { "abc@v1": "x one\n" })).toEqual([undefined, undefined]);
    expect(await editsOf([tracked, ...edit("a", "one", "two")], {})).toEqual([undefined]);
  });

  it("tell a new file from one that was overwritten", async () => {
    const written = [calls("1", "a", "Write", { path: "/w/a.txt", content: "new\n" }), result("a", "Wrote 4 bytes to /w/a.txt")];
    const tracked = (key: string | null): Line => ({ type: "file_history.tracked", path: "/w/a.txt", entry: { key, version: 1 } });
    expect(await editsOf([tracked(null), ...written], {})).toEqual([[{ path: "/w/a.txt", before: null, after: "new\n" }]]);
    expect(await editsOf([tracked("file-history/abc@v1"), ...written], { "abc@v1": "old\n" })).toEqual([[{ path: "/w/a.txt", before: "old\n", after: "new\n" }]]);
    expect(await editsOf([tracked("file-history/../../secret"), ...written], {})).toEqual([undefined]);
    // A file that is too large to be copied is there all the same.
    const large: Line = { type: "file_history.tracked", path: "/w/a.txt", entry: { key: null, version: 1, oversize: true, size: 9_000_000 } };
    expect(await editsOf([large, ...written], {})).toEqual([undefined]);
  });
});

describe("sub-agents of kimi-code", () => {
  it("are children of their call, in the background too, and know their session by their place", async () => {
    const spawned = (id: string, call: string, background: boolean): Line => ({ type: "subagent.spawned", subagentId: id, subagentName: "coder", parentToolCallId: call, parentAgentId: "main", description: "Look", runInBackground: background });
    const [events] = await turnsOf([
      { type: "runtime.set_binding", runtimeId: "acp:session_1" }, prompt("go"), copy("go"), begin("1"), calls("1", "a", "Agent", { prompt: "x" }), calls("1", "b", "Agent", { prompt: "x" }), calls("1", "c", "Agent", { prompt: "y" }),
      spawned("agent-0", "a", false), spawned("agent-1", "c", true), { type: "subagent.completed", subagentId: "agent-0", resultSummary: "Found it." },
      result("a", "agent_id: agent-0\nstatus: completed\n\n[summary]\nFound it."), result("b", "agent_id: agent-0\nstatus: completed\n\n[summary]\nFound it."), result("c", "task_id: t\nstatus: running\nagent_id: agent-1"),
      finish("1", "tool_use"), ended("completed"),
    ]);
    expect(orderFaults(events!)).toEqual([]);
    expect(events!.flatMap((event) => (event.type === "item.completed" ? [event.result?.children] : []))).toMatchObject([
      [{ ref: "session_1/agent-0", status: "completed", message: "Found it." }], [{ ref: "session_1/agent-0", status: "completed" }], [{ ref: "session_1/agent-1", role: "coder", status: "running" }],
    ]);
    const child = write(text([{ ...prompt("x"), origin: { kind: "system_trigger", name: "subagent" } }, ...answer("1", "Found it."), ended("completed")]), "home/sessions/wd_w_1/session_1/agents/agent-0/wire.jsonl");
    write(JSON.stringify({ cwd: "/w", agents: { "agent-0": { parentAgentId: "main" } }, title: "Mine", isCustomTitle: true, forkedFrom: "session_0" }), "home/sessions/wd_w_1/session_1/state.json");
    const main = write(text(turn("one", "1")), "home/sessions/wd_w_1/session_1/agents/main/wire.jsonl");
    expect(await history.open(child)).toMatchObject({ nativeSessionId: "session_1/agent-0", parentNativeSessionId: "session_1", cwd: "/w", title: null });
    expect(await history.open(main)).toMatchObject({ nativeSessionId: "session_1", parentNativeSessionId: "session_0", cwd: "/w", title: "Mine" });
    expect(await history.peek!(child)).toMatchObject({ kind: "child", prompt: "x" });
  });
});

it("shows pictures that stand in files of their own", async () => {
  const file = write(text([{ ...prompt("see"), input: [{ type: "text", text: "see" }, { type: "image_url", imageUrl: { url: "blobref:image/png;abc123" } }, { type: "image_url", imageUrl: { url: "blobref:image/png;fade" } }] }, ended("completed")]));
  mkdirSync(join(dirname(file), "blobs"));
  writeFileSync(join(dirname(file), "blobs", "abc123"), "QUJD");
  const [events] = await eventsOf(await history.open(file));
  expect(events![0]).toMatchObject({ input: [{ text: "see" }, { type: "image", url: "data:image/png;base64,QUJD" }, { text: "[image, not kept in the session file]" }] });
});
