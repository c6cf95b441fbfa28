import { describe, expect, test } from "vitest";
import type { ItemResult } from "@foldcast/protocol-core/harness";
import { MAX_IMAGE_CHARACTERS } from "./images.ts";
import { assistant, call, completionOf, eventsOf, itemsOf, type Line, result, text, turnOf, user, write } from "./testing.ts";
import { history } from "./source.ts";

async function resultFor(name: string, input: unknown, content: unknown, more: Record<string, unknown> = {}, block: Record<string, unknown> = {}) {
  const events = await turnOf([user("u1", "go"), call("a1", "t1", name, input), result("r1", "t1", content, more, block)]);
  const { outcome, result: given } = completionOf(events, "t1");
  return { outcome, ...(given as ItemResult) };
}

describe("edits", () => {
  const input = { file_path: "/w/a.ts", old_string: "two", new_string: "2" };

  test("are full texts where the file before is recorded", async () => {
    const patch = [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [" one", "-two", "+2", " three"] }];
    const structured = { filePath: "/w/a.ts", oldString: "two", newString: "2", originalFile: "one\ntwo\nthree\n", structuredPatch: patch, replaceAll: false };
    const { edits } = await resultFor("Edit", input, "ok", { toolUseResult: structured });
    expect(edits).toEqual([{ path: "/w/a.ts", before: "one\ntwo\nthree\n", after: "one\n2\nthree\n" }]);
  });

  test("follow the replaced text where the hunks' tabs were made spaces", async () => {
    const patch = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-  two", "+  2"] }];
    const structured = { filePath: "/w/a.ts", oldString: "two", newString: "2", originalFile: "\ttwo\n", structuredPatch: patch };
    expect((await resultFor("Edit", input, "ok", { toolUseResult: structured })).edits).toEqual([{ path: "/w/a.ts", before: "\ttwo\n", after: "\t2\n" }]);
  });

  test("are hunks without the file before, and replaced pieces without either", async () => {
    const patch = [{ oldStart: 7, oldLines: 1, newStart: 7, newLines: 1, lines: ["-two", "+2"] }];
    expect((await resultFor("Edit", input, "ok", { toolUseResult: { filePath: "/w/a.ts", structuredPatch: patch } })).edits).toEqual([{ path: "/w/a.ts", hunks: patch }]);
    expect((await resultFor("Edit", input, "ok")).edits).toEqual([{ path: "/w/a.ts", fragments: [{ old: "two", new: "2" }] }]);
  });

  test("of several pieces, of new files, of files written over and of notebooks", async () => {
    const pieces = [{ old_string: "a", new_string: "b" }, { old_string: "b", new_string: "c", replace_all: true }];
    expect((await resultFor("MultiEdit", { file_path: "/w/a", edits: pieces }, "ok", { toolUseResult: { filePath: "/w/a", originalFile: "a b", edits: pieces } })).edits)
      .toEqual([{ path: "/w/a", before: "a b", after: "c c" }]);
    const write = { file_path: "/w/n", content: "new\n" };
    expect((await resultFor("Write", write, "ok", { toolUseResult: { type: "create", filePath: "/w/n", content: "new\n", originalFile: null, structuredPatch: [] } })).edits)
      .toEqual([{ path: "/w/n", before: null, after: "new\n" }]);
    expect((await resultFor("Write", write, "ok", { toolUseResult: { type: "update", filePath: "/w/n", content: "new\n", originalFile: "old\n" } })).edits)
      .toEqual([{ path: "/w/n", before: "old\n", after: "new\n" }]);
    expect((await resultFor("Write", write, "File created successfully at: /w/n")).edits).toEqual([{ path: "/w/n", before: null, after: "new\n" }]);
    expect((await resultFor("NotebookEdit", { notebook_path: "/w/n.ipynb", new_source: "x" }, "ok", { toolUseResult: { original_file: "{}", updated_file: "{x}" } })).edits)
      .toEqual([{ path: "/w/n.ipynb", before: "{}", after: "{x}" }]);
  });
});

describe("how a call ended", () => {
  test("is told by its result", async () => {
    const failed = { is_error: true };
    expect((await resultFor("Bash", {}, "fine")).outcome).toEqual({ status: "succeeded" });
    expect(await resultFor("Bash", {}, "Exit code 3\noops", {}, failed)).toMatchObject({ outcome: { status: "failed" }, exitCode: 3, output: "Exit code 3\noops" });
    expect((await resultFor("Edit", {}, "<tool_use_error>String not found</tool_use_error>", {}, failed)).outcome).toEqual({ status: "failed", message: "String not found" });
    expect((await resultFor("Bash", {}, "The user doesn't want to proceed with this tool use. …", {}, failed)).outcome).toEqual({ status: "declined" });
    expect((await resultFor("Bash", {}, "no", { toolDenialKind: "permission-rule" }, failed)).outcome).toEqual({ status: "declined" });
    expect((await resultFor("Bash", {}, "The user doesn't want to proceed with this tool use. … this call was stopped while running, …", {}, failed)).outcome).toEqual({ status: "cancelled" });
  });

  test("shows more of a spilled output than the model saw", async () => {
    const structured = { stdout: "1\n2\n3", stderr: "", persistedOutputPath: "/x.txt" };
    expect((await resultFor("Bash", {}, "<persisted-output>\nOutput too large", { toolUseResult: structured })).output).toBe("1\n2\n3");
  });
});

