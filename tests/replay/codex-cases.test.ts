import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { history } from "@foldcast/adapter-codex";
import {
  aborted, answered, answeredEvent, asked, askedEvent, calls, completed, context, done, event, gives, type HandLine, handRollout, id7, item, kinds, messages, meta, numbered,
  program, programGives, replayCodex, replayLines, started, time,
} from "./codex-support.ts";

/** How Codex writes the first agent in the paths of its agents. */
const ROOT_AGENT = "/root";

const turn = (name: string, prompt: string, ...lines: HandLine[]): HandLine[] => [started(name), context({ turn_id: name }), asked(prompt), askedEvent(prompt), ...lines, completed(name)];
const ran = (text: string): unknown => [{ type: "input_text", text: "Script completed\nWall time 0.1 seconds\nOutput:\n" }, ...(text === "" ? [] : [{ type: "input_text", text }])];

describe("forks, copies and children", () => {
  const PARENT = id7(0, 1);
  const parentTurns = (at: (n: number) => string): HandLine[] => [
    { timestamp: at(0), ...started(id7(2)) }, { timestamp: at(1), ...askedEvent("one") }, { timestamp: at(2), ...answeredEvent("1") }, { timestamp: at(3), ...completed(id7(2)) },
    { timestamp: at(4), ...started(id7(10)) }, { timestamp: at(5), ...askedEvent("two") }, { timestamp: at(6), ...answeredEvent("2") }, { timestamp: at(7), ...completed(id7(10)) },
  ];

  test("a fork that copied its parent's history has it once, and is the fork's own session", async () => {
    const CHILD = id7(20, 2);
    const { session, turns, items } = await replayLines([
      { timestamp: time(20), ...meta({ id: CHILD, forked_from_id: PARENT, timestamp: time(20) }) }, { timestamp: time(20), ...meta({ id: PARENT }) },
      ...parentTurns(() => time(20)), { timestamp: time(30), ...started(id7(30)) }, { timestamp: time(31), ...askedEvent("three") }, { timestamp: time(32), ...answeredEvent("3") }, { timestamp: time(33), ...completed(id7(30)) },
    ]);
    expect(session).toMatchObject({ nativeId: CHILD });
    expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "two", "three"]);
    expect(messages(items)).toEqual(["1", "2", "3"]);
  });

  test("a file that holds a session and a fork's copy of it shows each turn once", async () => {
    const { turns, diagnostics } = await replayLines([
      meta({ id: PARENT }), ...parentTurns(time), meta({ id: id7(20, 2), forked_from_id: PARENT }), meta({ id: PARENT }), ...parentTurns((n) => time(40 + n)),
      { timestamp: time(60), ...started(id7(60)) }, { timestamp: time(61), ...askedEvent("three") }, { timestamp: time(62), ...completed(id7(60)) },
    ]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "two", "three"]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["line.copy"]);
  });

  test.each([
    ["with the old times", (n: number) => time(n)],
    ["with new times", () => time(20)],
  ])("a sub-agent shows its own turns only: its parent's history was copied %s", async (_, at) => {
    const CHILD = id7(20, 3);
    const file = await replayLines([
      { timestamp: time(20), ...meta({ id: CHILD, session_id: PARENT, timestamp: time(20), source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1, agent_nickname: "Hypatia" } } }, thread_source: "subagent" }) },
      { timestamp: time(20), ...meta({ id: PARENT }) }, ...parentTurns(at), { timestamp: at(8), ...started(id7(15)) }, { timestamp: at(9), ...calls("s1", "spawn_agent", { message: "look" }) },
      { timestamp: time(20), ...gives("s1", "You are the newly spawned agent.") },
      { timestamp: time(21), ...started(id7(21)) }, { timestamp: time(21), ...askedEvent("look") }, { timestamp: time(22), ...answeredEvent("Nothing there.") }, { timestamp: time(23), ...completed(id7(21)) },
    ]);
    expect(file.session).toMatchObject({ nativeId: CHILD });
    expect(file.turns.map(({ prompt, status }) => [prompt, status])).toEqual([["look", "completed"]]);
    expect(file.diagnostics.map(({ code }) => code)).toEqual(["line.ofParent"]);
    const index = await history.open(file.session!.file);
    expect(index).toMatchObject({ title: "Hypatia", parentNativeSessionId: PARENT });
    expect(await history.peek!(file.session!.file)).toMatchObject({ kind: "child", nativeSessionId: CHILD, parentNativeSessionId: PARENT, title: "Hypatia", prompt: "look" });
  });

  test("a sub-agent's first line says where its own turns begin", async () => {
    const { turns } = await replayLines(numbered([
      meta({ id: id7(20, 3), parent_thread_id: PARENT, subagent_history_start_ordinal: 4 }), meta({ id: PARENT }), started("no time in it"), askedEvent("parent's"), started("own"), askedEvent("own"), completed("own"),
    ]));
    expect(turns.map(({ prompt }) => prompt)).toEqual(["own"]);
  });

  test("a sub-agent without a copied history keeps all its turns", async () => {
    const { turns } = await replayLines([meta({ id: id7(0, 3), source: { subagent: { thread_spawn: { parent_thread_id: PARENT } } } }), ...turn(id7(2), "look", answeredEvent("No."))]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["look"]);
  });

  test("a sub-agent's items say whose they are", async () => {
    const CHILD = id7(20, 3);
    const { turns } = await replayLines(numbered([
      meta({ id: CHILD, parent_thread_id: PARENT, timestamp: time(20) }), event("item_completed", { thread_id: PARENT, turn_id: id7(2), item: { type: "UserMessage", id: "u0", content: [{ type: "text", text: "parent's" }] } }),
      started(id7(21)), event("item_completed", { thread_id: CHILD, turn_id: id7(21), item: { type: "UserMessage", id: "u1", content: [{ type: "text", text: "own" }] } }), completed(id7(21)),
    ], 20));
    expect(turns.map(({ prompt }) => prompt)).toEqual(["own"]);
  });

  /** A Codex home with a parent in one folder and a fork by reference in another. */
  function codexHome(forkLines: readonly HandLine[], where = "sessions/2026/02/03"): { fork: string; parent: string } {
    const home = mkdtempSync(join(tmpdir(), "foldcast-codex-"));
    const write = (folder: string, name: string, lines: readonly HandLine[]): string => {
      mkdirSync(join(home, folder), { recursive: true });
      writeFileSync(join(home, folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      return join(home, folder, name);
    };
    const one = (n: number, prompt: string): HandLine[] => [
      started(id7(n)), done(id7(n), { type: "UserMessage", id: `u${n}`, content: [{ type: "text", text: prompt }] }), done(id7(n), { type: "AgentMessage", id: `m${n}`, content: [{ type: "Text", text: `${prompt}!` }], phase: "final_answer" }), completed(id7(n)),
    ];
    const parent = write(where, `rollout-2026-02-02T02-40-00-${PARENT}.jsonl`, numbered([meta({ id: PARENT, history_mode: "paginated" }), ...one(2, "one"), ...one(5, "two"), ...one(9, "three")]));
    const fork = write("archived_sessions", `rollout-2026-02-02T02-50-00-${id7(20, 2)}.jsonl`, numbered([meta({ id: id7(20, 2), forked_from_id: PARENT, forked_from_ordinal_exclusive: 9, history_mode: "paginated" }), ...forkLines], 9));
    return { fork, parent };
  }
  const own = [started(id7(30)), done(id7(30), { type: "UserMessage", id: "u30", content: [{ type: "text", text: "other" }] }), done(id7(30), { type: "AgentMessage", id: "m30", content: [{ type: "Text", text: "Other." }] }), completed(id7(30))];

  test("a fork by reference has its parent's turns before the fork, and its own", async () => {
    const { session, turns, items, diagnostics } = await replayCodex(codexHome(own).fork);
    expect(session).toMatchObject({ nativeId: id7(20, 2) });
    expect(turns.map(({ prompt, status }) => [prompt, status])).toEqual([["one", "completed"], ["two", "completed"], ["other", "completed"]]);
    expect(messages(items)).toEqual(["one!", "two!", "Other."]);
    expect(diagnostics).toEqual([]);
  });

  test("any of its turns is read alone, over the border", async () => {
    const index = await history.open(codexHome(own).fork);
    const read = async (from: number, to: number): Promise<[number, string | undefined][]> => {
      const found: [number, string | undefined][] = [];
      for await (const { index: at, events } of index.read(from, to)) found.push([at, events[0]?.type === "turn.started" ? events[0].turnKey : undefined]);
      return found;
    };
    expect(index.turns.map(({ key }) => key)).toEqual([id7(2), id7(5), id7(30)]);
    expect(await read(1, 3)).toEqual([[1, id7(5)], [2, id7(30)]]);
    expect(await read(2, 9)).toEqual([[2, id7(30)]]);
    expect(await read(0, 1)).toEqual([[0, id7(2)]]);
  });

  test("a look at a rollout finds a first prompt whose image is longer than what is looked at as a rule", async () => {
    const image = { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(3_000_000)}` };
    const prompt = item("message", { role: "user", content: [image, { type: "input_text", text: "what is this?" }] });
    const file = handRollout([meta(), started("t"), prompt, answered("a cat"), completed("t")]);
    expect(await history.peek!(file)).toMatchObject({ prompt: "what is this?", nativeSessionId: id7(0) });
  });

  test("after turns of it were reverted a session goes on in a new file, which is the one that counts", async () => {
    const home = mkdtempSync(join(tmpdir(), "foldcast-codex-"));
    const folder = join(home, "sessions/2026/02/03");
    mkdirSync(folder, { recursive: true });
    const name = (part: string | null): string => join(folder, `rollout-2026-02-02T02-40-00-${PARENT}${part === null ? "" : `_${part}`}.jsonl`);
    const one = (n: number, prompt: string): HandLine[] => [started(id7(n)), done(id7(n), { type: "UserMessage", id: `u${n}`, content: [{ type: "text", text: prompt }] }), completed(id7(n))];
    const write = (file: string, lines: readonly HandLine[], from: number): void => writeFileSync(file, numbered(lines, from).map((line) => `${JSON.stringify(line)}\n`).join(""));
    const base = (id: string, before: number): HandLine => ({ history_base: { thread_id: id, end_ordinal_exclusive: before, end_byte_offset: 1 } });
    write(name(null), [meta({ id: PARENT }), ...one(2, "one"), ...one(5, "two"), ...one(9, "three")], 0);
    write(name(id7(20)), [meta({ id: PARENT, ...base(PARENT, 7) }), ...one(22, "other three"), ...one(25, "four")], 7);
    write(name(id7(30)), [meta({ id: PARENT, ...base(id7(20), 11) }), ...one(32, "other four")], 11);
    const prompts = async (file: string): Promise<string[]> => (await replayCodex(file)).turns.map(({ prompt }) => prompt);
    expect(await prompts(name(id7(30)))).toEqual(["one", "two", "other three", "other four"]);
    expect(await prompts(name(id7(20)))).toEqual(["one", "two", "other three", "four"]);
    const files = [name(id7(30)), name(null), name(id7(20))];
    const found = await Promise.all(files.map(async (file) => ({ file, peek: (await history.peek!(file))! })));
    expect(found.map(({ peek }) => [peek.nativeSessionId, peek.prompt])).toEqual(files.map(() => [PARENT, "one"]));
    expect(await history.copies!(found)).toEqual(new Set([name(null), name(id7(20))]));
  });

  test("the name that a person gave stands beside the rollouts, and the last one counts", async () => {
    const { fork } = codexHome(own);
    const home = join(fork, "../..");
    writeFileSync(join(home, "session_index.jsonl"), [["Old name"], ["New  name"]].map(([name]) => `${JSON.stringify({ id: id7(20, 2), thread_name: name })}\n`).join("") + "{\n");
    expect(await history.open(fork)).toMatchObject({ title: "New name" });
    expect(await history.peek!(fork)).toMatchObject({ title: "New name", prompt: "one", kind: "session", parentNativeSessionId: PARENT });
  });

  test("what it takes back may be its parent's", async () => {
    const { turns } = await replayCodex(codexHome([event("thread_rolled_back", { num_turns: 1 }), ...own]).fork);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "other"]);
  });

  test("without its parent it has its own turns", async () => {
    const { writeSession } = await import("./support.ts");
    const alone = writeSession(numbered([meta({ id: id7(20, 2), forked_from_id: id7(0, 9), forked_from_ordinal_exclusive: 9 }), ...own], 9).map((line) => JSON.stringify(line)).join("\n"));
    const { turns, diagnostics } = await replayCodex(alone);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["other"]);
    expect(diagnostics).toMatchObject([{ code: "fork.parentMissing", sample: id7(0, 9) }]);
  });

  test("forks of each other end", async () => {
    const folder = mkdtempSync(join(tmpdir(), "foldcast-codex-"));
    const write = (id: string, from: string): string => {
      const file = join(folder, `rollout-2026-02-02T02-40-00-${id}.jsonl`);
      writeFileSync(file, numbered([meta({ id, forked_from_id: from, forked_from_ordinal_exclusive: 50 }), ...turn(`t${id}`, "go")]).map((line) => JSON.stringify(line)).join("\n"));
      return file;
    };
    const [a, b] = [id7(1, 1), id7(2, 2)];
    write(b, a);
    const { turns, errors } = await replayCodex(write(a, b));
    expect(errors).toEqual([]);
    expect(turns).toHaveLength(2);
  });
});

describe("turns that were taken back", () => {
  test.each([[1, ["one", "four"]], [2, ["four"]], [9, ["four"]]])("%i of them are not shown", async (count, left) => {
    const { turns, items } = await replayLines([meta(), ...turn("t1", "one", answeredEvent("1")), ...turn("t2", "two", answeredEvent("2")), event("thread_rolled_back", { num_turns: count }), ...turn("t4", "four", answeredEvent("4"))]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(left);
    expect(messages(items)).toEqual(left.map((prompt) => (prompt === "one" ? "1" : "4")));
  });

  test("so in sessions whose turns have no names", async () => {
    const { turns } = await replayLines([meta(), askedEvent("one"), answeredEvent("1"), askedEvent("two"), answeredEvent("2"), event("thread_rolled_back", { num_turns: 1 }), askedEvent("three"), answeredEvent("3")]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "three"]);
  });
});

test("an interrupt is no failure and no message of the person's", async () => {
  const { turns, items } = await replayLines([
    meta(), started("t1"), askedEvent("go"), asked("<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>"),
    item("message", { role: "developer", content: [{ type: "input_text", text: "<turn_aborted>x</turn_aborted>" }] }), aborted("t1"),
  ]);
  expect(turns.map(({ status, outcome }) => [status, outcome])).toEqual([["interrupted", "cancelled"]]);
  expect(kinds(items)).toEqual(["userMessage"]);
});

test("a turn that was said to be interrupted and then completed is completed", async () => {
  const { turns } = await replayLines([meta(), started("t1"), askedEvent("go"), aborted("t1"), answeredEvent("Done.", "final_answer"), completed("t1")]);
  expect(turns.map(({ status }) => status)).toEqual(["completed"]);
});

describe("compaction", () => {
  test("keeps the turns before it and makes one mark; the replacement is not shown", async () => {
    const { turns, items } = await replayLines([
      meta(), ...turn("t1", "one", answeredEvent("1")),
      started("t2"), { type: "compacted", payload: { message: "sum", replacement_history: [{ type: "message", role: "user", content: [{ type: "input_text", text: "one" }] }] } }, event("context_compacted"), completed("t2"),
      ...turn("t3", "two", { type: "compacted", payload: { message: "" } }, event("context_compacted"), { type: "compacted", payload: { message: "" } }, event("context_compacted"), answeredEvent("2")),
    ]);
    expect(turns.map(({ prompt }) => prompt)).toEqual(["one", "", "two"]);
    expect(kinds(items)).toEqual(["userMessage", "message final_answer", "contextCompaction", "userMessage", "contextCompaction", "contextCompaction", "message final_answer"]);
  });

  test("the summary that it made is no message", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "one", answeredEvent("Looking."), answered("Looking."), answered("A summary."), { type: "compacted", payload: { message: "Use this:\nA summary." } }, event("context_compacted"), answeredEvent("Done."), answered("Done."))]);
    expect(kinds(items)).toEqual(["userMessage", "message -", "contextCompaction", "message final_answer"]);
  });

  test("between turns without names it is one of its own, so that the answer before it stays the answer", async () => {
    const { turns } = await replayLines([meta(), askedEvent("one"), answeredEvent("1"), { type: "compacted", payload: { message: "sum" } }, event("context_compacted"), askedEvent("two"), answeredEvent("2")]);
    expect(turns.map(({ threadItems }) => kinds(threadItems!))).toEqual([["userMessage", "message final_answer"], ["contextCompaction"], ["userMessage", "message final_answer"]]);
  });
});

describe("programs of code mode", () => {
  const T = id7(1);
  const nested = (id: string, command: string, more: HandLine = {}): HandLine => done(T, { type: "CommandExecution", id, command: ["bash", "-lc", command], cwd: "file:///w", source: "unified_exec_startup", status: "completed", aggregated_output: "x\n", exit_code: 0 }, more);
  const session = (...lines: HandLine[]): HandLine[] => numbered([meta({ history_mode: "paginated" }), started(T), done(T, { type: "UserMessage", id: "u", content: [{ type: "text", text: "go" }] }), ...lines, completed(T)]);
  const own = async (...lines: HandLine[]): Promise<Awaited<ReturnType<typeof replayLines>>["items"]> => (await replayLines(session(...lines))).items.slice(1);

  test("are hidden where their calls have items, in the order in which those began", async () => {
    const items = await own(
      program("p1", "const [a, b] = await Promise.all([tools.exec_command({cmd: \"ls a\"}), tools.exec_command({cmd: \"ls b\"})]);"),
      nested("exec-2", "ls b", { started_at_ms: 12, completed_at_ms: 20 }), nested("exec-1", "ls a", { started_at_ms: 11, completed_at_ms: 30 }), programGives("p1", ran("")),
    );
    expect(items.map((each) => (each.type === "commandExecution" ? each.command : each.type))).toEqual(["bash -lc 'ls a'", "bash -lc 'ls b'"]);
  });

  test("are read where the session has no items", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go", program("p1", "const r = await tools.exec_command({cmd: \"cat a.js\"}); text(r.output)"), programGives("p1", ran("1\n")))]);
    expect(items[1]).toMatchObject({ type: "commandExecution", command: "cat a.js", aggregatedOutput: "1\n", status: "completed", commandActions: [{ type: "read" }] });
  });

  test("show the call that has no item beside those that have one", async () => {
    const items = await own(
      program("p1", "await tools.exec_command({cmd: \"ls a\"}); await tools.exec_command({cmd: \"rm b\"});"), nested("exec-1", "ls a"),
      programGives("p1", [{ type: "input_text", text: "Script failed\nWall time 0.1 seconds\nOutput:\n" }, { type: "input_text", text: "Script error:\nexec command rejected by user" }]),
    );
    expect(items.map((each) => (each.type === "commandExecution" ? [each.command, each.status] : each.type))).toEqual([["bash -lc 'ls a'", "completed"], ["rm b", "declined"]]);
  });

  test("that ran without an item for their command are not shown as that command", async () => {
    const items = await own(program("p1", "try { await tools.exec_command({cmd: \"ls\"}) } catch (e) { text(\"ERR\") }"), programGives("p1", ran("ERR")));
    expect(items[0]).toMatchObject({ type: "dynamicToolCall", tool: "exec", contentItems: [{ type: "inputText", text: "ERR" }] });
  });

  test("that were not run show what the runtime said, and nothing as done", async () => {
    const items = await own(
      program("p1", "await tools.update_plan({plan: [{step: \"a\", status: \"completed\"}]})"), programGives("p1", "unsupported custom tool call: exec"),
      program("p2", "await tools.view_image({path: \"/no.png\"})"), programGives("p2", [{ type: "input_text", text: "Script failed\nWall time 0.0 seconds\nOutput:\n" }, { type: "input_text", text: "Script error:\nunable to locate image at `/no.png`" }]),
    );
    expect(items).toMatchObject([{ type: "dynamicToolCall", tool: "exec", status: "failed" }, { type: "dynamicToolCall", tool: "exec", status: "failed", contentItems: [{ text: "unable to locate image at `/no.png`" }] }]);
  });

  test("waits for one are part of it", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      program("p1", "const r = await tools.exec_command({cmd: \"make\"}); text(r.output)"), programGives("p1", "Script running with cell ID g1:1\nWall time 10.0 seconds\nOutput:\n"),
      calls("w1", "wait", { cell_id: "g1:1", yield_time_ms: 9000 }), gives("w1", [{ type: "input_text", text: "Script running with cell ID g1:1\nWall time 10.0 seconds\nOutput:\n" }, { type: "input_text", text: "half\n" }]),
      calls("w2", "wait", { cell_id: "g1:1" }), gives("w2", ran("done\n")), answeredEvent("Made."))]);
    expect(kinds(items)).toEqual(["userMessage", "commandExecution", "message final_answer"]);
    expect(items[1]).toMatchObject({ command: "make", aggregatedOutput: "half\ndone\n", status: "completed", durationMs: 20100 });
  });

  test("a note that comes after the end belongs to its program", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go", program("p1", "notify(\"half\"); text(1)"), programGives("p1", ran("1")), item("custom_tool_call_output", { call_id: "p1", name: "exec", output: "half" }))]);
    expect(items[1]).toMatchObject({ type: "dynamicToolCall", tool: "exec", contentItems: [{ text: "1half" }] });
  });

  test("of several programs the one that names the command has the item", async () => {
    const items = await own(
      program("p1", "await tools.exec_command({cmd: \"ls a\"})"), program("p2", "await tools.exec_command({cmd: \"ls b\"})"), nested("exec-1", "ls a"), nested("exec-2", "ls b"),
      programGives("p1", ran("")), programGives("p2", ran("")),
    );
    expect(items.map((each) => (each.type === "commandExecution" ? each.command : each.type))).toEqual(["bash -lc 'ls a'", "bash -lc 'ls b'"]);
  });
});

describe("calls without items", () => {
  test("looks at a running process are part of its command", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "exec_command", { cmd: "make" }), gives("c1", "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 77\nOutput:\none\n"),
      calls("c2", "write_stdin", { session_id: 77, chars: "" }), gives("c2", "Chunk ID: 2\nWall time: 2.0 seconds\nProcess exited with code 2\nOutput:\ntwo\n"), answeredEvent("No."))]);
    expect(kinds(items)).toEqual(["userMessage", "commandExecution", "message final_answer"]);
    expect(items[1]).toMatchObject({ command: "make", aggregatedOutput: "one\ntwo\n", exitCode: 2, status: "failed", durationMs: 3000 });
  });

  test("what is written to one is shown", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "exec_command", { cmd: "python" }), gives("c1", "Wall time: 1.0 seconds\nProcess running with session ID 77\nOutput:\n>>> "),
      calls("c2", "write_stdin", { session_id: 77, chars: "1+1\n" }), gives("c2", "Wall time: 0.1 seconds\nProcess running with session ID 77\nOutput:\n2\n"))]);
    expect(items.slice(1).map(({ type }) => type)).toEqual(["commandExecution", "dynamicToolCall"]);
  });

  test("a call is told from its end: refused, stopped, failed", async () => {
    const { turns } = await replayLines([meta(), started("t1"), askedEvent("go"),
      calls("c1", "shell", { command: ["rm", "x"] }), gives("c1", "exec command rejected by user"), calls("c2", "shell", { command: ["sleep", "9"] }), gives("c2", "aborted by user after 3.5s"),
      calls("c3", "shell", { command: ["false"] }), gives("c3", "{\"output\":\"no\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.0}}"),
      calls("c4", "apply_patch", { input: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" }), gives("c4", "apply_patch verification failed: no such file"), calls("c5", "shell", { command: ["ls"] }), aborted("t1")]);
    expect(turns[0]!.threadItems!.slice(1).map((each) => ("status" in each ? each.status : each.type))).toEqual(["declined", "failed", "failed", "failed", "failed"]);
  });

  test("an output without its call is shown under its own name", async () => {
    const { items, diagnostics } = await replayLines([meta(), ...turn("t1", "go", gives("c9", "lost"), answeredEvent("Done."))]);
    expect(items.find(({ type }) => type === "dynamicToolCall")).toMatchObject({ tool: "function_call_output", arguments: { call_id: "c9" }, contentItems: [{ text: "lost" }] });
    expect(diagnostics.map(({ code }) => code)).toContain("output.withoutCall");
  });

  test("an output that stands before its call finds it", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go", gives("c1", "{\"output\":\"a\\n\",\"metadata\":{\"exit_code\":0}}"), calls("c1", "shell", { command: ["ls"] }))]);
    expect(kinds(items)).toEqual(["userMessage", "commandExecution"]);
    expect(items[1]).toMatchObject({ aggregatedOutput: "a\n", status: "completed" });
  });

  test("tools of MCP servers, with and without their prefix, and with a namespace", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "mcp__docs__find", { q: "a" }), gives("c1", "[{\"type\":\"text\",\"text\":\"found\"}]"), calls("c2", "memory__read_graph", {}), gives("c2", "{}"),
      item("function_call", { call_id: "c3", name: "find", namespace: "mcp__docs__", arguments: "{}" }), gives("c3", { content: "failed", success: false }))]);
    expect(items.slice(1)).toMatchObject([
      { type: "mcpToolCall", server: "docs", tool: "find", arguments: { q: "a" }, status: "completed", result: { content: [{ type: "text", text: "found" }] } },
      { type: "mcpToolCall", server: "memory", tool: "read_graph" }, { type: "mcpToolCall", server: "docs", tool: "find", status: "failed", error: { message: "failed" } },
    ]);
  });

  test("outputs with images keep them; those too large are named", async () => {
    const small = "data:image/png;base64,AAAA";
    const { items } = await replayLines([meta(), ...turn("t1", "go", calls("c1", "screenshot", {}), gives("c1", [{ type: "input_text", text: "see" }, { type: "input_image", image_url: small }, { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(1_100_000)}` }]))]);
    expect(items[1]).toMatchObject({ contentItems: [{ type: "inputText", text: "see" }, { type: "inputImage", imageUrl: small }, { type: "inputText", text: expect.stringMatching(/^\[image\/png, \d+ bytes, too large to show\]$/) }] });
  });

  test("a plan is no item, and one that was refused is no plan", async () => {
    const plan = { plan: [{ step: "Look", status: "in_progress" }] };
    const { items } = await replayLines([meta(), ...turn("t1", "go", calls("c1", "update_plan", plan), gives("c1", "Plan updated"), calls("c2", "update_plan", plan), gives("c2", "failed to parse function arguments: x"), answeredEvent("Done."))]);
    expect(items.slice(1).map((each) => (each.type === "dynamicToolCall" ? [each.tool, each.status] : each.type))).toEqual([["update_plan", "failed"], "agentMessage"]);
  });
});

