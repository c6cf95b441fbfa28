import { afterEach, beforeEach, expect, test } from "vitest";
import type { Host } from "../host.ts";
import { MemoryThreadStore } from "../store/memory.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient } from "../testing/client.ts";
import { fakeEntry } from "../testing/fake-adapter.ts";
import type { FakeAdapter } from "../testing/fake-adapter.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

let host: Host;
let adapter: FakeAdapter;
let client: TestClient;
let store: MemoryThreadStore;
let threadId: string;
let turnIds: string[];

async function start(fork: boolean): Promise<void> {
  store = new MemoryThreadStore();
  ({ host } = await startTestHost({ store, harnesses: [fakeEntry((made) => (adapter = made), "fake", { fork })] }));
  client = await connectStdio(host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w", model: "fake/one" })).thread.id;
  turnIds = [];
  for (const prompt of ["one", "two", "three"]) await turn(threadId, prompt);
  client.frames.length = 0;
}
async function turn(id: string, prompt: string): Promise<string> {
  const before = client.of("turn/completed").length;
  const { turn: { id: turnId } } = await client.call("turn/start", { threadId: id, input: text(prompt) });
  await client.turnsCompleted(before + 1);
  turnIds.push(turnId);
  return turnId;
}
async function history(id: string): Promise<{ ids: string[]; texts: (string | undefined)[] }> {
  const { thread } = await client.call("thread/read", { threadId: id, includeTurns: true });
  return { ids: thread.turns.map((each) => each.id), texts: thread.turns.map((each) => each.items.at(-1)?.text) };
}

beforeEach(() => start(true));
afterEach(() => host.close());

test("a fork has the turns of its source under the same ids, and goes its own way", async () => {
  const result = await client.call("thread/fork", { threadId, excludeTurns: true });
  expect(result.thread).toMatchObject({ forkedFromId: threadId, turns: [], preview: "one" });
  const fork = result.thread.id;
  const answer = client.frames.findIndex((frame) => !("method" in frame));
  expect(client.frames.findIndex((frame) => frame["method"] === "thread/started")).toBeGreaterThan(answer);
  expect((await history(fork)).ids).toEqual(turnIds);
  const own = await turn(fork, "four");
  expect(await history(fork)).toEqual({ ids: [...turnIds.slice(0, 3), own], texts: ["echo: one", "echo: two", "echo: three", "echo: four"] });
  expect((await history(threadId)).ids).toEqual(turnIds.slice(0, 3));
});

test("a fork ends with the turn that was named", async () => {
  const through = await client.call("thread/fork", { threadId, lastTurnId: turnIds[1] });
  expect(through.thread.turns.map((each) => each.id)).toEqual(turnIds.slice(0, 2));
  const before = await client.call("thread/fork", { threadId, beforeTurnId: turnIds[1] });
  expect(before.thread.turns.map((each) => each.id)).toEqual(turnIds.slice(0, 1));
  expect((await client.request("thread/fork", { threadId, lastTurnId: "nope" })).error).toMatchObject({ code: -32600 });
});

test("a fork of a running thread has the turns before the running one", async () => {
  adapter.script = (session, input, key) => session.begin(key, input);
  await client.call("turn/start", { threadId, input: text("long") });
  await client.notice("turn/started");
  expect((await client.call("thread/fork", { threadId })).thread.turns.map((each) => each.id)).toEqual(turnIds);
});

test("a fork before the first turn is a new thread, listed nowhere", async () => {
  const { thread } = await client.call("thread/fork", { threadId, beforeTurnId: turnIds[0] });
  expect(thread.turns).toEqual([]);
  expect((await client.call("thread/list", {})).data.map((each) => each.id)).toEqual([threadId]);
  await turn(thread.id, "fresh");
  expect((await history(thread.id)).texts).toEqual(["echo: fresh"]);
});

test("a revert takes the turns from the named one on out of the thread, for good", async () => {
  const result = await client.call("thread/revert", { threadId, beforeTurnId: turnIds[1] });
  expect(result.thread.turns).toEqual([]);
  expect(JSON.parse(result.turnsBackwardsCursor)).toMatchObject({ turnId: turnIds[0] });
  await client.notice("thread/reverted");
  expect(await history(threadId)).toEqual({ ids: turnIds.slice(0, 1), texts: ["echo: one"] });
  const next = await turn(threadId, "other");
  expect(await history(threadId)).toEqual({ ids: [turnIds[0], next], texts: ["echo: one", "echo: other"] });
  expect(store.turns(threadId).map((fact) => fact.turnId)).toEqual([turnIds[0], next]);
});

test("a key that is used again after a revert names the new turn", async () => {
  await client.call("thread/rollback", { threadId, numTurns: 1 });
  adapter.turns = 2;
  const next = await turn(threadId, "again");
  expect(await history(threadId)).toEqual({ ids: [...turnIds.slice(0, 2), next], texts: ["echo: one", "echo: two", "echo: again"] });
});

test("a thread of which nothing is left goes on in a new session", async () => {
  const { thread } = await client.call("thread/rollback", { threadId, numTurns: 9 });
  expect(thread.turns).toEqual([]);
  await turn(threadId, "anew");
  expect(adapter.sessions.map((session) => session.request.kind)).toEqual(["create", "create"]);
  expect((await history(threadId)).texts).toEqual(["echo: anew"]);
});

test("a running turn is interrupted for a revert, and nothing that waits begins in its place", async () => {
  adapter.script = (session, input, key) => session.begin(key, input);
  const running = (await client.call("turn/start", { threadId, input: text("long") })).turn.id;
  await client.notice("turn/started", ({ params }) => params.turn.id === running);
  await client.call("thread/queue/add", { threadId, input: text("later"), clientUserMessageId: "later" });
  expect((await client.request("thread/revert", { threadId, beforeTurnId: "nope" })).error?.message).toBe("turn not found: nope");
  client.frames.length = 0;
  await client.call("thread/revert", { threadId, beforeTurnId: turnIds[1] });
  await client.notice("thread/reverted");
  const answer = client.frames.findIndex((frame) => !("method" in frame));
  const ended = client.frames.findIndex((frame) => frame["method"] === "turn/completed");
  expect([ended !== -1, ended < answer]).toEqual([true, true]);
  expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ id: running, status: "interrupted" });
  expect((await history(threadId)).ids).toEqual(turnIds.slice(0, 1));
  expect((await client.call("thread/queue/list", { threadId })).data).toHaveLength(1);
  expect(client.of("turn/started")).toEqual([]);
});