describe("what the program writes for the model alone", () => {
  test("of a command without output is no output", async () => {
    const note = "(Bash completed with no output)";
    expect((await resultFor("Bash", {}, note, { toolUseResult: { stdout: "", stderr: "" } })).output).toBe("");
    expect((await resultFor("Bash", {}, note, { toolUseResult: { stdout: note, stderr: "" } })).output).toBe(note);
  });

  test("of a turn that ended with the program is neither a result nor an answer", async () => {
    const index = await history.open(write(text([
      user("u1", "go"), call("a1", "t1", "Bash", { command: "sleep 60" }),
      result("r1", "t1", "[Tool call interrupted: the session ended before …]", { toolDenialKind: "interrupted" }, { is_error: true }),
      assistant("a2", [{ type: "text", text: "No response requested." }], { isApiErrorMessage: false }, { model: "<synthetic>" }),
      user("u2", "and now?"), assistant("a3", [{ type: "text", text: "No response requested." }]),
    ])));
    const [first, second] = await eventsOf(index);
    expect(index.turns.map((turn) => turn.outcome.status)).toEqual(["cancelled", "unknown"]);
    expect(itemsOf(first!).map(({ kind }) => kind)).toEqual(["tool"]);
    expect(completionOf(first!, "t1")).toMatchObject({ outcome: { status: "cancelled" }, result: {} });
    expect(completionOf(first!, "t1").result?.output).toBeUndefined();
    // The same words of the agent's own are an answer.
    expect(itemsOf(second!)).toMatchObject([{ kind: "message", text: "No response requested." }]);
  });
});

describe("images", () => {
  const image = (data: string) => [{ type: "text", text: "seen" }, { type: "image", source: { type: "base64", media_type: "image/png", data } }];

  test("are handed on, once", async () => {
    const given = await resultFor("Read", {}, image("AAAA"), { toolUseResult: { type: "image", file: { base64: "AAAA", type: "image/png" } } });
    expect(given.content).toEqual([{ type: "inputText", text: "seen" }, { type: "inputImage", imageUrl: "data:image/png;base64,AAAA" }]);
    expect(given.structured).toEqual({ type: "image", file: { type: "image/png" } });
  });

  test("that are too large are named and counted", async () => {
    const large = "A".repeat(MAX_IMAGE_CHARACTERS + 1);
    const index = await history.open(write(text([user("u1", image(large)), call("a1", "t1", "Read", {}), result("r1", "t1", image(large))])));
    const [events] = await eventsOf(index);
    expect(JSON.stringify(events)).not.toContain("AAAA");
    expect(JSON.stringify(completionOf(events!, "t1"))).toContain("too large to show");
    expect(index.diagnostics).toEqual([{ code: "image.tooLarge", count: 2, sample: null }]);
  });
});

