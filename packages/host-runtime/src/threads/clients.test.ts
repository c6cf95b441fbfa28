import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listen } from "../rpc/listen.ts";
import type { Listener } from "../rpc/listen.ts";
import { connectStdio, connectWebSocket, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import type { FakeSession } from "../testing/fake-adapter.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
const methods = (client: TestClient): string[] => client.notices.map((notice) => notice.method);

let setup: TestHost;
let one: TestClient;
let threadId: string;
beforeEach(async () => {
  setup = await startTestHost();
  one = await connectStdio(setup.host).initialize({ name: "one" });
  threadId = (await one.call("thread/start", { cwd: "/w" })).thread.id;
});
afterEach(() => setup.host.close());

async function running(): Promise<{ session: FakeSession; turnId: string }> {
  setup.adapter.script = (session, input, key) => session.begin(key, input);
  const { turn } = await one.call("turn/start", { threadId, input: text("go") });
  await one.notice("item/completed");
  return { session: setup.adapter.sessions.at(-1)!, turnId: turn.id };
}

describe("several clients", () => {
  test("all hear of threads and their status; only subscribers hear of turns", async () => {
    const two = await connectStdio(setup.host).initialize({ name: "two" });
    const silent = connectStdio(setup.host);
    const created = (await one.call("thread/start", { cwd: "/w" })).thread.id;
    await two.notice("thread/started", ({ params }) => params.thread.id === created);
    await one.call("turn/start", { threadId, input: text("go") });
    await one.turnsCompleted(1);
    await two.notice("thread/status/changed", ({ params }) => params.status.type === "idle");
    expect(methods(two)).toEqual([
      "remoteControl/status/changed", "thread/started", "thread/status/changed", "thread/readState/changed", "thread/status/changed",
    ]);
    expect(silent.frames).toEqual([]);
  });

  test("an opted-out notification is kept from that client alone", async () => {
    const two = await connectStdio(setup.host).initialize({ capabilities: { optOutNotificationMethods: ["item/agentMessage/delta", "thread/started", "nonsense"] } });
    await two.call("thread/resume", { threadId });
    await one.call("turn/start", { threadId, input: text("go") });
    await Promise.all([one.turnsCompleted(1), two.turnsCompleted(1)]);
    const own = (client: TestClient): string[] => methods(client).filter((method) => /^(item|turn)\//.test(method));
    expect(own(one)).toContain("item/agentMessage/delta");
    expect(own(two)).toEqual(own(one).filter((method) => method !== "item/agentMessage/delta"));
  });

  test("a late joiner has the running turn's state and then every event, none twice", async () => {
    const { session, turnId } = await running();
    session.message("a", "first");
    session.emit({ type: "item.started", item: { kind: "message", id: "b" }, at: 1 });
    session.emit({ type: "item.updated", itemId: "b", update: { type: "text", append: "sec" }, at: 1 });
    await one.notice("item/agentMessage/delta", ({ params }) => params.delta === "sec");
    const two = await connectStdio(setup.host).initialize();
    const desktop = await connectStdio(setup.host).initialize({ name: "Codex Desktop" });
    const joined = [
      await two.call("thread/resume", { threadId, initialTurnsPage: { limit: 1, itemsView: "full" }, excludeTurns: true }),
      await desktop.call("thread/resume", { threadId, initialTurnsPage: { limit: 1, itemsView: "full" }, excludeTurns: true }),
    ];
    session.emit({ type: "item.updated", itemId: "b", update: { type: "text", append: "ond" }, at: 1 });
    session.emit({ type: "item.completed", itemId: "b", outcome: { status: "succeeded" }, at: 1 });
    session.end({ status: "succeeded" });
    await Promise.all([two.turnsCompleted(1), desktop.turnsCompleted(1)]);
    const items = joined.map((answer) => answer.initialTurnsPage.data[0]!.items.map((item) => item.text ?? item.type));
    expect(joined[0]!.thread.status).toEqual({ type: "active", activeFlags: [] });
    // One that does not replace items by id gets what is complete; the other gets all there is.
    expect(items[0]).toEqual(["userMessage", "first"]);
    expect(items[1]).toEqual(["userMessage", "first", "sec"]);
    const texts = (client: TestClient) => client.of("item/completed").filter(({ params }) => params.turnId === turnId).map(({ params }) => params.item.text);
    expect(texts(two)).toEqual(["second"]);
    expect(texts(desktop)).toEqual(["second", "second"]);
    expect(two.of("item/agentMessage/delta").map(({ params }) => params.delta)).toEqual(["ond"]);
  });

  test("events that happen while a resume is answered come after the answer", async () => {
    const { session } = await running();
    const two = await connectStdio(setup.host).initialize();
    two.frames.length = 0;
    const resumed = two.call("thread/resume", { threadId });
    for (let at = 0; at < 20; at += 1) {
      session.message(`m${at}`, `text ${at}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { thread } = await resumed;
    session.end({ status: "succeeded" });
    await two.turnsCompleted(1);
    const answerAt = two.frames.findIndex((frame) => "result" in frame);
    expect(two.frames.slice(0, answerAt).filter((frame) => /^(item|turn)\//.test(String(frame["method"])))).toEqual([]);
    const before = thread.turns[0]!.items.flatMap((item) => (item.type === "agentMessage" ? [item.text] : []));
    const after = two.of("item/completed").map(({ params }) => params.item.text);
    expect([...before, ...after]).toEqual(Array.from({ length: 20 }, (_, at) => `text ${at}`));
  });

  test("unsubscribe: three answers; the thread stays loaded", async () => {
    expect(await one.call("thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    expect(await one.call("thread/unsubscribe", { threadId })).toEqual({ status: "notSubscribed" });
    expect(await one.call("thread/unsubscribe", { threadId: "01a229e6-56e9-7781-be3d-000000000000" })).toEqual({ status: "notLoaded" });
    expect((await one.call("thread/loaded/list", {})).data).toEqual([threadId]);
  });

  test("the user agent starts with the first client of the process and ends with the one that asks", async () => {
    const two = connectStdio(setup.host);
    const { userAgent } = await two.call("initialize", { clientInfo: { name: "two", version: "9.1" } });
    expect(userAgent).toMatch(/^one\/0\.171\.0 \(.+; .+\) .+ \(two; 9\.1\)$/);
  });

  test("read state: a conflict carries the present state; a new one goes to all", async () => {
    const two = await connectStdio(setup.host).initialize();
    const { turn } = await one.call("turn/start", { threadId, input: text("go") });
    const { params } = await two.notice("thread/readState/changed");
    expect(params.readState.firstUnread).toEqual({ type: "turn", turnId: turn.id });
    const conflict = await one.request("thread/readState/update", { threadId, operation: { type: "read" }, expectedRevision: "old" });
    expect(conflict.error?.data).toEqual({ reason: "readStateConflict", readState: params.readState });
    const { readState } = await one.call("thread/readState/update", { threadId, operation: { type: "read" }, expectedRevision: params.readState.revision });
    expect(readState.firstUnread).toBeNull();
    await two.notice("thread/readState/changed", (notice) => notice.params.readState.revision === readState.revision);
  });
});

describe("names, archive, delete", () => {
  test("a name goes to all, archived threads leave the list, deleted ones are gone", async () => {
    const two = await connectStdio(setup.host).initialize();
    await one.call("turn/start", { threadId, input: text("go") });
    await one.turnsCompleted(1);
    await one.call("thread/name/set", { threadId, name: " mine " });
    await two.notice("thread/name/updated", ({ params }) => params.threadName === "mine");
    expect((await two.call("thread/list", { searchTerm: "MINE" })).data).toHaveLength(1);
    await one.call("thread/archive", { threadId });
    await two.notice("thread/archived");
    expect((await two.call("thread/list", {})).data).toEqual([]);
    expect((await two.call("thread/list", { archived: true })).data[0]).toMatchObject({ id: threadId, name: "mine", status: { type: "notLoaded" } });
    expect((await one.call("thread/unarchive", { threadId })).thread.name).toBe("mine");
    await one.call("thread/delete", { threadId });
    await two.notice("thread/deleted");
    expect((await one.request("thread/read", { threadId })).error?.message).toBe(`thread not loaded: ${threadId}`);
  });

  test("an archived thread can be read and not resumed; taken out again it goes on in its session, with its turns", async () => {
    await one.call("turn/start", { threadId, input: text("go") });
    await one.turnsCompleted(1);
    await one.call("thread/archive", { threadId });
    expect(setup.adapter.sessions[0]!.closed).toBe(true);
    const refused = `session ${threadId} is archived. Run \`codex unarchive ${threadId}\` to unarchive it first.`;
    for (const method of ["thread/resume", "thread/fork", "thread/queue/list"]) expect((await one.request(method, { threadId })).error?.message).toBe(refused);
    for (const method of ["thread/archive", "thread/name/set"]) expect((await one.request(method, { threadId, name: "x" })).error?.message).toBe(`no rollout found for thread id ${threadId}`);
    expect((await one.request("thread/revert", { threadId, beforeTurnId: "x" })).error?.message).toBe(`thread not found: ${threadId}`);
    expect((await one.call("thread/read", { threadId, includeTurns: true })).thread.turns).toHaveLength(1);
    await one.call("thread/unarchive", { threadId });
    const { thread } = await one.call("thread/resume", { threadId });
    expect(thread.turns).toHaveLength(1);
    await one.call("turn/start", { threadId, input: text("again") });
    await one.turnsCompleted(2);
    expect(setup.adapter.sessions[1]!.request.kind).toBe("resume");
  });
});

describe("a thread before its first turn", () => {
  test("can be put away, taken out, forked, and moved, as one with turns", async () => {
    await one.call("thread/settings/update", { threadId, model: "fake/two" });
    await one.call("thread/archive", { threadId });
    await one.notice("thread/status/changed", ({ params }) => params.status.type === "notLoaded");
    expect((await one.call("thread/list", { archived: true })).data.map(({ id }) => id)).toEqual([threadId]);
    expect((await one.call("thread/unarchive", { threadId })).thread).toMatchObject({ id: threadId, status: { type: "notLoaded" }, model: "fake/two" });
    expect((await one.call("thread/list", {})).data).toEqual([]);
    await one.call("thread/section/move", { threadId, sectionId: null });
    expect((await one.request("thread/fork", { threadId, lastTurnId: "nope" })).error?.message).toBe("turn not found: nope");
    const fork = (await one.call("thread/fork", { threadId })).thread;
    expect(fork).toMatchObject({ forkedFromId: threadId, turns: [], model: "fake/two" });
    expect((await one.request("thread/revert", { threadId: fork.id, beforeTurnId: "nope" })).error?.message).toBe("turn not found: nope");
    await one.call("turn/start", { threadId: fork.id, input: text("go") });
    await one.turnsCompleted(1);
    expect(setup.adapter.sessions[0]!.request.options.model).toBe("two");
  });

  test("that is ephemeral is refused in Codex's words what it does only for others", async () => {
    const { id } = (await one.call("thread/start", { cwd: "/w", ephemeral: true })).thread;
    const refusal = async (method: string, params: object): Promise<string | undefined> => (await one.request(method, { threadId: id, ...params })).error?.message;
    expect(await refusal("thread/delete", {})).toBe(`thread is not persisted and cannot be deleted: ${id}`);
    expect(await refusal("thread/metadata/update", { gitInfo: { branch: "b" } })).toBe(`ephemeral thread does not support metadata updates: ${id}`);
    expect(await refusal("thread/section/move", { sectionId: null })).toBe(`ephemeral thread does not support section moves: ${id}`);
    expect(await refusal("thread/queue/list", {})).toBe(`ephemeral thread does not support queued submissions: ${id}`);
    expect(await refusal("thread/queue/add", { input: text("q"), clientUserMessageId: "q" })).toBe(`ephemeral thread does not support queued submissions: ${id}`);
  });
});

describe("git information", () => {
  test("is taken away member by member, and is none when all are gone", async () => {
    const update = (gitInfo: object) => one.request("thread/metadata/update", { threadId, gitInfo });
    const after = async (gitInfo: object): Promise<unknown> => ((await update(gitInfo)).result?.thread as unknown as { gitInfo: unknown }).gitInfo;
    expect(await after({ branch: " main ", sha: "1" })).toEqual({ sha: "1", branch: "main", originUrl: null });
    expect(await after({ sha: null })).toEqual({ sha: null, branch: "main", originUrl: null });
    expect((await update({})).error?.message).toBe("gitInfo must include at least one field");
    expect((await update({ branch: " " })).error?.message).toBe("gitInfo.branch must not be empty");
    expect(await after({ branch: null })).toBeNull();
  });
});

describe("models", () => {
  test("a thread runs what it names first, then stays with that harness", async () => {
    await setup.host.close();
    const { fakeEntry } = await import("../testing/fake-adapter.ts");
    setup = await startTestHost({ harnesses: [fakeEntry(() => undefined, "first"), fakeEntry(() => undefined, "second")] });
    one = await connectStdio(setup.host).initialize();
    const { thread, model } = await one.call("thread/start", { cwd: "/w", model: "gpt-unknown" });
    expect(model).toBe("first/one");
    const desktopChoice = { mode: "default", settings: { model: "second/two", reasoning_effort: "low", developer_instructions: null } };
    await one.call("turn/start", { threadId: thread.id, input: text("x"), model: null, collaborationMode: desktopChoice });
    await one.turnsCompleted(1);
    expect((await one.call("thread/read", { threadId: thread.id })).thread).toMatchObject({ model: "second/two", reasoningEffort: "low" });
    expect((await one.request("turn/start", { threadId: thread.id, input: text("x"), model: "first/one" })).error?.message).toMatch(/start a new thread/);
    expect((await one.request("turn/start", { threadId: thread.id, input: text("x"), model: "nope/x" })).error?.message).toMatch(/not available; available: `first\/one`, /);
    await one.call("turn/start", { threadId: thread.id, input: text("x"), model: "second/one" });
    await one.turnsCompleted(2);
    expect((await one.call("thread/read", { threadId: thread.id })).thread.model).toBe("second/one");
  });

  test("a model written to the configuration is that client's default for later threads", async () => {
    const two = await connectStdio(setup.host).initialize();
    await one.call("config/batchWrite", { edits: [{ keyPath: "model", value: "fake/two", mergeStrategy: "replace" }, { keyPath: "a.b", value: 1, mergeStrategy: "upsert" }] });
    expect((await one.call("config/read", { cwd: "/w" })).config).toMatchObject({ model: "fake/two", a: { b: 1 }, projects: { "/w": { trust_level: "trusted" } } });
    expect((await two.call("config/read", {})).config.model).toBe("fake/one");
    expect((await one.call("thread/start", { cwd: "/w" })).model).toBe("fake/two");
    expect((await two.call("thread/start", { cwd: "/w" })).model).toBe("fake/one");
  });

  test("model/list pages", async () => {
    const first = await one.call("model/list", { limit: 1 });
    expect([first.data[0]?.id, first.data[0]?.isDefault, first.nextCursor]).toEqual(["fake/one", true, "1"]);
    expect((await one.call("model/list", { cursor: first.nextCursor })).data.map((model) => model.id)).toEqual(["fake/two"]);
  });
});

describe("slow and broken links", () => {
  let listener: Listener;
  beforeEach(async () => {
    listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => setup.host.connect(transport), token: null });
  });
  afterEach(() => listener.close());

  test("a reader that stops reading is cut off; the other gets everything", async () => {
    await setup.host.close();
    setup = await startTestHost({ limits: { maxQueuedBytes: 2_000_000, maxOpenRequests: 100 } });
    one = await connectStdio(setup.host).initialize();
    threadId = (await one.call("thread/start", { cwd: "/w" })).thread.id;
    const slow = await connectWebSocket(listener.url);
    await slow.initialize();
    await slow.call("thread/resume", { threadId });
    const { session } = await running();
    slow.socket.pause();
    session.emit({ type: "item.started", item: { kind: "message", id: "m" }, at: 1 });
    let sent = 0;
    while (setup.host.threads.loaded(threadId)!.feed.subscribers.size > 1 && sent < 200_000) {
      for (let at = 0; at < 500; at += 1, sent += 1) session.emit({ type: "item.updated", itemId: "m", update: { type: "text", append: "x".repeat(100) }, at: 1 });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(setup.host.threads.loaded(threadId)!.feed.subscribers.size).toBe(1);
    session.end({ status: "succeeded" });
    await one.turnsCompleted(1);
    expect(one.of("item/agentMessage/delta")).toHaveLength(sent);
    slow.socket.resume();
    await slow.until("the end", () => (slow.closed ? true : undefined));
  });

  test("a half-open link, which no end of the other side ever comes through, is let go; one that answers pings is not", async () => {
    await listener.close();
    listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => setup.host.connect(transport), token: null, heartbeatMs: 250 });
    const alive = await connectWebSocket(listener.url);
    const silent = await connectWebSocket(listener.url);
    for (const client of [alive, silent]) {
      await client.initialize();
      await client.call("thread/resume", { threadId });
    }
    let pings = 0;
    alive.socket.on("ping", () => (pings += 1));
    // As after a pulled cable: nothing is read and nothing is closed.
    silent.socket.pause();
    const { feed } = setup.host.threads.loaded(threadId)!;
    await one.until("the end of the silent one", () => (feed.subscribers.size === 2 ? true : undefined));
    const before = pings;
    await one.until("two more pings of the other", () => (pings >= before + 2 ? true : undefined));
    expect(feed.subscribers.size).toBe(2);
    expect(alive.closed).toBe(false);
    silent.socket.terminate();
  });

  test("a client that vanishes in the middle of a turn leaves it running", async () => {
    const gone = await connectWebSocket(listener.url);
    await gone.initialize();
    await gone.call("thread/resume", { threadId });
    const { session } = await running();
    gone.socket.terminate();
    session.message("a", "still here");
    session.end({ status: "succeeded" });
    await one.turnsCompleted(1);
    expect(one.of("turn/completed")[0]!.params.turn.status).toBe("completed");
  });
});
