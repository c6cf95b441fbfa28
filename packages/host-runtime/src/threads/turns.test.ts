import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import type { FakeAdapter, FakeSession } from "../testing/fake-adapter.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
const short = (client: TestClient): string[] =>
  client.frames.map((frame) => {
    const params = frame["params"] as { status?: { type: string }; item?: { type: string } } | undefined;
    const detail = params?.item?.type ?? params?.status?.type;
    return "method" in frame ? `${String(frame["method"])}${detail === undefined ? "" : ` ${detail}`}` : "response";
  });

let setup: TestHost;
let client: TestClient;
let threadId: string;
beforeEach(async () => {
  setup = await startTestHost({ abandonedAfterMs: 0 });
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
});
afterEach(() => setup.host.close());

const start = (value: string, more: object = {}) => client.call("turn/start", { threadId, input: text(value), ...more });

/** Leaves the turn running after its start; the test goes on with the session. */
async function runningTurn(value = "go", more: object = {}): Promise<{ session: FakeSession; turnId: string }> {
  setup.adapter.script = (session, input, key) => session.begin(key, input);
  const { turn } = await start(value, more);
  await client.notice("turn/started");
  return { session: setup.adapter.sessions.at(-1)!, turnId: turn.id };
}

describe("order of a turn", () => {
  test("response, status active, turn started, items, read state, status idle, turn completed", async () => {
    client.frames.length = 0;
    const { turn } = await start("hi", { clientUserMessageId: "c-1" });
    await client.turnsCompleted(1);
    expect(short(client)).toEqual([
      "response",
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/readState/changed",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    expect(turn).toMatchObject({ status: "inProgress", items: [], itemsView: "notLoaded", startedAt: null });
    expect(client.of("item/completed")[0]!.params.item).toMatchObject({ clientId: "c-1", content: text("hi") });
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ id: turn.id, status: "completed", itemsView: "summary" });
    for (const notice of client.notices) expect(notice).toHaveProperty("emittedAtMs", expect.any(Number));
  });

  test("thread/start answers before thread/started", async () => {
    client.frames.length = 0;
    await client.call("thread/start", { cwd: "/w" });
    await client.notice("thread/started");
    expect(short(client)).toEqual(["response", "thread/started"]);
  });

  test("changed settings are announced before the turn's response", async () => {
    client.frames.length = 0;
    await start("hi", { model: "fake/two", effort: "low" });
    expect(short(client).slice(0, 2)).toEqual(["thread/settings/updated", "response"]);
    await client.turnsCompleted(1);
    expect(setup.adapter.sessions[0]!.request.options).toEqual({ cwd: "/w", model: "two", thinking: "low", permissionMode: null });
  });

  test("a failed turn ends with its error and the status systemError; the next turn runs", async () => {
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      session.end({ status: "failed", error: { message: "no luck" } });
    };
    await start("hi");
    await client.turnsCompleted(1);
    expect(short(client).slice(-4)).toEqual(["error", "thread/readState/changed", "thread/status/changed systemError", "turn/completed"]);
    expect(client.of("error")[0]!.params).toMatchObject({ threadId, error: { message: "no luck", codexErrorInfo: "other" }, willRetry: false });
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      session.end({ status: "succeeded" });
    };
    await start("again");
    await client.turnsCompleted(2);
    expect(client.of("turn/completed")[1]!.params.turn.status).toBe("completed");
  });

  test("usage is summed over the thread where the harness reports single responses", async () => {
    const report = (input: number): HarnessEvent => ({ type: "usage.updated", usage: { last: { input, output: 10 } }, at: 1 });
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      session.emit(report(100));
      session.emit(report(200));
      session.end({ status: "succeeded" });
    };
    await start("one");
    await client.turnsCompleted(1);
    const usage = client.of("thread/tokenUsage/updated").map(({ params }) => [params.tokenUsage.last.totalTokens, params.tokenUsage.total.totalTokens]);
    expect(usage).toEqual([[110, 110], [210, 320]]);
  });

  test("the diff is sent after the first change, at most four times a second, and once more at the end", async () => {
    const { session } = await runningTurn();
    for (let at = 0; at < 50; at += 1) {
      session.emit({ type: "item.started", item: { kind: "fileChange", id: `f${at}`, edits: [{ path: "/w/a.txt", before: `${at}\n`, after: `${at + 1}\n` }] }, at: 1 });
      session.emit({ type: "item.completed", itemId: `f${at}`, outcome: { status: "succeeded" }, at: 1 });
    }
    session.end({ status: "succeeded" });
    await client.turnsCompleted(1);
    const diffs = client.of("turn/diff/updated");
    expect(diffs.length).toBe(2);
    expect(diffs.at(-1)!.params.diff).toContain("-0\n+50");
    expect(short(client).indexOf("turn/diff/updated")).toBeLessThan(short(client).indexOf("turn/completed"));
  });
});

