import { afterEach, beforeEach, expect, test } from "vitest";
import type { Host } from "../host.ts";
import { MemoryThreadStore } from "../store/memory.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient } from "../testing/client.ts";
import { fakeEntry, textOf } from "../testing/fake-adapter.ts";
import type { FakeAdapter } from "../testing/fake-adapter.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
type Queued = { id: string; clientUserMessageId: string; input: { text: string }[] };

let store: MemoryThreadStore;
let host: Host;
let adapter: FakeAdapter;
let client: TestClient;
let threadId: string;

async function start(): Promise<void> {
  ({ host } = await startTestHost({ store, harnesses: [fakeEntry((made) => (adapter = made), "fake", { steer: false })] }));
  client = await connectStdio(host).initialize();
}
beforeEach(async () => {
  store = new MemoryThreadStore();
  await start();
  threadId = (await client.call("thread/start", { cwd: "/w", model: "fake/one" })).thread.id;
});
afterEach(() => host.close());

/** A turn that goes on until the test ends it. */
async function busy(): Promise<void> {
  adapter.script = (session, input, key) => session.begin(key, input);
  await client.call("turn/start", { threadId, input: text("long") });
  await client.notice("turn/started");
}
async function add(value: string): Promise<Queued> {
  const result = await client.call("thread/queue/add", { threadId, input: text(value), clientUserMessageId: `client-${value}` });
  return (result as unknown as { queuedSubmission: Queued }).queuedSubmission;
}
async function waiting(): Promise<string[]> {
  const { data } = await client.call("thread/queue/list", { threadId });
  return (data as unknown as Queued[]).map(({ input }) => input[0]!.text);
}
const prompts = (): (string | null | undefined)[] => client.of("item/completed").filter(({ params }) => params.item.type === "userMessage").map(({ params }) => params.item.clientId);

test("what is added while a turn runs waits, is seen to wait, and runs in its order with its client's id", async () => {
  await busy();
  await add("one");
  await add("two");
  await client.call("turn/start", { threadId, input: text("three"), clientUserMessageId: "client-three" });
  expect(await waiting()).toEqual(["one", "two", "three"]);
  expect(client.of("thread/queue/changed")).toHaveLength(3);
  adapter.script = (session, input, key) => {
    session.begin(key, input);
    session.end({ status: "succeeded" });
  };
  adapter.sessions[0]!.end({ status: "succeeded" });
  await client.turnsCompleted(4);
  expect(prompts().slice(1)).toEqual(["client-one", "client-two", "client-three"]);
  expect(await waiting()).toEqual([]);
  expect(store.queue(threadId)).toEqual([]);
});

test("on an idle thread it runs at once, also as the first turn", async () => {
  await add("now");
  await client.turnsCompleted(1);
  expect(prompts()).toEqual(["client-now"]);
  expect(client.of("turn/completed")[0]!.params.turn.status).toBe("completed");
});

