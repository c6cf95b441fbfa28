import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { MemoryThreadStore } from "../store/memory.ts";
import { FakeUpstream } from "./testing/fake-upstream.ts";
import { nativeId, serveThreads } from "./testing/native-threads.ts";
import type { NativeThread } from "./testing/native-threads.ts";

const prompt = (text: string): object[] => [{ type: "text", text, text_elements: [] }];
const MODELS = [
  { id: "gpt", model: "gpt", displayName: "GPT", description: "d", hidden: false, supportedReasoningEfforts: [], defaultReasoningEffort: "low", isDefault: true, later: 1 },
  { id: "gpt-mini", model: "gpt-mini", displayName: "Mini", description: "d", hidden: false, supportedReasoningEfforts: [], defaultReasoningEffort: "low", isDefault: false },
];

let upstream: FakeUpstream;
let setup: TestHost;
let store: MemoryThreadStore;
let threads: NativeThread[];
let deleted: string[];
let client: TestClient;

beforeEach(async () => {
  upstream = new FakeUpstream();
  ({ threads, deleted } = serveThreads(upstream));
  upstream.start();
  await upstream.ready();
  store = new MemoryThreadStore();
  setup = await startTestHost({ native: upstream, store });
  client = await connectStdio(setup.host).initialize();
});
afterEach(() => setup.host.close());

async function foreignTurn(on: TestClient, text: string): Promise<string> {
  const { thread } = await on.call("thread/start", { model: "fake/one", cwd: "/w" });
  await on.call("turn/start", { threadId: thread.id, input: prompt(text) });
  await on.notice("turn/completed", ({ params }) => params.threadId === thread.id);
  return thread.id;
}

describe("a thread of the real server for which a model of ours is chosen", () => {
  test.each([
    ["turn/start", { model: "fake/one" }],
    ["turn/start in its mode", { model: null, collaborationMode: { mode: "default", settings: { model: "fake/one", reasoning_effort: null, developer_instructions: null } } }],
  ])("is ours under its id from then on, by %s", async (_name, choice) => {
    const { thread } = await client.call("thread/start", { cwd: "/w", approvalPolicy: "never", threadSource: "user" });
    await client.call("turn/start", { threadId: thread.id, input: prompt("hi"), ...choice });
    await client.turnsCompleted(1);
    expect(client.of("item/completed").map(({ params }) => params.item.text ?? null)).toContain("echo: hi");
    expect(upstream.requests("turn/start")).toEqual([]);
    expect(setup.adapter.sessions[0]!.request).toMatchObject({ options: { cwd: "/w" } });
    expect((await client.call("thread/read", { threadId: thread.id, includeTurns: true })).thread.turns).toHaveLength(1);
    expect(upstream.requests("thread/read")).toEqual([]);
  });

  test("by its settings; what it was told before holds, and what the real server says of it is not heard any more", async () => {
    const { thread } = await client.call("thread/start", { cwd: "/w" });
    await client.call("thread/settings/update", { threadId: thread.id, effort: "high", cwd: "/other" });
    await client.call("thread/settings/update", { threadId: thread.id, model: "fake/one" });
    expect(upstream.requests("thread/settings/update")).toHaveLength(1);
    await client.call("turn/start", { threadId: thread.id, input: prompt("hi") });
    await client.turnsCompleted(1);
    expect(setup.adapter.sessions[0]!.request).toMatchObject({ options: { cwd: "/other", thinking: "high" } });
    await client.until("the real server's copy to be gone", () => deleted[0]);
    upstream.broadcast("thread/status/changed", { threadId: thread.id, status: { type: "notLoaded" } });
    upstream.broadcast("skills/changed", {});
    await client.notice("skills/changed");
    expect(deleted).toEqual([thread.id]);
    expect(client.of("thread/deleted")).toEqual([]);
    expect(client.of("thread/status/changed").map(({ params }) => params.status.type)).not.toContain("notLoaded");
  });

  test("stays the real server's once it has had a turn, and the client is told what to do", async () => {
    const { thread } = await client.call("thread/start", {});
    await client.call("turn/start", { threadId: thread.id, input: prompt("hi") });
    const words = "this thread runs on Codex, and `fake/one` belongs to another harness; start a new thread to use it";
    expect(await client.request("turn/start", { threadId: thread.id, model: "fake/one", input: prompt("x") })).toMatchObject({ error: { code: -32600, message: words } });
    expect(await client.request("thread/settings/update", { threadId: thread.id, model: "fake/one" })).toMatchObject({ error: { message: words } });
    expect(upstream.requests("turn/start")).toHaveLength(1);
  });

  test("can still be taken over when its first turn was refused", async () => {
    upstream.on("turn/start", () => new Error("no login"));
    const { thread } = await client.call("thread/start", {});
    expect((await client.request("turn/start", { threadId: thread.id, input: prompt("hi") })).error?.message).toBe("no login");
    await client.call("turn/start", { threadId: thread.id, model: "fake/one", input: prompt("hi") });
    await client.turnsCompleted(1);
  });

  test("is opened with its own model all the same", async () => {
    const frame = (model: string): string => `{"id":9007199254740993,"method":"thread/resume","params":{"n": 9007199254740993,"model":${model},"threadId":"${nativeId(7)}"}}`;
    client.sendRaw(frame('"fake/one"'));
    await client.until("the answer", () => client.frames.find((each) => "result" in each && each["id"] !== 1));
    expect(upstream.links[0]!.received.at(-1)!.toString()).toBe(frame("null"));
  });

  test("a model that only looks like ours is the real server's business", async () => {
    const answer = await client.call("thread/start", { model: "fake/none" });
    expect(answer.model).toBe("fake/none");
  });
});

