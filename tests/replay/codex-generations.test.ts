import { describe, expect, test } from "vitest";
import {
  aborted, answered, answeredEvent, asked, askedEvent, calls, completed, context, done, event, gives, type HandLine, id7, item, kinds, messages, meta, numbered,
  replayLines, started, time,
} from "./codex-support.ts";

const INJECTED = [
  "<environment_context>\n  <cwd>/old</cwd>\n</environment_context>", "<user_instructions>\nBe brief.\n</user_instructions>", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
];

describe("rollouts of 2025, one bare item a line", () => {
  const HEAD: HandLine = { id: "5d0f2c0e-0000-4000-8000-000000000001", timestamp: "2025-08-18T01:16:13.522Z", instructions: null, git: { branch: "main" } };
  const bare = (line: HandLine): HandLine => line["payload"] as HandLine;
  const state: HandLine = { record_type: "state" };

  test("turns begin with prompts, injected texts are hidden, the last message before the next prompt is the answer", async () => {
    const { turns, items, session, diagnostics } = await replayLines([
      HEAD, state, ...INJECTED.map(asked).map(bare), state, bare(asked("first")), state,
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Thinking." }], encrypted_content: "gAAA" },
      bare(answered("Let me look.")), bare(calls("c1", "shell", { command: ["bash", "-lc", "ls"], workdir: "/old" })),
      bare(gives("c1", JSON.stringify({ output: "a\n", metadata: { exit_code: 0, duration_seconds: 0.2 } }))), state,
      bare(answered("There is a.")), state, bare(asked("second")), bare(answered("Yes.")),
    ]);
    expect(session).toMatchObject({ nativeId: HEAD["id"], cwd: "/old" });
    expect(turns.map(({ prompt, outcome, status }) => [prompt, outcome, status])).toEqual([["first", "unknown", "completed"], ["second", "unknown", "completed"]]);
    expect(kinds(items)).toEqual(["userMessage", "reasoning", "message -", "commandExecution", "message final_answer", "userMessage", "message final_answer"]);
    expect(items[3]).toMatchObject({ command: "ls", cwd: "/old", aggregatedOutput: "a\n", exitCode: 0, durationMs: 200, commandActions: [{ type: "listFiles" }] });
    expect(turns[0]!.fold).toMatchObject({ folds: true, divider: { kind: "previousMessages" } });
    expect(diagnostics).toEqual([]);
  });

  test("CRLF and a missing final newline do not matter", async () => {
    const { writeSession } = await import("./support.ts");
    const { replayCodex } = await import("./codex-support.ts");
    const text = [HEAD, state, bare(asked("first")), bare(answered("Yes."))].map((line) => JSON.stringify(line)).join("\r\n");
    expect(messages((await replayCodex(writeSession(text))).items)).toEqual(["Yes."]);
  });

  test("the same prompt twice is two turns", async () => {
    const { turns } = await replayLines([HEAD, bare(asked("continue")), bare(answered("Done.")), bare(asked("continue")), bare(answered("Done."))]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["continue", "continue"]);
  });

  test("a last turn that waits for the agent was interrupted", async () => {
    const { turns } = await replayLines([HEAD, bare(asked("first")), bare(answered("Yes.")), bare(asked("second")), bare(calls("c1", "shell", { command: ["ls"] }))]);
    expect(turns.map(({ status }) => status)).toEqual(["completed", "interrupted"]);
  });
});