describe("interrupt", () => {
  test("answers first, then the turn ends as interrupted", async () => {
    const { turnId } = await runningTurn();
    client.frames.length = 0;
    expect(await client.call("turn/interrupt", { threadId, turnId })).toEqual({});
    await client.turnsCompleted(1);
    expect(short(client)).toEqual(["response", "thread/readState/changed", "thread/status/changed idle", "turn/completed"]);
    expect(client.of("turn/completed")[0]!.params.turn.status).toBe("interrupted");
    expect((await client.request("turn/interrupt", { threadId, turnId })).error?.message).toBe("no active turn to interrupt");
  });

  test("of another turn names both, without backticks; steering names them with", async () => {
    const { turnId } = await runningTurn();
    expect((await client.request("turn/interrupt", { threadId, turnId: "other" })).error?.message).toBe(`expected active turn id other but found ${turnId}`);
    expect((await client.request("turn/steer", { threadId, input: text("x"), expectedTurnId: "other" })).error?.message)
      .toBe(`expected active turn id \`other\` but found \`${turnId}\``);
  });

  test("while the harness still opens ends the turn at once and starts nothing", async () => {
    let open!: () => void;
    setup.adapter.beforeOpen = () => new Promise((resolve) => (open = resolve));
    const { turn } = await start("hi");
    await client.notice("thread/status/changed");
    await client.call("turn/interrupt", { threadId, turnId: turn.id });
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ id: turn.id, status: "interrupted" });
    open();
    setup.adapter.beforeOpen = () => Promise.resolve();
    await start("again");
    await client.turnsCompleted(2);
    expect(setup.adapter.sessions.length).toBe(1);
    expect(setup.adapter.turns).toBe(1);
  });
});

describe("input for a running turn", () => {
  test("turn/start adds to the running turn and answers with its id", async () => {
    const { session, turnId } = await runningTurn();
    const { turn } = await start("more", { clientUserMessageId: "c-2" });
    expect(turn.id).toBe(turnId);
    session.end({ status: "succeeded" });
    await client.turnsCompleted(1);
    expect(session.steered.map((input) => input.clientId)).toEqual(["c-2"]);
    expect(client.of("item/completed").map(({ params }) => params.item.clientId)).toEqual([null, "c-2"]);
    expect(new Set(client.of("turn/started").map(({ params }) => params.turn.id)).size).toBe(1);
  });

  test("that comes before the harness knows of the turn goes in as soon as it does", async () => {
    let open!: () => void;
    setup.adapter.beforeOpen = () => new Promise((resolve) => (open = resolve));
    const { turn } = await start("hi");
    await client.call("turn/steer", { threadId, input: text("and this"), expectedTurnId: turn.id, clientUserMessageId: "c-2" });
    setup.adapter.script = (session, input, key) => session.begin(key, input);
    open();
    await client.until("the second message", () => client.of("item/completed").find(({ params }) => params.item.clientId === "c-2"));
    expect(setup.adapter.sessions[0]!.steered.map((input) => input.clientId)).toEqual(["c-2"]);
    setup.adapter.sessions[0]!.end({ status: "succeeded" });
    await client.turnsCompleted(1);
    expect(setup.adapter.turns).toBe(1);
    expect((await client.call("thread/queue/list", { threadId })).data).toEqual([]);
  });

  test("where the harness cannot steer it becomes the next turn, which starts by itself", async () => {
    await setup.host.close();
    const { fakeEntry } = await import("../testing/fake-adapter.ts");
    const made: FakeAdapter[] = [];
    setup = await startTestHost({ harnesses: [fakeEntry((adapter) => made.push(adapter), "fake", { steer: false })] });
    client = await connectStdio(setup.host).initialize();
    threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
    const adapter = made[0]!;
    adapter.script = (session, input, key) => session.begin(key, input);
    const { turn } = await start("first");
    await client.notice("turn/started");
    const queued = await client.call("turn/steer", { threadId, input: text("second"), expectedTurnId: turn.id, clientUserMessageId: "c-2" });
    expect(queued).toEqual({ turnId: turn.id });
    adapter.sessions[0]!.end({ status: "succeeded" });
    await client.until("the second turn", () => client.of("turn/started")[1]);
    adapter.sessions[0]!.end({ status: "succeeded" });
    await client.turnsCompleted(2);
    const messages = client.of("item/completed").map(({ params }) => [params.turnId === turn.id, params.item.clientId]);
    expect(messages).toEqual([[true, null], [false, "c-2"]]);
  });
});