describe("the person's own commands", () => {
  test("of the shell are a turn without a prompt, commands of the program are none", async () => {
    const index = await history.open(write(text([
      user("u1", "<bash-input>ls</bash-input>"), user("u2", "<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>"),
      user("u3", "<local-command-caveat>Caveat</local-command-caveat>", { isMeta: true }), user("u4", "<command-name>/cost</command-name>"),
      user("u5", "<local-command-stdout>$1</local-command-stdout>"), user("u6", "next"),
    ])));
    const turns = await eventsOf(index);
    expect(index.turns.map((turn) => turn.prompt)).toEqual(["", "next"]);
    expect(itemsOf(turns[0]!)).toEqual([{ kind: "command", id: "shell", command: "ls", source: "userShell" }]);
    expect(completionOf(turns[0]!, "shell").result).toEqual({ output: "a\nb" });
  });

  test("of the program are turns where a client sent them under an id of its own, with what they print as the answer", async () => {
    const sent = (id: string) => ({ turnAttributionKey: id });
    const index = await history.open(write(text([
      user("u1", "hello"), assistant("a1", [{ type: "text", text: "Hi." }]),
      user("u2", "<local-command-caveat>Caveat</local-command-caveat>", { isMeta: true }),
      user("u3", "<command-name>/usage</command-name>\n<command-args></command-args>", sent("u3")),
      { type: "system", subtype: "local_command", uuid: "s1", sessionId: "session-1", content: "<local-command-stdout>$1</local-command-stdout>" },
      user("u4", "<command-name>/model</command-name>"), user("u5", "<local-command-stdout>Set model</local-command-stdout>"),
    ])));
    const [, turn] = await eventsOf(index);
    expect(index.turns.map(({ key, prompt }) => [key, prompt])).toEqual([["u1", "hello"], ["u3", "/usage"]]);
    expect(turn![0]).toMatchObject({ input: [{ type: "text", text: "/usage" }], origin: "user" });
    expect(itemsOf(turn!)).toMatchObject([{ kind: "message", id: "s1:0", text: "$1" }]);
  });

  test("are told as they were typed, where the program's queue has that", async () => {
    const queue = (operation: string, more: object = {}): Line => ({ type: "queue-operation", operation, sessionId: "session-1", ...more });
    const usage = (id: string) => user(id, "<command-name>/usage</command-name>\n<command-args></command-args>", { turnAttributionKey: id });
    const index = await history.open(write(text([
      queue("enqueue", { content: "/cost" }), queue("dequeue"), user("m1", "<local-command-caveat>Caveat</local-command-caveat>", { isMeta: true }), usage("u1"),
      queue("enqueue", { content: "/other with words" }), queue("dequeue"), usage("u2"),
      queue("enqueue", { content: "/cost" }), queue("enqueue", { content: "hello" }), user("u3", "hello"), usage("u4"),
    ])));
    const turns = await eventsOf(index);
    expect(index.turns.map(({ key, prompt }) => [key, prompt])).toEqual([["u1", "/cost"], ["u2", "/usage"], ["u3", "hello"], ["u4", "/usage"]]);
    expect(turns.map(([first]) => (first?.type === "turn.started" ? first.input[0] : null))).toMatchObject([{ text: "/cost" }, { text: "/usage" }, { text: "hello" }, { text: "/usage" }]);
    expect(turns.flatMap((events) => itemsOf(events))).toEqual([]);
  });

  test("that the program cannot run, or that failed, are turns too", async () => {
    const line = (uuid: string, content: string, more: object = {}) => ({ type: "system", subtype: "local_command", uuid, sessionId: "session-1", content, ...more });
    const index = await history.open(write(text([
      user("u1", "hello"), assistant("a1", [{ type: "text", text: "Hi." }]),
      line("s1", "/help", { submitUuid: "k1" }), line("s2", "<local-command-stdout>Not here.</local-command-stdout>"),
      user("k2", "<command-name>/compact</command-name>", { turnAttributionKey: "k2" }), line("s3", "<local-command-stderr>It broke.</local-command-stderr>", { commandOutcome: { kind: "failed" } }),
    ])));
    const turns = await eventsOf(index);
    expect(index.turns.map(({ key, prompt, outcome }) => [key, prompt, outcome.status])).toEqual([["u1", "hello", "unknown"], ["k1", "/help", "unknown"], ["k2", "/compact", "failed"]]);
    expect(turns[1]![0]).toMatchObject({ input: [{ type: "text", text: "/help" }] });
    expect(turns[2]![0]).toMatchObject({ input: [], origin: "agent" });
    expect([turns[1]!, turns[2]!].map((events) => itemsOf(events))).toMatchObject([[{ text: "Not here." }], [{ text: "It broke." }]]);
  });

  test("to compact gives its key to what it did, which stands before it", async () => {
    const boundary = { type: "system", subtype: "compact_boundary", uuid: "b1", sessionId: "session-1", timestamp: "2026-01-01T00:01:00.000Z" };
    const index = await history.open(write(text([
      user("u1", "hello"), assistant("a1", [{ type: "text", text: "Hi." }]), boundary,
      user("u2", "This session is being continued …", { isCompactSummary: true }),
      user("u3", "<command-name>/compact</command-name>", { turnAttributionKey: "u3" }), user("u4", "<local-command-stdout>Compacted </local-command-stdout>"),
    ])));
    const [, turn] = await eventsOf(index);
    expect(index.turns.map(({ key }) => key)).toEqual(["u1", "u3"]);
    expect(itemsOf(turn!)).toEqual([{ kind: "compaction", id: "b1" }]);
    expect(turn![0]).toMatchObject({ input: [], origin: "agent" });
  });

  test("to compact with words of one's own show them before what they did", async () => {
    const boundary = { type: "system", subtype: "compact_boundary", uuid: "b1", sessionId: "session-1", timestamp: "2026-01-01T00:01:00.000Z" };
    const index = await history.open(write(text([
      user("u1", "hello"), assistant("a1", [{ type: "text", text: "Hi." }]), boundary, user("u2", "This session is being continued …", { isCompactSummary: true }),
      user("u3", "<command-name>/compact</command-name>\n<command-args>keep the names</command-args>", { turnAttributionKey: "u3" }), user("u4", "<local-command-stdout>Compacted </local-command-stdout>"),
    ])));
    const [, turn] = await eventsOf(index);
    expect(index.turns[1]).toMatchObject({ key: "u3", prompt: "/compact keep the names" });
    expect(turn![0]).toMatchObject({ input: [{ text: "/compact keep the names" }], origin: "user" });
    expect(itemsOf(turn!)).toEqual([{ kind: "compaction", id: "b1" }]);
  });
});