describe("records of what Codex did", () => {
  test("patches: an event or an item, with a hunk's own lines", async () => {
    const changes = { "/w/b.txt": { type: "add", content: "hi\n" }, "/w/a.js": { type: "update", unified_diff: "@@ -1,2 +1,2 @@\n-a\n+b\n c\n", move_path: null } };
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      item("custom_tool_call", { call_id: "c1", name: "apply_patch", input: "*** Begin Patch\n*** Add File: b.txt\n+hi\n*** End Patch" }), event("patch_apply_end", { call_id: "c1", turn_id: "t1", success: true, changes }),
      item("custom_tool_call_output", { call_id: "c1", output: "Success." }),
      event("patch_apply_end", { call_id: "c2", turn_id: "t1", success: false, changes: { "/w/c": { delete: { content: "old" } } } }))]);
    expect(items.slice(1)).toMatchObject([
      { type: "fileChange", status: "completed", changes: [{ path: "/w/a.js", kind: { type: "update" }, diff: "@@ -1,2 +1,2 @@\n-a\n+b\n c\n" }, { path: "/w/b.txt", kind: { type: "add" }, diff: "hi\n" }] },
      { type: "fileChange", status: "failed", changes: [{ path: "/w/c", kind: { type: "delete" }, diff: "old" }] },
    ]);
  });

  test("a command's end that was recorded is its item, without the call a second time", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "shell", { command: ["bash", "-lc", "ls"] }),
      event("exec_command_end", { call_id: "c1", turn_id: "t1", command: ["bash", "-lc", "ls"], cwd: "/w", stdout: "a\n", stderr: "e\n", aggregated_output: "", exit_code: 0, duration: { secs: 0, nanos: 7_000_000 } }), gives("c1", "{\"output\":\"a\"}"))]);
    expect(items.slice(1)).toMatchObject([{ type: "commandExecution", command: "bash -lc ls", aggregatedOutput: "a\ne\n", durationMs: 7 }]);
  });

  test("web searches, once each, with what they opened", async () => {
    const search = { type: "search", query: "q" };
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      event("web_search_end", { call_id: "ws_1", query: "q", action: search }), item("web_search_call", { status: "completed", action: search }),
      item("web_search_call", { id: "ws_2", status: "completed", action: { type: "open_page", url: "https://e.org" } }), event("web_search_end", { call_id: "ws_2", query: "", action: { type: "open_page", url: "https://e.org" } }),
      item("web_search_call", { status: "completed", action: search }))]);
    expect(items.slice(1).map((each) => (each.type === "webSearch" ? [each.query, each.action?.type] : each.type))).toEqual([["q", "search"], ["https://e.org", "openPage"], ["q", "search"]]);
  });

  test("MCP calls with their result or error", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "mcp__s__t", {}), event("mcp_tool_call_end", { call_id: "c1", invocation: { server: "s", tool: "t", arguments: { a: 1 } }, duration: { secs: 1, nanos: 0 }, result: { Ok: { content: [{ type: "text", text: "yes" }], structuredContent: { b: 2 } } } }), gives("c1", "yes"),
      event("mcp_tool_call_end", { call_id: "c2", invocation: { server: "s", tool: "t" }, result: { Err: "no such tool" } }))]);
    expect(items.slice(1)).toMatchObject([
      { type: "mcpToolCall", server: "s", tool: "t", arguments: { a: 1 }, status: "completed", durationMs: 1000, result: { content: [{ type: "text", text: "yes" }], structuredContent: { b: 2 } } },
      { type: "mcpToolCall", status: "failed", error: { message: "no such tool" } },
    ]);
  });

  test("images that were looked at, and tools of the client", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "view_image", { path: "a.png" }), event("view_image_tool_call", { call_id: "c1", path: "/w/a.png" }), gives("c1", "attached local image path"),
      event("dynamic_tool_call_response", { call_id: "c2", turn_id: "t1", namespace: "codex_tui", tool: "list_threads", arguments: { n: 1 }, content_items: [{ type: "inputText", text: "none" }], success: true, duration: { secs: 0, nanos: 0 } }))]);
    expect(items.slice(1)).toMatchObject([{ type: "imageView", path: "/w/a.png" }, { type: "dynamicToolCall", tool: "codex_tui__list_threads", status: "completed", contentItems: [{ type: "inputText", text: "none" }] }]);
  });

  test("sub-agents are children: started, told, waited for", async () => {
    const CHILD = id7(5, 5);
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "spawn_agent", { message: "look", agent_type: "explorer" }), event("collab_agent_spawn_end", { call_id: "c1", sender_thread_id: id7(0), new_thread_id: CHILD, new_agent_nickname: "Dewey", prompt: "look", model: "gpt-5", status: "running" }), gives("c1", JSON.stringify({ agent_id: CHILD })),
      event("collab_agent_interaction_end", { call_id: "c2", receiver_thread_id: CHILD, prompt: "and?", status: { completed: "done" } }),
      event("collab_waiting_end", { call_id: "c3", statuses: { [CHILD]: { errored: "lost" } } }))]);
    expect(items.slice(1)).toMatchObject([
      { type: "collabAgentToolCall", tool: "spawnAgent", prompt: "look", model: "gpt-5", status: "completed" }, { type: "collabAgentToolCall", tool: "sendInput", status: "completed" }, { type: "collabAgentToolCall", tool: "wait", status: "failed" },
    ]);
    const states = items.flatMap((each) => (each.type === "collabAgentToolCall" ? Object.values(each.agentsStates) : []));
    expect(states).toEqual([{ status: "running", message: null }, { status: "completed", message: "done" }, { status: "errored", message: "lost" }]);
    expect(new Set(items.flatMap((each) => (each.type === "collabAgentToolCall" ? each.receiverThreadIds : []))).size).toBe(1);
  });

  test("sub-agents without items of their own are found in what the calls gave", async () => {
    const CHILD = id7(5, 5);
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      calls("c1", "spawn_agent", { message: "look" }), gives("c1", JSON.stringify({ agent_id: CHILD, nickname: "Dewey" })), calls("c2", "wait_agent", { targets: [CHILD] }), gives("c2", JSON.stringify({ status: { [CHILD]: { completed: "Nothing." } }, timed_out: false })),
      item("function_call", { call_id: "c3", name: "spawn_agent", namespace: "collaboration", arguments: "{\"task_name\":\"review\",\"message\":\"review it\"}" }), event("sub_agent_activity", { event_id: "c3", agent_thread_id: id7(6, 6), agent_path: `${ROOT_AGENT}/review`, kind: "started" }), gives("c3", `{"task_name":"${ROOT_AGENT}/review"}`))]);
    const agents = items.flatMap((each) => (each.type === "collabAgentToolCall" ? [[each.tool, each.prompt, Object.values(each.agentsStates)]] : []));
    expect(agents).toEqual([["spawnAgent", "look", [{ status: "running", message: null }]], ["wait", null, [{ status: "completed", message: "Nothing." }]], ["spawnAgent", "review it", [{ status: "running", message: null }]]]);
  });

  test("a plan of plan mode is told once, beside the rest of its message", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      event("item_completed", { thread_id: id7(0), turn_id: "t1", item: { type: "Plan", id: "t1-plan", text: "# Do it" } }), answeredEvent("Here it is."), answered("Here it is.\n<proposed_plan>\n# Do it\n</proposed_plan>"))]);
    expect(items.slice(1).map((each) => ("text" in each ? [each.type, each.text] : each.type))).toEqual([["plan", "# Do it"], ["agentMessage", "Here it is."]]);
  });

  test("a failed turn has its error, in the words of the wire", async () => {
    const { turns } = await replayLines([
      meta(), started("t1"), askedEvent("go"), completed("t1", { error: { message: "busy", codex_error_info: { response_too_many_failed_attempts: { http_status_code: 429 } } } }),
      started("t2"), askedEvent("go"), event("error", { message: "no", codex_error_info: "context_window_exceeded" }), completed("t2"),
      started("t3"), askedEvent("go"), event("error", { message: "not steerable", codex_error_info: { active_turn_not_steerable: { turn_kind: "review" } } }), answeredEvent("Done."), completed("t3"),
    ]);
    expect(turns.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "succeeded"]);
    const index = await history.open((await replayLines([meta(), started("t1"), completed("t1", { error: { message: "busy", codex_error_info: { response_too_many_failed_attempts: { http_status_code: 429 } } } })])).session!.file);
    expect(index.turns[0]!.outcome).toEqual({ status: "failed", error: { message: "busy", code: { responseTooManyFailedAttempts: { httpStatusCode: 429 } } } });
  });

  test("a review is one item with what it found", async () => {
    const { turns } = await replayLines([
      meta(), event("entered_review_mode", { user_facing_hint: "the last commit", turn_id: "outer" }), started("control"), asked("<user_action>review</user_action>"),
      event("exited_review_mode", { turn_id: "outer", review_output: { findings: [{ title: "A bug" }], overall_explanation: "One issue." } }), answeredEvent("One issue."), completed("outer"),
    ]);
    expect(turns.map(({ status }) => status)).toEqual(["completed"]);
    expect(turns[0]!.threadItems).toMatchObject([{ type: "dynamicToolCall", tool: "entered_review_mode", contentItems: [{ text: "One issue.\n- A bug" }] }, { type: "agentMessage", phase: "final_answer" }]);
  });

  test("messages between agents are shown with their sender; encrypted ones are not", async () => {
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      item("agent_message", { author: `${ROOT_AGENT}/spec`, recipient: ROOT_AGENT, content: [{ type: "input_text", text: "PASS" }] }), item("agent_message", { author: ROOT_AGENT, recipient: `${ROOT_AGENT}/spec`, content: [{ type: "encrypted_content", encrypted_content: "x" }] }), answeredEvent("Good."))]);
    expect(items.slice(1)).toMatchObject([{ type: "dynamicToolCall", tool: "agent_message", arguments: { author: `${ROOT_AGENT}/spec` }, contentItems: [{ text: "PASS" }] }, { type: "agentMessage" }]);
  });

  test("what a sub-agent did and answered stands at the call that started it", async () => {
    const activity = (id: string, kind: string): HandLine => event("item_completed", { turn_id: "t1", item: { type: "SubAgentActivity", id, kind, agent_thread_id: "child", agent_path: `${ROOT_AGENT}/reader` } });
    const message = (kind: string, ...content: HandLine[]): HandLine => item("agent_message", { author: `${ROOT_AGENT}/reader`, recipient: ROOT_AGENT, content: [{ type: "input_text", text: `Message Type: ${kind}\nTask name: ${ROOT_AGENT}\nSender: ${ROOT_AGENT}/reader\nPayload:\n` }, ...content] });
    const { items } = await replayLines([meta(), ...turn("t1", "go",
      item("function_call", { call_id: "s1", name: "spawn_agent", arguments: "{\"task_name\":\"reader\",\"message\":\"Read.\"}" }), activity("s1", "started"), item("function_call_output", { call_id: "s1", output: `{"task_name":"${ROOT_AGENT}/reader"}` }),
      activity("done", "completed"), message("FINAL_ANSWER", { type: "input_text", text: "All good." }), message("NEW_TASK", { type: "encrypted_content", encrypted_content: "x" }), message("MESSAGE", { type: "input_text", text: "By the way." }))]);
    expect(items.slice(1)).toMatchObject([
      { type: "collabAgentToolCall", tool: "spawnAgent", prompt: "Read." },
      { type: "dynamicToolCall", tool: "agent_message", contentItems: [{ text: "By the way." }] },
    ]);
    expect(Object.values((items[1] as { agentsStates: object }).agentsStates)).toEqual([{ status: "completed", message: "All good." }]);
  });

  test("token counts are the turn's last ones", async () => {
    const counts = (n: number): HandLine => ({ input_tokens: n, cached_input_tokens: 1, output_tokens: 2, reasoning_output_tokens: 3, total_tokens: n + 2 });
    const { session } = await replayLines([meta(), ...turn("t1", "go", event("token_count", { info: null, rate_limits: {} }), event("token_count", { info: { last_token_usage: counts(5), total_token_usage: counts(50), model_context_window: 1000 } }))]);
    const index = await history.open(session!.file);
    for await (const { events } of index.read(0, 1)) {
      expect(events.filter((each) => each.type === "usage.updated")).toMatchObject([{ usage: { last: { input: 5, cachedInput: 1, output: 2, reasoning: 3 }, total: { input: 50 }, contextWindow: 1000 } }]);
    }
  });
});