describe("one list", () => {
  test("of native and foreign threads, in pages, with the states of both", async () => {
    const ours = [await foreignTurn(client, "a"), await foreignTurn(client, "b"), await foreignTurn(client, "c")];
    const now = Math.floor(setup.host.now() / 1000);
    for (const n of [1, 2, 3, 4]) threads.push({ id: nativeId(n), createdAt: now + (n % 2 === 0 ? 100 : -100) * n, preview: `p${String(n)}` });
    const seen: string[] = [];
    const cursors = new Set<string | null>();
    for (let cursor: string | null = null; ;) {
      const page = await client.call("thread/list", { limit: 2, cursor });
      seen.push(...page.data.map(({ id }) => id));
      expect(cursors.has(page.nextCursor)).toBe(false);
      cursors.add(page.nextCursor);
      expect(Object.keys((page as unknown as { readStates: object }).readStates)).toEqual(expect.arrayContaining(page.data.map(({ id }) => id)));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    expect(seen.slice(0, 2)).toEqual([nativeId(4), nativeId(2)]);
    expect(seen.slice(2, 5).toSorted()).toEqual(ours.toSorted());
    expect(seen.slice(5)).toEqual([nativeId(1), nativeId(3)]);
    const first = await client.call("thread/list", { limit: 2 });
    const newer = await client.call("thread/list", { sortDirection: "asc", cursor: first.backwardsCursor });
    expect(newer.data.map(({ id }) => id)).toEqual(expect.arrayContaining([nativeId(4)]));
  });

  test("is the real server's own answer where none of ours is in it, and its cursors are its own", async () => {
    for (const n of [1, 2, 3]) threads.push({ id: nativeId(n), createdAt: n, preview: "" });
    const page = await client.call("thread/list", { limit: 2 });
    expect(page.nextCursor).toBe("n2");
    await foreignTurn(client, "a");
    expect((await client.call("thread/list", { limit: 2, cursor: "n2" })).data.map(({ id }) => id)).toEqual([nativeId(1)]);
    expect((await client.request("thread/list", { cursor: "garbage" })).error?.message).toBe("invalid cursor: garbage");
    // The real server would be asked for a thread that it never had.
    const ours = await foreignTurn(client, "b");
    expect((await client.call("thread/list", { ancestorThreadId: ours })).data).toEqual([]);
    await client.call("thread/delete", { threadId: ours });
    // A filter of a later Codex is none that ours could pass.
    expect((await client.call("thread/list", { isPinned: true })).data).toHaveLength(3);
    expect((await client.call("thread/list", { isPinned: false })).data).toHaveLength(4);
  });

  test("of models: the real server's first and as they are, ours with the members that its own have", async () => {
    upstream.on("model/list", ({ cursor, limit }) => {
      const from = cursor == null ? 0 : Number(cursor);
      const to = limit == null ? MODELS.length : from + Number(limit);
      return { data: MODELS.slice(from, to), nextCursor: to < MODELS.length ? String(to) : null };
    });
    const { data, nextCursor } = await client.call("model/list", { includeHidden: true, limit: 100 });
    expect(data.slice(0, 2)).toEqual(MODELS);
    expect(data.slice(2).map(({ id, isDefault }) => [id, isDefault])).toEqual([["fake/one", false], ["fake/two", false]]);
    for (const model of data.slice(2)) expect(Object.keys(MODELS[1]!)).toEqual(expect.arrayContaining(Object.keys(model)));
    expect(nextCursor).toBeNull();
    const ids: string[][] = [];
    for (let cursor: string | null = null; ;) {
      const page = await client.call("model/list", { limit: 3, cursor });
      ids.push(page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    expect(ids).toEqual([["gpt", "gpt-mini", "fake/one"], ["fake/two"]]);
  });
});

test("sections are the real server's, and threads of ours stand in them", async () => {
  let name = "Work";
  upstream.on("threadSection/list", () => ({ data: [{ id: "s1", name, appearance: null }], nextCursor: null }));
  upstream.on("threadSection/update", (params) => ((name = String(params["name"])), { section: { id: "s1", name } })).on("threadSection/delete", () => ({})).on("thread/section/move", () => ({}));
  const id = await foreignTurn(client, "a");
  await client.call("thread/section/move", { threadId: id, sectionId: "s1" });
  const section = async (): Promise<unknown> => ((await client.call("thread/read", { threadId: id })).thread as unknown as { section: unknown }).section;
  expect(await section()).toMatchObject({ id: "s1", name: "Work" });
  await client.call("threadSection/update", { sectionId: "s1", name: "Play" });
  expect(await section()).toMatchObject({ id: "s1", name: "Play" });
  expect((await client.call("thread/list", { sectionId: "s1", sortKey: "section_position" })).data.map((each) => each.id)).toEqual([id]);
  await client.call("thread/section/move", { threadId: nativeId(1), sectionId: "s1", beforeThreadId: id });
  expect(upstream.requests("thread/section/move")[0]!["params"]).toMatchObject({ threadId: nativeId(1), beforeThreadId: null });
  expect((await client.request("thread/section/move", { threadId: id, sectionId: "s2" })).error?.message).toBe("thread section not found: s2");
  await client.call("threadSection/delete", { sectionId: "s1" });
  expect(await section()).toBeNull();
});

describe("account and settings", () => {
  const account = { account: { type: "chatgpt", email: "a@b", planType: "plus" }, userId: "u", requiresOpenaiAuth: true };

  test("a login stays as it is told; without one, nobody is asked for it, and threads are ours by default", async () => {
    upstream.on("account/read", () => account);
    expect(await client.call("account/read", { refreshToken: false })).toEqual(account);
    expect((await client.call("thread/start", {})).model).toBe("gpt");
    upstream.on("account/read", () => ({ ...account, account: null }));
    expect(await client.call("account/read", { refreshToken: false })).toEqual({ ...account, account: null, requiresOpenaiAuth: false });
    expect((await client.call("thread/start", {})).model).toBe("fake/one");
    upstream.on("getAuthStatus", () => ({ authMethod: "apikey", authToken: null, requiresOpenaiAuth: true }));
    expect(await client.call("getAuthStatus", {})).toEqual({ authMethod: "apikey", authToken: null, requiresOpenaiAuth: true });
    expect((await client.call("thread/start", {})).model).toBe("gpt");
  });

  test("what names a model of ours stays with the connection, the rest goes on", async () => {
    const written: unknown[] = [];
    const write = (params: unknown): object => (written.push(params), { status: "ok", version: "v2", filePath: "/c", overriddenMetadata: null });
    upstream.on("config/batchWrite", write).on("config/value/write", write);
    upstream.on("config/read", () => ({ config: { model: "gpt", model_reasoning_effort: null, tools: { a: 1 } }, origins: {}, layers: [{ name: { type: "user", file: "/c" }, version: "v1", config: {} }] }));
    const edit = (keyPath: string, value: unknown): object => ({ keyPath, value, mergeStrategy: "replace" });

    expect(await client.call("config/batchWrite", { edits: [edit("model", "fake/two"), edit("model_reasoning_effort", "high")] })).toMatchObject({ status: "ok", version: "v1", filePath: "/c" });
    expect(written).toEqual([]);
    expect((await client.call("config/read", {})).config).toEqual({ model: "fake/two", model_reasoning_effort: "high", tools: { a: 1 } });
    expect((await client.call("thread/start", {})).model).toBe("fake/two");
    const other = await connectStdio(setup.host).initialize();
    expect((await other.call("config/read", {})).config.model).toBe("gpt");

    await client.call("config/batchWrite", { edits: [edit("profiles.x", { model: "fake/one" }), edit("projects.y", { trust_level: "trusted" })], reloadUserConfig: true });
    expect(written.pop()).toEqual({ edits: [edit("projects.y", { trust_level: "trusted" })], reloadUserConfig: true });
    await client.call("config/value/write", edit("model", "gpt-mini"));
    expect(written.pop()).toEqual(edit("model", "gpt-mini"));
    expect((await client.call("config/read", {})).config).toMatchObject({ model: "gpt" });
    expect((await client.call("thread/start", {})).model).toBe("gpt");
  });

  test("a batch that the real server refuses leaves our half as it was, too", async () => {
    upstream.on("config/read", () => ({ config: { model: "gpt" }, origins: {} }));
    const edit = (keyPath: string, value: unknown): object => ({ keyPath, value, mergeStrategy: "replace" });
    await client.call("config/batchWrite", { edits: [edit("model", "fake/two"), edit("model_reasoning_effort", "high")] });
    for (const method of ["config/batchWrite", "config/value/write"]) upstream.on(method, () => new Error("modified since"));
    expect((await client.request("config/value/write", edit("model", "gpt-mini"))).error?.message).toBe("modified since");
    expect((await client.request("config/batchWrite", { edits: [edit("model", "fake/one"), edit("tools", {})] })).error?.message).toBe("modified since");
    expect((await client.call("config/read", {})).config).toEqual({ model: "fake/two", model_reasoning_effort: "high" });
    expect((await client.call("thread/start", {})).model).toBe("fake/two");
  });

  test("a batch that is refused late takes nothing back of what was written since", async () => {
    upstream.on("config/read", () => ({ config: { model: "gpt" }, origins: {} }));
    const edit = (keyPath: string, value: unknown): object => ({ keyPath, value, mergeStrategy: "replace" });
    const asked = new Promise<{ refuse: () => void }>((resolve) => {
      upstream.on("config/value/write", (_params, link) => {
        resolve({ refuse: () => link.send({ id: upstream.requests("config/value/write")[0]!["id"], error: { code: -32600, message: "modified since" } }) });
        return undefined;
      });
    });
    const late = client.request("config/value/write", edit("model", "gpt-mini"));
    const { refuse } = await asked;
    await client.call("config/batchWrite", { edits: [edit("model", "fake/two"), edit("model_reasoning_effort", "high")] });
    refuse();
    expect((await late).error?.message).toBe("modified since");
    expect((await client.call("config/read", {})).config).toEqual({ model: "fake/two", model_reasoning_effort: "high" });
    expect((await client.call("thread/start", {})).model).toBe("fake/two");
  });

  test("an exhausted account does not keep a client from sending to threads of ours", async () => {
    const limit = { limitId: "codex", primary: { usedPercent: 100 }, rateLimitReachedType: "rate_limit_reached", spendControlReached: true };
    const answer = { rateLimits: limit, rateLimitsByLimitId: { codex: limit }, ordinaryUsageAllowed: false };
    upstream.on("account/rateLimits/read", () => answer);
    expect(await client.call("account/rateLimits/read", {})).toEqual(answer);
    await foreignTurn(client, "a");
    const open = { ...limit, rateLimitReachedType: null, spendControlReached: null };
    expect(await client.call("account/rateLimits/read", {})).toEqual({ rateLimits: open, rateLimitsByLimitId: { codex: open }, ordinaryUsageAllowed: true });
    upstream.broadcast("account/rateLimits/updated", { rateLimits: limit });
    expect((await client.notice("account/rateLimits/updated")).params).toEqual({ rateLimits: open });
  });
});

describe("when the real server goes away", () => {
  test("only who holds a thread of it is cut off; what was asked of it is answered as an error", async () => {
    const holder = await connectStdio(setup.host).initialize();
    await holder.call("thread/start", {});
    const left = await connectStdio(setup.host).initialize();
    const { thread } = await left.call("thread/start", {});
    await left.call("thread/unsubscribe", { threadId: thread.id });
    const adopter = await connectStdio(setup.host).initialize();
    const adopted = await adopter.call("thread/start", {});
    await adopter.call("thread/settings/update", { threadId: adopted.thread.id, model: "fake/one" });
    upstream.on("slow/one", () => undefined);
    const asked = client.request("slow/one", {});
    await client.until("the request to arrive", () => upstream.requests("slow/one")[0]);
    await upstream.kill();
    expect((await asked).error?.message).toMatch(/^the Codex app-server cannot answer: /);
    await holder.until("the end of the connection", () => (holder.closed ? true : undefined));
    expect([client.closed, left.closed, adopter.closed]).toEqual([false, false, false]);
    await foreignTurn(client, "still here");
    // Nothing to wait for while it cannot be had: ours alone is listed.
    expect((await client.call("thread/list", {})).data).toHaveLength(1);
    expect((await client.request("thread/future", {})).error?.message).toMatch(/cannot answer: Codex cannot be started/);
  });

  test("it is spoken to again as soon as it is back, introduced by the client's own words", async () => {
    await upstream.kill();
    upstream.start();
    await upstream.ready();
    await client.until("the client to be back", () => upstream.links[1]?.received[0]);
    upstream.on("later/one", () => ({ fine: true }));
    expect(await client.call("later/one", {})).toEqual({ fine: true });
    const { received } = upstream.links.at(-1)!;
    expect(received.map((frame) => (JSON.parse(frame.toString()) as { method: string }).method)).toEqual(["initialize", "later/one"]);
  });
});

test("a request goes to nobody while the store cannot say whose its thread is", async () => {
  store.thread = () => {
    throw new Error("disk I/O error");
  };
  expect(await client.request("thread/read", { threadId: nativeId(1) })).toMatchObject({ error: { code: -32603, message: "threads cannot be looked up: disk I/O error" } });
  expect(upstream.requests("thread/read")).toEqual([]);
  upstream.on("skills/list", () => ({ data: [] }));
  expect(await client.call("skills/list", {})).toEqual({ data: [] });
});

test("what comes behind a request whose owner is looked up does not overtake it", async () => {
  const order: string[] = [];
  upstream.on("first/x", () => (order.push("first"), {})).on("last/x", () => (order.push("last"), {}));
  const started = client.call("thread/start", { model: "fake/one" });
  const answers = Promise.all([client.call("first/x", {}), client.call("last/x", {})]);
  await Promise.all([started, answers]);
  expect(order).toEqual(["first", "last"]);
  const methods = client.frames.filter((frame) => "id" in frame).map((frame) => frame["id"]);
  expect(methods).toEqual([1, 2, 3, 4]);
});

test.each([["frames", 1_002, 10], ["bytes", 10, 1024 * 1024]])("a client that sends too many %s behind a look-up is read no more until that is over", async (_what, count, size) => {
  const reads: string[] = [];
  const sent: string[] = [];
  const connection = setup.host.connect({
    write: (frames, taken) => (sent.push(...frames.map(({ text }) => text)), taken()),
    terminate: () => undefined, pause: () => reads.push("pause"), resume: () => reads.push("resume"),
  });
  connection.receive('{"id":0,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"},"capabilities":{"experimentalApi":true}}}');
  while (connection.session === null || sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
  connection.receive('{"id":1,"method":"thread/start","params":{"model":"fake/one","cwd":"/w"}}');
  for (let at = 0; at < count; at += 1) connection.receive(JSON.stringify({ method: "some/note", params: { at, padding: "x".repeat(size) } }));
  expect(reads).toEqual(["pause"]);
  while (reads.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(reads.at(-1)).toBe("resume");
  connection.terminate();
});