describe("rollouts with an envelope, each visible text twice", () => {
  const turn = (name: string, lines: readonly HandLine[]): HandLine[] => [started(name), ...INJECTED.map(asked), context({ turn_id: name }), ...lines, completed(name, { started_at: 1_770_000_000, completed_at: 1_770_000_009, duration_ms: 9100 })];

  test.each([
    ["events first", [askedEvent("go"), asked("go"), answeredEvent("Looking."), answered("Looking."), answeredEvent("Done."), answered("Done.")]],
    ["items first", [asked("go"), askedEvent("go"), answered("Looking."), answeredEvent("Looking."), answered("Done."), answeredEvent("Done.")]],
    ["events alone", [askedEvent("go"), answeredEvent("Looking."), answeredEvent("Done.")]],
    ["items alone", [asked("go"), answered("Looking."), answered("Done.")]],
    ["copies far apart", [asked("go"), askedEvent("go"), answeredEvent("Looking."), answeredEvent("Done."), answered("Looking."), answered("Done.")]],
  ])("%s: each text once", async (_, lines) => {
    for (const explicit of [true, false]) {
      const { turns, items } = await replayLines([meta(), ...(explicit ? turn("t1", lines) : lines)]);
      expect(turns.map(({ prompt }) => prompt)).toEqual(["go"]);
      expect(kinds(items)).toEqual(["userMessage", "message -", "message final_answer"]);
      expect(messages(items)).toEqual(["Looking.", "Done."]);
    }
  });

  test("the same text said twice stays twice", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", [askedEvent("go"), answeredEvent("ok"), answered("ok"), answeredEvent("ok"), answered("ok")])]);
    expect(messages(items)).toEqual(["ok", "ok"]);
  });

  test("a phase on either copy counts, and a strange one does not", async () => {
    const { items, diagnostics } = await replayLines([meta(), ...turn("t1", [
      askedEvent("go"), answeredEvent("One."), answered("One.", "commentary"), answeredEvent("Two.", "commentary"), answered("Two."),
      answeredEvent("Three.", null), answered("Three.", "final"), answeredEvent("Four.", "final_answer"), answered("Four."),
    ])]);
    expect(kinds(items)).toEqual(["userMessage", "message commentary", "message commentary", "message -", "message final_answer"]);
    expect(diagnostics.map(({ code, sample }) => [code, sample])).toEqual([["phase.unknown", "\"final\""]]);
  });

  test("marks for Codex itself inside of a message are not shown, and do not make it another one", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", [askedEvent("go"), answeredEvent("Done."), answered("Done.<oai-mem-citation>[1]</oai-mem-citation>")])]);
    expect(messages(items)).toEqual(["Done."]);
  });

  test("times and outcome are those of the turn's own records", async () => {
    const { turns } = await replayLines([meta(), ...turn("t1", [askedEvent("go"), answeredEvent("Done.")])]);
    expect(turns[0]).toMatchObject({ outcome: "succeeded", startedAt: 1_770_000_000, durationMs: 9100 });
  });

  test("thoughts are shown once, in parts that were told one by one; encrypted ones are not", async () => {
    const thought = item("reasoning", { summary: [{ type: "summary_text", text: "A" }, { type: "summary_text", text: "B" }], encrypted_content: "x" });
    const { items } = await replayLines([meta(), ...turn("t1", [
      askedEvent("go"), event("agent_reasoning", { text: "A" }), event("agent_reasoning", { text: "B" }), thought, item("reasoning", { summary: [], encrypted_content: "y" }), answeredEvent("Done."),
    ])]);
    expect(kinds(items)).toEqual(["userMessage", "reasoning", "message final_answer"]);
    expect(items[1]).toMatchObject({ summary: ["A\n\nB"] });
  });

  test("an end without a turn id ends the turn that runs; one without a start is passed over", async () => {
    const { turns } = await replayLines([meta(), askedEvent("go"), answeredEvent("Half."), aborted(null), completed("never"), askedEvent("again"), answeredEvent("Done.")]);
    expect(turns.map(({ prompt, status }) => [prompt, status])).toEqual([["go", "interrupted"], ["again", "completed"]]);
  });

  test("a prompt that came while the turn ran is a message in it", async () => {
    const { turns, items } = await replayLines([meta(), ...turn("t1", [askedEvent("go"), asked("go"), answeredEvent("First.", "final_answer"), askedEvent("and more"), asked("and more"), answeredEvent("Second.", "final_answer")])]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["go"]);
    expect(kinds(items)).toEqual(["userMessage", "message final_answer", "userMessage", "message final_answer"]);
  });

  test("what the person did not send is no prompt in a turn whose prompt is told", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", [askedEvent("go"), asked("go"), asked("A note that some tool put here"), answeredEvent("Done.")])]);
    expect(items.filter(({ type }) => type === "userMessage")).toHaveLength(1);
  });
});

