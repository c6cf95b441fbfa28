import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { definition } from "@foldcast/adapter-claude-code";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { threadIdFor } from "../../packages/host-runtime/src/threads/ids.ts";
import { assistant, calls, handSession, messages, replayFile, result, rowsOf, says, user, writeSession, type HandLine } from "./support.ts";

const PARENT = "11111111-1111-4111-8111-111111111111";
const childThread = (agent: string, session = PARENT): string => threadIdFor(definition.manifest.id, `${session}/${agent}`);
const side = (line: HandLine, more: HandLine = {}): HandLine => ({ ...line, isSidechain: true, ...more });
const agentItems = (items: readonly ThreadItem[]) => items.filter((item) => item.type === "collabAgentToolCall");
const agentMessages = (items: readonly ThreadItem[]): (string | null)[] =>
  agentItems(items).flatMap((item) => Object.values(item.agentsStates).map((state) => state.message));

describe("saved sessions that others lost or misread", () => {
  test("31: a first line without a working directory hides nothing; the first line that has one gives it", async () => {
    const { session, turns } = await replayFile(handSession([
      { type: "queue-operation", operation: "enqueue", timestamp: "2026-01-01T00:00:00Z", sessionId: PARENT, content: "hi" },
      { type: "file-history-snapshot", messageId: "m", snapshot: {} },
      user("hi", { cwd: "/home/user/project" }),
      says("m1", "hello"),
    ]));
    expect(session?.cwd).toBe("/home/user/project");
    expect(turns.map((turn) => turn.finalAnswer?.firstLine)).toEqual(["hello"]);
  });

  describe("33: a sub-agent stands under the call that started it", () => {
    const call = calls("m1", "toolu_1", "Task", { description: "Look", prompt: "Find the tests", subagent_type: "general-purpose" });

    test("with its lines in the session's own file", async () => {
      const { turns, items } = await replayFile(handSession([
        user("go"), call,
        side(user("Find the tests"), { parentUuid: null, uuid: "s-0" }),
        side(says("s1", "Looking around."), { parentUuid: "s-0", uuid: "s-1" }),
        side(calls("s2", "toolu_s", "Bash", { command: "ls" }), { parentUuid: "s-1", uuid: "s-2" }),
        side(result("toolu_s", "a.test.ts"), { parentUuid: "s-2", uuid: "s-3" }),
        side(says("s3", "Found a.test.ts."), { parentUuid: "s-3", uuid: "s-4" }),
        result("toolu_1", [{ type: "text", text: "Found a.test.ts." }]),
        says("m2", "Done."),
      ]));
      expect(turns).toHaveLength(1);
      expect(items.map((item) => item.type)).toEqual(["userMessage", "collabAgentToolCall", "agentMessage"]);
      expect(agentItems(items)[0]).toMatchObject({ prompt: "Find the tests", status: "completed", receiverThreadIds: [childThread("s-0")] });
      expect(agentMessages(items)).toEqual(["Looking around.\n\nFound a.test.ts."]);
    });

    test.for(["beside", "below"])("with a file of its own, %s the session", async (where) => {
      const parent = handSession([
        user("go"), call,
        result("toolu_1", [{ type: "text", text: "Found it." }], { toolUseResult: { status: "completed", agentId: "a1b2c3d", content: [{ type: "text", text: "Found it." }] } }),
        says("m2", "Done."),
      ], `${where === "beside" ? "22222222" : "33333333"}-1111-4111-8111-111111111111.jsonl`);
      const session = parent.slice(-"22222222-1111-4111-8111-111111111111.jsonl".length, -".jsonl".length);
      const folder = where === "beside" ? dirname(parent) : join(dirname(parent), session, "subagents");
      mkdirSync(folder, { recursive: true });
      const own = join(folder, "agent-a1b2c3d.jsonl");
      const lines = [user("Find the tests", { parentUuid: null, uuid: "c-0" }), says("c1", "Looking."), says("c2", "Found it.")];
      writeFileSync(own, lines.map((line, at) => JSON.stringify({ sessionId: session, uuid: `c-${at}`, agentId: "a1b2c3d", isSidechain: true, cwd: "/w", ...line })).join("\n"));

      const { items } = await replayFile(parent);
      expect(agentItems(items)[0]?.receiverThreadIds).toEqual([childThread("a1b2c3d", session)]);
      expect(agentMessages(items)).toEqual(["Found it."]);
      const child = await replayFile(own);
      expect(child.session).toMatchObject({ nativeId: `${session}/a1b2c3d`, threadId: childThread("a1b2c3d", session) });
      expect(child.turns.map((turn) => turn.prompt)).toEqual(["Find the tests"]);
      expect(messages(child.items)).toEqual(["Looking.", "Found it."]);
    });
  });

  test("35: sub-agent lines that lead to no call are kept, under an agent of which nothing else is known", async () => {
    const { turns, items } = await replayFile(handSession([
      user("go"), says("m1", "Starting."),
      side(says("s1", "First of them."), { parentUuid: "gone", uuid: "s-1" }),
      side(calls("s2", "toolu_s", "Bash", { command: "rm -r build" }), { parentUuid: "s-1", uuid: "s-2" }),
      side(says("s3", "Another."), { parentUuid: "gone-too", uuid: "s-3" }),
      says("m2", "Done."),
    ]));
    expect(turns).toHaveLength(1);
    expect(messages(items)).toEqual(["Starting.", "Done."]);
    expect(agentItems(items)).toHaveLength(1);
    expect(agentMessages(items)).toEqual(["First of them.\n\nAnother."]);
  });

  test("37: lines copied by a resume are shown once", async () => {
    const old = [user("one", { uuid: "u-1" }), says("m1", "first", { uuid: "u-2" })];
    const again = old.map((line) => ({ ...line, sessionId: "44444444-1111-4111-8111-111111111111" }));
    const { turns, items, diagnostics } = await replayFile(handSession([...old, ...again, user("two"), says("m2", "second")]));
    expect(turns.map((turn) => turn.prompt)).toEqual(["one", "two"]);
    expect(messages(items)).toEqual(["first", "second"]);
    expect(diagnostics).toMatchObject([{ code: "line.copy", count: 2 }]);
  });

  test("39: rows that the last line's chain skips are shown, in the order of the file", async () => {
    const boundary = { type: "system", subtype: "compact_boundary", content: "Conversation compacted", parentUuid: null };
    const summary = user("This session is being continued from a previous conversation that ran out of context. …", { isCompactSummary: true, isVisibleInTranscriptOnly: true });
    const skipped = Array.from({ length: 8 }, (_, n) => [user(`question ${n}`), says(`k${n}`, `answer ${n}`)]).flat();
    const { turns, items } = await replayFile(handSession([
      user("start", { uuid: "start" }), says("m1", "began", { uuid: "began" }), boundary, summary, ...skipped, boundary, summary,
      user("after", { parentUuid: "began" }), says("m9", "end"),
    ]));
    expect(messages(items)).toEqual(["began", ...Array.from({ length: 8 }, (_, n) => `answer ${n}`), "end"]);
    expect(turns.filter((turn) => turn.prompt !== "")).toHaveLength(10);
  });

  test("39: an edited prompt leaves the branch before it where it was", async () => {
    const { items } = await replayFile(handSession([
      user("first try", { uuid: "p-1", parentUuid: null }), says("m1", "old answer"), user("second try", { parentUuid: null }), says("m2", "new answer"),
    ]));
    expect(messages(items)).toEqual(["old answer", "new answer"]);
  });

  test("41: the summary of a compaction is no prompt; the old turns stay and one mark is shown", async () => {
    const text = `This session is being continued from a previous conversation that ran out of context. ${"x".repeat(30_000)}`;
    for (const flags of [{ isCompactSummary: true, isVisibleInTranscriptOnly: true }, {}]) {
      const { turns, items } = await replayFile(handSession([user("one"), says("m1", "first"), user(text, flags), user("two"), says("m2", "second")]));
      expect(turns.map((turn) => turn.prompt)).toEqual(["one", "", "two"]);
      expect(items.filter((item) => item.type === "contextCompaction")).toHaveLength(1);
      expect(JSON.stringify(items)).not.toContain("xxxxxxxx");
    }
  });

  test("41: a compaction while the agent works is an item of that turn", async () => {
    const { turns, items } = await replayFile(handSession([
      user("go"), calls("m1", "toolu_1", "Bash", { command: "ls" }), result("toolu_1", "a"),
      { type: "system", subtype: "compact_boundary", parentUuid: null }, user("summary", { isCompactSummary: true }), says("m2", "Done."),
    ]));
    expect(turns).toHaveLength(1);
    expect(items.map((item) => item.type)).toEqual(["userMessage", "commandExecution", "contextCompaction", "agentMessage"]);
    expect(turns[0]?.fold.folds).toBe(true);
  });

  test("43: agents with the same short id in two sessions are two threads", async () => {
    const files = ["55555555", "66666666"].map((start) => {
      const id = `${start}-1111-4111-8111-111111111111`;
      return handSession([
        user("go"), calls("m1", "toolu_1", "Task", { prompt: "look", description: "Look" }),
        result("toolu_1", "ok", { toolUseResult: { status: "completed", agentId: "abc1234", content: [] } }), says("m2", "Done."),
      ], `${id}.jsonl`);
    });
    const receivers = await Promise.all(files.map(async (file) => agentItems((await replayFile(file)).items)[0]?.receiverThreadIds));
    expect(receivers[0]).toHaveLength(1);
    expect(receivers[0]).not.toEqual(receivers[1]);
  });

  test("49: a prompt in mid-turn does not hide what was answered before it", async () => {
    const { turns, items } = await replayFile(handSession([
      user("one"), says("m1", "The whole first answer."),
      { type: "attachment", attachment: { type: "queued_command", prompt: "and this", commandMode: "prompt" } },
      calls("m2", "toolu_1", "Bash", { command: "ls" }), result("toolu_1", "a"), says("m3", "The second answer."),
    ]));
    expect(turns).toHaveLength(1);
    expect(items.map((item) => item.type)).toEqual(["userMessage", "agentMessage", "userMessage", "commandExecution", "agentMessage"]);
    expect(messages(items)).toEqual(["The whole first answer.", "The second answer."]);
  });

  test("51: the last message after tools is the final answer, though nothing in the file says so", async () => {
    const { turns, items } = await replayFile(handSession([
      user("go"), says("m1", "Looking."), calls("m1", "toolu_1", "Bash", { command: "ls" }), result("toolu_1", "a"), says("m2", "It is a."),
    ]));
    expect(items.flatMap((item) => (item.type === "agentMessage" ? [item.phase] : []))).toEqual([null, "final_answer"]);
    expect(turns[0]?.fold).toMatchObject({ folds: true, reason: null });
    expect(turns[0]?.fold.foldedItemIds).toHaveLength(2);
  });

  test("59, 61: a task's notification is no prompt but a notice, its escapes undone once", async () => {
    const notification = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>Command \"ls 2&gt;/dev/null &amp;amp;\" completed</summary>\n</task-notification>";
    const { turns, items } = await replayFile(handSession([
      user("go"), says("m1", "Started."), user(notification, { origin: { kind: "task-notification" } }), says("m2", "It ended."),
    ]));
    expect(turns.map((turn) => turn.prompt)).toEqual(["go", ""]);
    expect(items.filter((item) => item.type === "userMessage")).toHaveLength(1);
    const notice = items.find((item) => item.type === "dynamicToolCall");
    expect(notice).toMatchObject({ tool: "task-notification", arguments: { summary: "Command \"ls 2>/dev/null &amp;\" completed" } });
    expect(turns[1]?.fold.folds).toBe(true);
  });

  test("97: an interrupt ends its turn as interrupted, once, and its marker is no message", async () => {
    const { turns, items } = await replayFile(handSession([
      user("go"), calls("m1", "toolu_1", "Bash", { command: "sleep 9" }),
      result("toolu_1", "The user doesn't want to proceed with this tool use.", { toolUseResult: "User rejected tool use" }),
      user([{ type: "text", text: "[Request interrupted by user for tool use]" }]),
      user("[Request interrupted by user]"), user("next"), says("m2", "Yes."),
    ]));
    expect(turns.map((turn) => turn.status)).toEqual(["interrupted", "completed"]);
    expect(items.filter((item) => item.type === "userMessage")).toHaveLength(2);
    expect(JSON.stringify(items)).not.toContain("Request interrupted");
  });
});

