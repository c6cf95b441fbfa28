import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { DiagnosticCounter } from "@foldcast/adapter-kit";
import { orderFaults } from "@foldcast/adapter-kit/conformance";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { openSession } from "./session-index.ts";
import { history } from "./source.ts";
import { assistant, eventsOf, itemsOf, call, type Line, result, text, turnOf, user, write } from "./testing.ts";
import { TurnReader } from "./turn-reader.ts";

const LONG = fileURLToPath(new URL("../../../../../../shared/data/sessions/claude/16-ask-user-question-issue-150.jsonl", import.meta.url));
const withRecordings = test.skipIf(!existsSync(LONG));

describe("a session file that grows", () => {
  withRecordings("gives, line by line, what it gives when it is read at once", async () => {
    const lines = readFileSync(LONG, "utf8").trimEnd().split("\n");
    const file = write(`${lines[0]!}\n`);
    const index = await history.open(file);
    for (let at = 1; at < lines.length; at += 7) {
      appendFileSync(file, `${lines.slice(at, at + 7).join("\n")}\n`);
      expect(await index.refresh()).toBe(true);
      const keys = index.turns.map((turn) => turn.key);
      expect(new Set(keys).size).toBe(keys.length);
    }
    const whole = await history.open(write(readFileSync(LONG, "utf8")));
    expect(index.turns.map(({ key, prompt, outcome }) => ({ key, prompt, outcome }))).toEqual(whole.turns.map(({ key, prompt, outcome }) => ({ key, prompt, outcome })));
    expect(await eventsOf(index)).toEqual(await eventsOf(whole));
  });

  test("keeps the keys and events of the turns that were there", async () => {
    const file = write(text([user("u1", "one"), assistant("a1", "first")]));
    const index = await history.open(file);
    const before = await eventsOf(index);
    appendFileSync(file, text([user("u2", "two"), assistant("a2", "second")]));
    await index.refresh();
    expect((await eventsOf(index))[0]).toEqual(before[0]);
    expect(index.turns.map((turn) => turn.key)).toEqual(["u1", "u2"]);
  });

  test("takes a last line without its newline, and one that is still being written when it is whole", async () => {
    const [first, second] = [text([user("u1", "one"), assistant("a1", "first")]).trimEnd(), text([assistant("a2", "more")]).trimEnd()];
    const file = write(first);
    const index = await history.open(file);
    expect(itemsOf((await eventsOf(index))[0]!)).toHaveLength(1);
    appendFileSync(file, `\n${second.slice(0, 40)}`);
    await index.refresh();
    expect(itemsOf((await eventsOf(index))[0]!)).toHaveLength(1);
    appendFileSync(file, second.slice(40));
    await index.refresh();
    expect(itemsOf((await eventsOf(index))[0]!)).toHaveLength(2);
  });

  test("says that nothing changed, and starts anew when the file was rewritten", async () => {
    const file = write(text([user("u1", "one"), assistant("a1", "first")]));
    const index = await history.open(file);
    expect(await index.refresh()).toBe(false);
    writeFileSync(file, text([user("u9", "another"), assistant("a9", "session"), user("u8", "now")]));
    expect(await index.refresh()).toBe(true);
    expect(index.turns.map((turn) => turn.key)).toEqual(["u9", "u8"]);
  });
});