describe("rollouts with ordinals and completed items", () => {
  const T = id7(1);
  const said = (id: string, text: string, phase?: string): HandLine[] => [
    done(T, { type: "AgentMessage", id, content: [{ type: "Text", text }], ...(phase === undefined ? {} : { phase }) }),
    item("message", { id, role: "assistant", content: [{ type: "output_text", text }], ...(phase === undefined ? {} : { phase }) }),
  ];
  const prompt = (text: string): HandLine[] => [asked(text), done(T, { type: "UserMessage", id: "u1", client_id: "c-1", content: [{ type: "text", text, text_elements: [] }] }, { started_at_ms: 5, completed_at_ms: 6 })];

  test("items are shown once, with their own ids and times", async () => {
    const { items, turns } = await replayLines(numbered([
      meta({ history_mode: "paginated" }), started(T), ...prompt("go"),
      done(T, { type: "Reasoning", id: "rs_1", summary_text: ["A", "B"], raw_content: [] }), item("reasoning", { id: "rs_1", summary: [{ type: "summary_text", text: "A" }, { type: "summary_text", text: "B" }] }),
      ...said("m1", "Looking.", "commentary"), calls("c1", "exec_command", { cmd: "cat a.js" }),
      done(T, { type: "CommandExecution", id: "c1", process_id: "7", command: ["/bin/bash", "-lc", "cat a.js"], cwd: "file:///w%20x", source: "unified_exec_startup", status: "completed", aggregated_output: "1\n", exit_code: 0, duration: { secs: 1, nanos: 5_000_000 } }, { started_at_ms: 10, completed_at_ms: 1020 }),
      gives("c1", "Chunk ID: 1\nWall time: 1.0 seconds\nProcess exited with code 0\nOutput:\n1\n"), ...said("m2", "Done.", "final_answer"), completed(T),
    ]));
    expect(turns[0]).toMatchObject({ prompt: "go", outcome: "succeeded" });
    expect(kinds(items)).toEqual(["userMessage", "reasoning", "message commentary", "commandExecution", "message final_answer"]);
    expect(items[0]).toMatchObject({ clientId: "c-1" });
    expect(items[3]).toMatchObject({ command: "/bin/bash -lc 'cat a.js'", cwd: "/w x", processId: "7", source: "unifiedExecStartup", aggregatedOutput: "1\n", durationMs: 1005, startedAtMs: 10, commandActions: [{ type: "read", path: "/w x/a.js" }] });
  });

  test("items written in camelCase are read too", async () => {
    const { items } = await replayLines(numbered([
      meta(), started(T), ...prompt("go"),
      done(T, { type: "CommandExecution", id: "c1", processId: "7", command: ["bash", "-lc", "ls"], cwd: "/w", status: "failed", aggregatedOutput: "no", exitCode: 2 }), completed(T),
    ]));
    expect(items[1]).toMatchObject({ processId: "7", aggregatedOutput: "no", exitCode: 2, status: "failed" });
  });

  test("gaps in the ordinals and numbers that come twice change nothing but a count", async () => {
    const lines = numbered([meta(), started(T), ...prompt("go"), ...said("m1", "Done.", "final_answer"), completed(T)]);
    const wanted = await replayLines(lines);
    const odd = lines.map((line, at) => ({ ...line, ordinal: at === 3 ? 99 : at === 5 ? 0 : line["ordinal"] }));
    const got = await replayLines(odd);
    const withoutIds = (items: readonly object[]): object[] => items.map((each) => ({ ...each, id: null }));
    expect(withoutIds(got.items)).toEqual(withoutIds(wanted.items));
    expect(got.diagnostics).toMatchObject([{ code: "ordinal.unexpected" }]);
  });

  test("a line that stands there twice is read once", async () => {
    const lines = numbered([meta(), started(T), ...prompt("go"), ...said("m1", "Done.", "final_answer"), completed(T)]);
    const { items, turns, diagnostics } = await replayLines(lines.flatMap((line) => [line, line]));
    expect(turns).toHaveLength(1);
    expect(kinds(items)).toEqual(["userMessage", "message final_answer"]);
    expect(diagnostics.map(({ code }) => code)).toContain("line.repeated");
  });

  test("of an item that was completed twice the last word counts", async () => {
    const ran = (output: string): HandLine => done(T, { type: "CommandExecution", id: "exec-1", command: ["bash", "-lc", "ls"], cwd: "/w", status: "completed", aggregated_output: output, exit_code: 0 });
    const { items } = await replayLines(numbered([
      meta(), started(T), ...prompt("go"), prompt("go")[1]!, ran("a"), ran("a\nb"), ...said("m1", "Half an ans"), ...said("m1", "Half an answer.", "final_answer"), completed(T),
    ]));
    expect(kinds(items)).toEqual(["userMessage", "commandExecution", "message final_answer"]);
    expect(items[1]).toMatchObject({ aggregatedOutput: "a\nb" });
    expect(messages(items)).toEqual(["Half an answer."]);
  });

  test("a command that outlives its turn is shown in that turn, before what came after its start", async () => {
    const late = done(T, { type: "CommandExecution", id: "exec-1", command: ["bash", "-lc", "sleep 9"], cwd: "/w", status: "completed", exit_code: 0 }, { started_at_ms: 20, completed_at_ms: 99 });
    const { turns } = await replayLines(numbered([
      meta(), started(T), ...prompt("go"), item("custom_tool_call", { call_id: "c1", name: "exec", input: "await tools.exec_command({cmd:\"sleep 9\"})" }),
      item("custom_tool_call_output", { call_id: "c1", output: "Script running with cell ID g1:1\nWall time 1.0 seconds\nOutput:\n" }), ...said("m1", "Started.", "final_answer"), completed(T),
      started(id7(50)), done(id7(50), { type: "UserMessage", id: "u2", content: [{ type: "text", text: "next" }] }), completed(id7(50)), late,
    ]));
    expect(turns.map(({ prompt }) => prompt)).toEqual(["go", "next"]);
    expect(kinds(turns[0]!.threadItems!)).toEqual(["userMessage", "commandExecution", "message final_answer"]);
    expect(kinds(turns[1]!.threadItems!)).toEqual(["userMessage"]);
  });

  test("a turn without any input is one of the person's all the same", async () => {
    const { turns, items } = await replayLines(numbered([meta(), started(T), ...said("m1", "Hello.", "final_answer"), completed(T)]));
    expect(turns).toHaveLength(1);
    expect(kinds(items)).toEqual(["message final_answer"]);
  });

  test("lines of a turn whose start is missing are not those of another", async () => {
    const { turns } = await replayLines(numbered([
      meta(), started(id7(1)), done(id7(1), { type: "UserMessage", id: "u1", content: [{ type: "text", text: "one" }] }),
      done(id7(9), { type: "UserMessage", id: "u2", content: [{ type: "text", text: "two" }] }), done(id7(9), { type: "AgentMessage", id: "m", content: [{ type: "Text", text: "Two." }] }), completed(id7(9)),
    ]));
    expect(turns.map(({ prompt, status }) => [prompt, status])).toEqual([["one", "completed"], ["two", "completed"]]);
  });
});

test("the last turn without an end was interrupted, no other one was", async () => {
  const turn = (id: string): HandLine[] => [started(id), askedEvent(id), answeredEvent(`answer to ${id}`, "final_answer")];
  const { turns } = await replayLines([meta(), ...turn("t1"), ...turn("t2"), completed("t2"), ...turn("t3"), ...turn("t4")]);
  expect(turns.map(({ outcome, status }) => [outcome, status])).toEqual([["unknown", "completed"], ["succeeded", "completed"], ["unknown", "completed"], ["cancelled", "interrupted"]]);
});

test("a name that was given is not asked of the first prompt", async () => {
  const { history } = await import("@foldcast/adapter-codex");
  const { handRollout } = await import("./codex-support.ts");
  const index = await history.open(handRollout([meta(), started("t1"), askedEvent("go"), event("thread_name_updated", { thread_name: "A  name" }), completed("t1")]));
  expect(index).toMatchObject({ title: "A name", cwd: "/w", nativeSessionId: id7(0), parentNativeSessionId: null });
  expect(index.turns[0]).toMatchObject({ prompt: "go", startedAt: Date.parse(time(1)) });
});