describe("turns without a name", () => {
  test("an interrupt that names none is for whatever runs, and nothing is no error", async () => {
    expect(await client.call("turn/interrupt", { threadId, turnId: "" })).toEqual({});
    const { session } = await runningTurn();
    expect(await client.call("turn/interrupt", { threadId, turnId: "" })).toEqual({});
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")[0]!.params.turn.status).toBe("interrupted");
    expect(session.closed).toBe(false);
  });

  test("a steer says something, and to which turn", async () => {
    const { turnId } = await runningTurn();
    const refusal = async (params: object): Promise<string | undefined> => (await client.request("turn/steer", { threadId, input: text("x"), expectedTurnId: turnId, ...params })).error?.message;
    expect(await refusal({ input: [] })).toBe("input must not be empty");
    expect(await refusal({ expectedTurnId: "" })).toBe("expectedTurnId must not be empty");
  });
});

describe("a harness that misbehaves", () => {
  test("cannot be opened: the turn fails with its words, the thread lives on", async () => {
    setup.adapter.beforeOpen = () => Promise.reject(new Error("not logged in; run fake login"));
    await start("hi");
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ status: "failed", error: { message: "not logged in; run fake login" } });
    expect(client.of("turn/started")).toHaveLength(1);
    setup.adapter.beforeOpen = () => Promise.resolve();
    await start("again");
    await client.turnsCompleted(2);
    expect(client.of("turn/completed")[1]!.params.turn.status).toBe("completed");
  });

  test.each([["throws", new Error("boom")], ["ends", null]])("its event stream %s: the turn fails, other threads go on, the next turn resumes", async (_how, error) => {
    const { session } = await runningTurn();
    const other = (await client.call("thread/start", { cwd: "/w" })).thread.id;
    session.breakOff(error);
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ status: "failed", error: { message: error?.message ?? "the harness ended unexpectedly" } });
    setup.adapter.script = (session2, input, key) => {
      session2.begin(key, input);
      session2.end({ status: "succeeded" });
    };
    await client.call("turn/start", { threadId: other, input: text("x") });
    await client.turnsCompleted(2);
    await start("again");
    await client.turnsCompleted(3);
    expect(setup.adapter.sessions.at(-1)!.request).toMatchObject({ kind: "resume", nativeSessionId: session.nativeSessionId });
  });

  test("a fault fails the running turn with its error", async () => {
    const { session } = await runningTurn();
    session.emit({ type: "fault", error: { message: "crashed" }, at: 5 });
    session.breakOff();
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")).toHaveLength(1);
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ status: "failed", error: { message: "crashed" } });
  });

  test("an agent that starts by itself gets a turn of its own", async () => {
    await start("hi");
    await client.turnsCompleted(1);
    const session = setup.adapter.sessions[0]!;
    session.emit({ type: "turn.started", turnKey: "own", at: 5, input: [], origin: "agent" });
    session.message("m", "by myself");
    session.end({ status: "succeeded" });
    await client.turnsCompleted(2);
    expect(client.of("turn/completed")[1]!.params.turn.items.at(-1)).toMatchObject({ text: "by myself", phase: "final_answer" });
  });

  test("a turn that an agent started by itself is stopped in the agent", async () => {
    await start("hi");
    await client.turnsCompleted(1);
    const session = setup.adapter.sessions[0]!;
    session.emit({ type: "turn.started", turnKey: "own", at: 5, input: [], origin: "agent" });
    const own = await client.until("its own turn", () => client.of("turn/started")[1]);
    await client.call("turn/interrupt", { threadId, turnId: own.params.turn.id });
    await client.turnsCompleted(2);
    expect(session.cancels).toBe(1);
    expect(client.of("turn/completed")[1]!.params.turn.status).toBe("interrupted");
  });
});

test("a title is made from the prompt and costs no harness turn", async () => {
  const { thread } = await client.call("thread/start", { cwd: "/w", ephemeral: true, permissions: ":read-only", threadSource: "thread_title" });
  await client.call("turn/start", {
    threadId: thread.id,
    input: text("Generate a concise title.\n\nUser prompt:\n\nplease rename the whole module of parsers"),
    outputSchema: { type: "object", properties: { title: { type: "string", maxLength: 24 } } },
  });
  await client.turnsCompleted(1);
  const answer = client.of("item/completed").at(-1)!.params.item;
  expect(JSON.parse(answer.text ?? "")).toEqual({ title: "please rename the…" });
  expect(setup.adapter.sessions).toEqual([]);
  client.frames.length = 0;
  expect(await client.call("thread/unsubscribe", { threadId: thread.id })).toEqual({ status: "unsubscribed" });
  await client.notice("thread/closed");
  expect((await client.call("thread/loaded/list", {})).data).toEqual([threadId]);
});