describe("reading", () => {
  withRecordings("one turn alone gives the same events as reading all", async () => {
    const index = await history.open(LONG);
    const all = await eventsOf(index);
    for (const at of [0, 7, all.length - 1]) {
      for await (const { index: number, events } of index.read(at, at + 1)) {
        expect(number).toBe(at);
        expect(events).toEqual(all[at]);
      }
    }
  });

  test("counts a turn's peculiarities once, however often it is read", async () => {
    const index = await history.open(write(text([user("u1", "go"), result("r1", "gone", "x"), assistant("a1", "done")])));
    await eventsOf(index);
    await eventsOf(index);
    expect(index.diagnostics).toEqual([{ code: "result.withoutCall", count: 1, sample: "gone" }]);
  });

  test("puts results to their calls in whatever order they stand, and a later block to its message", async () => {
    const events = await turnOf([
      user("u1", "go"), result("r1", "t1", "early"), call("a1", "t1", "Bash", { command: "a" }), call("a2", "t2", "Bash", { command: "b" }), result("r2", "t2", "late"),
    ]);
    expect(events.flatMap((event) => (event.type === "item.completed" ? [event.result?.output] : []))).toEqual(["early", "late"]);

    const index = await history.open(write(text([
      user("u1", "one"), assistant("a1", [{ type: "text", text: "begun" }], {}, { id: "shared" }), call("a2", "t1", "Bash", { command: "a" }),
      user("u2", "two"), assistant("a3", [{ type: "text", text: "ended" }], {}, { id: "shared" }), result("r1", "t1", "x"), assistant("a4", "answer"),
    ])));
    const turns = await eventsOf(index);
    expect(turns.map((each) => itemsOf(each).flatMap((item) => (item.kind === "message" ? [item.text] : [])))).toEqual([["begun", "ended"], ["answer"]]);
    expect(turns[0]!.some((event) => event.type === "item.completed" && event.itemId === "t1")).toBe(true);
  });

  const said = (events: readonly HarnessEvent[]): string[] => itemsOf(events).flatMap((item) => (item.kind === "message" ? [item.text ?? ""] : item.kind === "tool" ? [JSON.stringify(item.input)] : []));

  test("tells calls apart whose model gives their ids again, in a turn and in the next", async () => {
    const [first, second] = await eventsOf(await history.open(write(text([
      user("u1", "one"), call("a1", "c0", "Bash", { command: "a" }), result("r1", "c0", "A"), call("a2", "c0", "Bash", { command: "b" }), result("r2", "c0", "B"), assistant("a3", "1"),
      user("u2", "two"), call("a4", "c0", "Bash", { command: "a" }), result("r3", "c0", "C"), assistant("a5", "2"),
    ]))));
    const outputs = (events: readonly HarnessEvent[]) => events.flatMap((event) => (event.type === "item.completed" && event.result?.output != null ? [event.result.output] : []));
    expect([said(first!), outputs(first!)]).toEqual([["{\"command\":\"a\"}", "{\"command\":\"b\"}", "1"], ["A", "B"]]);
    expect([said(second!), outputs(second!)]).toEqual([["{\"command\":\"a\"}", "2"], ["C"]]);
    expect([first!, second!].flatMap((events) => orderFaults(events))).toEqual([]);
  });

  test("takes a call that stands there twice for one", async () => {
    const events = await turnOf([user("u1", "one"), call("a1", "c0", "Bash", { command: "a" }), call("a2", "c0", "Bash", { command: "a" }), result("r1", "c0", "A"), call("a3", "c0", "Bash", { command: "a" })]);
    expect(said(events)).toEqual(["{\"command\":\"a\"}"]);
  });

  test("puts an answer to the prompt that it names as the line before it, whatever id its model gives it", async () => {
    const turns = await eventsOf(await history.open(write(text([
      user("u1", "one"), assistant("a1", "first", { parentUuid: "u1" }, { id: "chatcmpl" }), user("u2", "two", { parentUuid: "a1" }), assistant("a2", "second", { parentUuid: "u2" }, { id: "chatcmpl" }),
    ]))));
    expect(turns.map(said)).toEqual([["first"], ["second"]]);
  });

  test("knows the prompt of an answer behind what the program put between them, also when it goes on from what it kept", async () => {
    const between = (uuid: string, parentUuid: string): Line[] => [
      { type: "attachment", uuid: `${uuid}-1`, parentUuid, attachment: { type: "task_reminder" } }, { type: "progress", uuid: `${uuid}-2`, parentUuid: `${uuid}-1` },
    ];
    const lines = [
      user("u1", "one"), ...between("x", "u1"), assistant("a1", "first", { parentUuid: "x-2" }, { id: "chatcmpl" }),
      user("u2", "two", { parentUuid: "a1" }), ...between("y", "u2"), assistant("a2", "second", { parentUuid: "y-2" }, { id: "chatcmpl" }), assistant("a3", "and more", { parentUuid: "a2" }, { id: "chatcmpl" }),
    ];
    const told = [["first"], ["second", "and more"]];
    expect((await eventsOf(await history.open(write(text(lines))))).map(said)).toEqual(told);
    for (let cut = 1; cut < lines.length; cut += 1) {
      const file = write(text(lines.slice(0, cut)));
      const kept = (await openSession(file)).snapshot();
      appendFileSync(file, text(lines.slice(cut)));
      expect((await eventsOf(await openSession(file, kept))).map(said)).toEqual(told);
    }
  });

  test("tells a call with the id, the name and the input of one that is over, as the live turn does", async () => {
    const lines = [user("u1", "one"), call("a1", "c0", "Bash", { command: "a" }), result("r1", "c0", "A"), call("a2", "c0", "Bash", { command: "a" }), result("r2", "c0", "B"), assistant("a3", "1")];
    const reader = new TurnReader({ sessionId: "s", subAgents: new Map(), diagnostics: new DiagnosticCounter(), ofCommand: false });
    const live = lines.slice(1).flatMap((line, at) => reader.read(line, at));
    expect((await turnOf(lines)).slice(1, -1)).toEqual(live);
    expect(itemsOf(live).map(({ id }) => id)).toEqual(["c0", "c0~2", "a3:0"]);
  });

  test("takes an answer that is no list of blocks for an answer: what follows it stands outside", async () => {
    const index = await history.open(write(text([
      user("u1", "one"), assistant("a1", "first"), { type: "system", subtype: "compact_boundary", uuid: "b1" },
      user("u2", "two"), assistant("a2", "second"), assistant("f", [{ type: "text", text: "No response requested." }], {}, { model: "<synthetic>" }),
    ])));
    expect(index.turns.map(({ key, outcome }) => [key, outcome.status])).toEqual([["u1", "unknown"], ["b1", "unknown"], ["u2", "unknown"]]);
  });

  test("shows an unknown line that stands before the first prompt with it, and not as a turn", async () => {
    const strange = { type: "hologram", uuid: "h", sessionId: "session-1", sides: 6 };
    const events = await turnOf([strange, user("u1", "one"), assistant("a1", "first")]);
    expect(events[0]).toMatchObject({ type: "turn.started", turnKey: "u1", input: [{ text: "one" }] });
    expect(itemsOf(events)).toContainEqual({ kind: "tool", id: "h", name: "hologram", input: { sides: 6 }, unknown: true });
    // It makes no session of a file that holds a sub-agent's lines alone.
    const aside = { isSidechain: true, agentId: "x" };
    expect(said(await turnOf([strange, user("u1", "task", aside), assistant("a1", "report", aside)]))).toEqual(["report"]);
  });

  test("counts the tokens of a message once, with its last line", async () => {
    const usage = (output: number) => ({ id: "m", usage: { input_tokens: 3, cache_read_input_tokens: 10, cache_creation_input_tokens: 2, output_tokens: output } });
    const events = await turnOf([user("u1", "go"), assistant("a1", [{ type: "text", text: "a" }], {}, usage(1)), assistant("a2", [{ type: "text", text: "b" }], {}, usage(9))]);
    expect(events.filter((event) => event.type === "usage.updated").map((event) => event.usage.last)).toEqual([{ input: 15, cachedInput: 10, cacheWrite: 2, output: 9 }]);
  });
});