test("an interrupted turn that the file does not have yet is taken out of what its program goes on with, too", async () => {
  adapter.record = () => undefined;
  adapter.script = (session, input, key) => session.begin(key, input);
  const running = (await client.call("turn/start", { threadId, input: text("long") })).turn.id;
  await client.notice("turn/started", ({ params }) => params.turn.id === running);
  await client.call("thread/revert", { threadId, beforeTurnId: running });
  expect(adapter.sessions.map(({ request }) => request)).toMatchObject([{ kind: "create" }, { kind: "fork", throughTurnKey: "k3" }]);
  expect((await history(threadId)).ids).toEqual(turnIds);
});

test("what nobody has read yet is no turn that was taken out", async () => {
  const unread = async (): Promise<unknown> => (await client.call("thread/read", { threadId })).readState.firstUnread;
  await client.call("thread/revert", { threadId, beforeTurnId: turnIds[2] });
  expect(await unread()).toEqual({ type: "turn", turnId: turnIds[0] });
  client.frames.length = 0;
  await client.call("thread/revert", { threadId, beforeTurnId: turnIds[0] });
  expect(client.of("thread/readState/changed")[0]!.params.readState.firstUnread).toBeNull();
  expect(await unread()).toBeNull();
});

test("a harness that cannot copy a session says so, and its failed last turn can still be taken back", async () => {
  await host.close();
  await start(false);
  for (const [method, params] of [["thread/fork", {}], ["thread/revert", { beforeTurnId: turnIds[1] }]] as const) {
    expect((await client.request(method, { threadId, ...params })).error).toEqual({ code: -32601, message: `${method} is not supported yet: Fake cannot copy a session` });
  }
  adapter.script = () => Promise.reject(new Error("no"));
  await turn(threadId, "fails at once");
  await client.call("thread/rollback", { threadId, numTurns: 1 });
  expect((await history(threadId)).ids).toEqual(turnIds.slice(0, 3));
});

test("the host keeps no thread whose copy failed", async () => {
  adapter.beforeOpen = () => Promise.reject(new Error("no room"));
  expect((await client.request("thread/fork", { threadId })).error?.message).toContain("no room");
  expect([...store.threads()].map((record) => record.id)).toEqual([threadId]);
});

test("single items of a turn are read in their stored order", async () => {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  const ids = thread.turns[1]!.items.map((item) => item.id);
  const read = (itemIds: readonly string[]) => client.request("thread/items/read", { threadId, turnId: turnIds[1], itemIds });
  expect((await read([...ids.toReversed(), "nope"])).result?.data.map((entry) => entry.item.id)).toEqual(ids);
  expect((await read([])).error?.code).toBe(-32600);
});