test("what waits can be changed, dropped and put in another order", async () => {
  await busy();
  const [one, two, three] = [await add("one"), await add("two"), await add("three")];
  await client.call("thread/queue/update", { threadId, queuedSubmissionId: one.id, input: text("uno") });
  for (const queuedSubmissionIds of [[three.id, one.id], [one.id, one.id, two.id], [one.id, two.id, three.id, three.id]]) {
    expect((await client.request("thread/queue/reorder", { threadId, queuedSubmissionIds })).error?.message).toBe("queue reorder must include every queued submission exactly once");
  }
  await client.call("thread/queue/reorder", { threadId, queuedSubmissionIds: [three.id, one.id, two.id] });
  expect(await waiting()).toEqual(["three", "uno", "two"]);
  expect(store.queue(threadId).map(({ id }) => id)).toEqual([three.id, one.id, two.id]);
  expect(await client.call("thread/queue/delete", { threadId, queuedSubmissionId: one.id })).toEqual({ deleted: true });
  expect(await client.call("thread/queue/delete", { threadId, queuedSubmissionId: one.id })).toEqual({ deleted: false });
  expect((await client.request("thread/queue/update", { threadId, queuedSubmissionId: one.id, input: text("x") })).error?.message).toBe(`queued submission not found: ${one.id}`);
  const empty = "only user input can be added to the user-message queue";
  expect((await client.request("thread/queue/update", { threadId, queuedSubmissionId: two.id, input: [] })).error?.message).toBe(empty);
  expect((await client.request("thread/queue/add", { threadId, input: [], clientUserMessageId: "e" })).error?.message).toBe(empty);
  expect((await client.request("thread/queue/start", { threadId })).error?.message).toBe("thread already has an active or pending turn");
  expect((await client.request("thread/queue/list", { threadId, cursor: "x" })).error?.message).toBe("invalid queue pagination cursor: invalid digit found in string");
  const page = await client.call("thread/queue/list", { threadId, limit: 1 });
  expect(page.nextCursor).toBe("1");
  expect((await client.call("thread/queue/list", { threadId, cursor: page.nextCursor })).data.map(({ id }) => id)).toEqual([two.id]);
});

test("an interrupt ends the running turn; what was meant for it goes on, what a client queued waits for the end of that", async () => {
  await busy();
  await add("queued");
  await client.call("turn/start", { threadId, input: text("meant"), clientUserMessageId: "client-meant" });
  await client.call("turn/interrupt", { threadId, turnId: client.of("turn/started")[0]!.params.turn.id });
  await client.turnsCompleted(1);
  await client.until("the input that was meant for it", () => client.of("turn/started")[1]);
  expect(await waiting()).toEqual(["queued"]);
  adapter.sessions[0]!.end({ status: "succeeded" });
  await client.until("the queue", () => client.of("turn/started")[2]);
  expect(prompts().slice(1)).toEqual(["client-meant", "client-queued"]);
});

test("after an interrupt a client's queue waits until it is started, or another turn ends", async () => {
  await busy();
  await add("one");
  await add("two");
  await client.call("turn/interrupt", { threadId, turnId: client.of("turn/started")[0]!.params.turn.id });
  await client.turnsCompleted(1);
  expect(await waiting()).toEqual(["one", "two"]);
  expect(client.of("turn/started")).toHaveLength(1);
  adapter.script = (session, input, key) => {
    session.begin(key, input);
    session.end({ status: "succeeded" });
  };
  await client.call("turn/start", { threadId, input: text("other"), clientUserMessageId: "client-other" });
  await client.turnsCompleted(4);
  expect(prompts().slice(1)).toEqual(["client-other", "client-one", "client-two"]);
  expect((await client.request("thread/queue/start", { threadId })).error?.message).toBe("queue is empty");
});

test("what waited when the server went down waits for whoever opens the thread again, and is sent once", async () => {
  await busy();
  await add("later");
  await host.close();
  expect(store.queue(threadId)).toHaveLength(1);
  await start();
  adapter.save(store.thread(threadId)!.file!, []);
  expect(await waiting()).toEqual(["later"]);
  const seen: string[] = [];
  adapter.script = (session, input, key) => {
    seen.push(textOf(input));
    session.begin(key, input);
    session.end({ status: "succeeded" });
  };
  await client.request("thread/resume", { threadId, excludeTurns: true });
  await client.turnsCompleted(1);
  expect(seen).toEqual(["later"]);
  expect(store.queue(threadId)).toEqual([]);
});

test("an input that no harness ever got waits again after a restart", async () => {
  await busy();
  await add("unsent");
  // The queue's turn begins, and its harness never takes it.
  adapter.script = () => new Promise(() => undefined);
  adapter.sessions[0]!.end({ status: "succeeded" });
  await client.turnsCompleted(1);
  expect(await waiting()).toEqual([]);
  expect(store.queue(threadId)).toHaveLength(1);
});