describe("outcome", () => {
  const outcome = async (...lines: Parameters<typeof text>[0]) => (await history.open(write(text([user("u1", "go"), ...lines])))).turns[0]!.outcome;

  test("is unknown for a turn that ended by itself: a stop reason proves nothing", async () => {
    expect(await outcome(assistant("a1", "done", {}, { stop_reason: "end_turn" }))).toEqual({ status: "unknown" });
  });

  test("is failed with the error's text after an API error, and not when the agent went on", async () => {
    const error = assistant("a1", [{ type: "text", text: "API Error: 529 overloaded" }], { isApiErrorMessage: true, error: "overloaded" });
    expect(await outcome(error)).toEqual({ status: "failed", error: { message: "API Error: 529 overloaded", code: "internalServerError", details: "overloaded" } });
    expect(await outcome(error, assistant("a2", "recovered"))).toEqual({ status: "unknown" });
  });

  test("is failed after a refusal and at the limit of steps, cancelled after an interrupt", async () => {
    expect(await outcome(assistant("a1", "I won't.", {}, { stop_reason: "refusal" }))).toMatchObject({ status: "failed", error: { message: "I won't." } });
    expect(await outcome(assistant("a1", "x"), { type: "attachment", uuid: "x", attachment: { type: "max_turns_reached", maxTurns: 2 } }))
      .toMatchObject({ status: "failed", error: { message: "Reached maximum number of turns (2)" } });
    expect(await outcome(assistant("a1", "x"), user("u2", [{ type: "text", text: "[Request interrupted by user]" }]))).toEqual({ status: "cancelled" });
  });
});

