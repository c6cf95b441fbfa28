import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { MemoryThreadStore } from "../store/memory.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

let clock: VirtualClock;
let store: MemoryThreadStore;
let setup: TestHost;
let client: TestClient;
let threadId: string;
beforeEach(async () => {
  store = new MemoryThreadStore();
  clock = new VirtualClock();
  setup = await startTestHost({ store, schedule: clock.schedule });
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
  setup.adapter.script = (session, input, key) => session.begin(key, input);
});
afterEach(() => setup.host.close());

const start = (value: string) => client.request("turn/start", { threadId, input: text(value) });

describe("a host that drains", () => {
  test("refuses new work in the real server's words, and answers the rest, until the turns have ended", async () => {
    let ended!: () => void;
    setup.adapter.onCancel = (session) => (ended = () => session.end({ status: "cancelled" }));
    await start("go");
    await client.notice("turn/started");
    const drained = setup.host.drain();
    const refusal = { code: -32600, message: "Server is draining; retry after reconnecting", data: { reason: "serverShuttingDown" } };
    expect((await start("more")).error).toEqual(refusal);
    for (const method of ["thread/resume", "thread/archive", "thread/compact/start"]) expect((await client.request(method, { threadId })).error).toEqual(refusal);
    expect((await client.request("thread/start", {})).error).toEqual(refusal);
    expect((await client.call("thread/read", { threadId, includeTurns: true })).thread.turns).toMatchObject([{ status: "inProgress" }]);
    // It is kept, and that is all that is promised.
    expect((await client.request("thread/queue/add", { threadId, input: text("later"), clientUserMessageId: "later" })).error).toBeUndefined();
    ended();
    await drained;
    expect(client.of("turn/completed")[0]!.params.turn.status).toBe("interrupted");
    expect(client.of("turn/started")).toHaveLength(1);
    expect(store.queue(threadId)).toMatchObject([{ clientId: "later" }]);
  });

  test("keeps an input that no harness has yet", async () => {
    let open!: () => void;
    setup.adapter.beforeOpen = () => new Promise((resolve) => (open = resolve));
    await start("not there yet");
    await client.notice("thread/status/changed");
    await setup.host.drain();
    expect(client.of("turn/completed")[0]!.params.turn.status).toBe("interrupted");
    expect(store.queue(threadId)).toMatchObject([{ input: text("not there yet") }]);
    open();
  });

  test("does not wait for ever for a harness that does not end its turn", async () => {
    setup.adapter.onCancel = () => undefined;
    await start("go");
    await client.notice("turn/started");
    const drained = setup.host.drain();
    clock.pass(3_000);
    await drained;
    await setup.host.close();
    expect(setup.adapter.sessions[0]!.closed).toBe(true);
  });
});