describe("news", () => {
  const newsOf = async (...lines: Line[]) => {
    const index = await history.open(write(text([user("u1", "go"), assistant("a1", "Done."), ...lines, assistant("a2", "Answered.")])));
    const turns = await eventsOf(index);
    return { prompts: index.turns.map(({ prompt }) => prompt), shown: itemsOf(turns.at(-1)!).map((item) => (item.kind === "tool" ? [item.name, item.input] : item.kind)) };
  };

  test("from a channel, another session or a teammate set a turn off, and are no prompt", async () => {
    expect(await newsOf(user("n", "<channel source=\"telegram\" chat=\"5\">\nhello\n</channel>", { isMeta: true, origin: { kind: "channel", server: "telegram" } })))
      .toEqual({ prompts: ["go", ""], shown: [["channel", { source: "telegram", chat: "5" }], "message"] });
    expect(await newsOf(user("n", "Another session says: hi", { origin: { kind: "peer", from: "x" } }))).toEqual({ prompts: ["go", ""], shown: [["peer", {}], "message"] });
    expect(await newsOf(user("n", "<cross-session-message from=\"x\">hi</cross-session-message>"))).toEqual({ prompts: ["go", ""], shown: [["cross-session-message", { from: "x" }], "message"] });
  });

  test("that came while the turn ran are no message of the person's", async () => {
    const queued = (prompt: string, more: object = {}): Line => ({ type: "attachment", uuid: `q-${prompt}`, attachment: { type: "queued_command", prompt, ...more } });
    const events = await turnOf([user("u1", "go"), queued("hey", { origin: { kind: "peer", from: "x" } }), queued("and more", { origin: { kind: "human" } }), assistant("a1", "Done.")]);
    expect(itemsOf(events).map(({ kind }) => kind)).toEqual(["tool", "userMessage", "message"]);
  });

  test("are not what the person sent or the program goes on with, nor what a hook added", async () => {
    expect((await newsOf(user("n", "more", { origin: { kind: "human" } }))).prompts).toEqual(["go", "more"]);
    expect((await newsOf(user("n", "Goal set: x", { origin: { kind: "auto-continuation" } }))).prompts).toEqual(["go", "Goal set: x"]);
    expect((await newsOf(user("n", "<user-prompt-submit-hook>context</user-prompt-submit-hook>"))).prompts).toEqual(["go"]);
  });

  test("are not what a person typed, however it begins", async () => {
    for (const typed of ["<tick> what is this tag?", "<session-start-hook>why does this come?", "This session is being continued from a previous conversation that ran out of context - why do I read this?"]) {
      for (const says of [{ promptSource: "sdk" }, { origin: { kind: "human" } }]) {
        const events = await turnOf([user("u1", typed, says), assistant("a1", "Done.")]);
        expect(events[0]).toMatchObject({ type: "turn.started", input: [{ text: typed }] });
        expect(itemsOf(events).map(({ kind }) => kind)).toEqual(["message"]);
      }
      expect((await newsOf(user("n", typed, { promptSource: "system" }))).prompts).not.toContain(typed);
    }
    const ahead = { type: "attachment", uuid: "q", attachment: { type: "queued_command", prompt: "<tick> and this?", origin: { kind: "human" } } };
    expect(itemsOf(await turnOf([user("u1", "go"), ahead, assistant("a1", "Done.")])).map(({ kind }) => kind)).toEqual(["userMessage", "message"]);
  });
});

test("a sub-agent that goes on without its call is not done", async () => {
  const statusOf = async (toolUseResult: object) => {
    const events = await turnOf([user("u1", "go"), call("a1", "t1", "Agent", { prompt: "p" }), result("r1", "t1", "Started.", { toolUseResult })]);
    return completionOf(events, "t1").result?.children?.map(({ status }) => status);
  };
  for (const status of ["async_launched", "teammate_spawned", "remote_launched"]) expect(await statusOf({ status, agentId: "x" })).toEqual(["running"]);
  expect(await statusOf({ status: "completed", agentId: "x" })).toEqual(["completed"]);
  expect(await statusOf({ agentId: "x", content: [] })).toEqual(["completed"]);
});