describe("the title", () => {
  const titleOf = async (...lines: Parameters<typeof text>[0]) => (await history.open(write(text([...lines, user("u1", "go"), assistant("a1", "done")])))).title;

  test("is the person's own, else the one that was made, else the summary of a conversation of this file", async () => {
    const made = { type: "ai-title", aiTitle: "Made", sessionId: "s" };
    expect(await titleOf(made, { type: "custom-title", customTitle: "Own", sessionId: "s" })).toBe("Own");
    expect(await titleOf(made, { type: "ai-title", aiTitle: "Made later", sessionId: "s" })).toBe("Made later");
    expect(await titleOf({ type: "summary", summary: "Another session", leafUuid: "elsewhere" }, { type: "summary", summary: "This one", leafUuid: "a1" })).toBe("This one");
    expect(await titleOf({ type: "summary", summary: "Another session", leafUuid: "elsewhere" })).toBeNull();
  });
});

describe("recognition", () => {
  test("takes Claude Code's lines and leaves its relatives'", () => {
    expect(history.recognises("/a/b.jsonl", text([user("u1", "hi")]))).toBe(true);
    expect(history.recognises("/a/b.jsonl", `// note\n${JSON.stringify(user("u1", "x".repeat(500))).slice(0, 300)}`)).toBe(true);
    expect(history.recognises("/a/b.jsonl", JSON.stringify({ type: "user", uuid: "u", parentUuid: null, sessionId: "s", message: { role: "user", parts: [{ text: "hi" }] } }))).toBe(false);
    expect(history.recognises("/a/b.jsonl", "{\"type\":\"session\",\"id\":\"x\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}")).toBe(false);
    expect(history.recognises("/a/b.jsonl", JSON.stringify({ type: "assistant", uuid: "u", session_id: "s", parent_tool_use_id: null, message: { role: "assistant", content: [] } }))).toBe(false);
    expect(history.recognises("/a/b.txt", text([user("u1", "hi")]))).toBe(false);
  });
});

describe("a hostile file", () => {
  const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  const withDepth = (line: Parameters<typeof text>[0][number]): string => `${JSON.stringify(line).slice(0, -1)},"extra":${deep}}\n`;

  test("keeps the prompt and the words of lines that are nested too deeply elsewhere", async () => {
    const index = await history.open(write(withDepth(user("u1", "question")) + withDepth(assistant("a1", [{ type: "text", text: "answer" }]))));
    const [events] = await eventsOf(index);
    expect(events![0]).toMatchObject({ input: [{ text: "question" }] });
    expect(itemsOf(events!)).toMatchObject([{ kind: "message", text: "answer" }]);
    expect(index.diagnostics).toContainEqual({ code: "line.tooDeep", count: 2, sample: null });
  });

  test("reads a notice with a very long tag in no more than linear time", async () => {
    // A reader that goes over the tag once for each of its characters would not come to an end in this test's time.
    const events = await turnOf([user("u1", `<teammate-message ${"a".repeat(1_000_000)}>news</teammate-message>`), assistant("a1", "ok")]);
    expect(events.filter((event) => event.type === "item.started").map((event) => event.item.kind)).toEqual(["tool", "message"]);
  });

  test("counts tokens in whole numbers only", async () => {
    const events = await turnOf([user("u1", "go"), assistant("a1", "ok", {}, { usage: { input_tokens: 1.5, output_tokens: 1e300, cache_read_input_tokens: 7 } })]);
    expect(events.find((event) => event.type === "usage.updated")).toMatchObject({ usage: { last: { input: 7, output: 0 } } });
  });
});

describe("a copy of another session", () => {
  const forked = (uuid: string, more: object = {}) => assistant(uuid, [{ type: "text", text: uuid }], { sessionId: "new", ...more });
  const parentOf = async (...lines: Parameters<typeof text>[0]): Promise<string | null> => (await history.open(write(text(lines)))).parentNativeSessionId;

  test("is known by the mark of its lines, or by whose requests its answers were", async () => {
    expect(await parentOf(user("u", "hello", { sessionId: "new", forkedFrom: { sessionId: "old", messageUuid: "u" } }))).toBe("old");
    expect(await parentOf(user("u", "hello"), forked("a", { requestSessionId: "older" }), forked("b", { requestSessionId: "old" }), forked("c"))).toBe("old");
    expect(await parentOf(user("u", "hello"), forked("a", { requestSessionId: "new" }))).toBeNull();
  });
});