describe("records of types that nobody knows", () => {
  test("inside of a turn are shown with their own name and content, and counted", async () => {
    const { items, diagnostics } = await replayLines([meta(), ...turn("t1", "go",
      event("mystery_event", { a: 1 }), item("mystery_item", { b: 2 }), { type: "future_codex_event", payload: { c: 3 } }, event("item_completed", { turn_id: "t1", item: { type: "Extension", id: "x1", d: 4 } }), answeredEvent("Done.", "final_answer"))]);
    expect(items.slice(1, -1)).toMatchObject([{ tool: "mystery_event", arguments: { a: 1 } }, { tool: "mystery_item", arguments: { b: 2 } }, { tool: "future_codex_event", arguments: { c: 3 } }, { tool: "Extension", arguments: { d: 4 } }]);
    expect(diagnostics).toMatchObject([{ code: "line.unknownType", count: 3 }, { code: "item.unknownType", count: 1, sample: "Extension" }]);
  });

  test("between turns are only counted", async () => {
    const { turns, diagnostics } = await replayLines([meta(), event("mystery_event"), ...turn("t1", "go", answeredEvent("Done.")), { type: "future_codex_event", payload: {} }]);
    expect(turns).toHaveLength(1);
    expect(diagnostics).toMatchObject([{ code: "line.unknownType", count: 2 }]);
  });
});

test("bare records of other harnesses are not taken for the first rollouts", () => {
  const bare = (record: HandLine): boolean => history.recognises("/x/session.jsonl", JSON.stringify(record));
  expect(bare({ type: "reasoning", summary: [], encrypted_content: "x" })).toBe(true);
  expect(bare({ type: "reasoning", text: "Hm.", time: { start: 1 } })).toBe(false);
  expect(bare({ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] })).toBe(true);
});