describe("input that is no session", () => {
  test.for([["nothing", ""], ["noise", "\u0000\u0001\xff not json"], ["other JSON lines", "{\"a\":1}\n[2]\n"], ["a Codex rollout", "{\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n"]])("%s", async ([, content]) => {
    const rows = await rowsOf(writeSession(content!));
    expect(rows.map((row) => row.type)).toEqual(["error", "total"]);
    expect(rows.at(-1)).toMatchObject({ files: 1, unreadable: 1, turns: 0 });
  });
});

describe("what no rule knows", () => {
  test("lines and blocks of new kinds become items that keep their name and content", async () => {
    const { items, diagnostics } = await replayFile(handSession([
      user("go"), { type: "hologram", uuid: "h-1", shape: { sides: 6 } }, { type: "program-state", on: true },
      assistant("m1", [{ type: "sketch", strokes: [1, 2] }, { type: "text", text: "Done." }]),
    ]));
    expect(items.slice(1)).toMatchObject([
      { type: "dynamicToolCall", tool: "hologram", arguments: { shape: { sides: 6 } } },
      { type: "dynamicToolCall", tool: "sketch", arguments: { strokes: [1, 2] } },
      { type: "agentMessage", text: "Done.", phase: "final_answer" },
    ]);
    expect(diagnostics.map((row) => [row.code, row.count])).toEqual([["line.unknownType", 2], ["block.unknownType", 1]]);
  });

  test("results without a call and calls without a result are both shown", async () => {
    const { items } = await replayFile(handSession([user("go"), result("gone", "output of something"), calls("m1", "toolu_1", "Bash", { command: "make" })]));
    expect(items.slice(1)).toMatchObject([
      { type: "dynamicToolCall", tool: "tool_result", contentItems: [{ type: "inputText", text: "output of something" }] },
      { type: "commandExecution", command: "make", status: "failed" },
    ]);
  });
});
