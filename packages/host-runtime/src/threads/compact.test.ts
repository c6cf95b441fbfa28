import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { fakeEntry } from "../testing/fake-adapter.ts";
import type { FakeAdapter } from "../testing/fake-adapter.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

let setup: TestHost;
let client: TestClient;
let threadId: string;
beforeEach(async () => {
  let made: FakeAdapter | undefined;
  setup = await startTestHost({ harnesses: [fakeEntry((adapter) => (made = adapter), "fake", { compact: true }), fakeEntry(() => undefined, "cannot")] });
  setup.adapter = made!;
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
});
afterEach(() => setup.host.close());

const start = (value: string) => client.call("turn/start", { threadId, input: text(value) });
const compact = () => client.request("thread/compact/start", { threadId });
const lines = (): string[] => client.frames.map((frame) => {
  const params = frame["params"] as { status?: { type: string }; item?: { type: string } } | undefined;
  return "method" in frame ? `${String(frame["method"])} ${params?.item?.type ?? params?.status?.type ?? ""}`.trim() : "response";
});

describe("thread/compact/start", () => {
  test("is a turn that shows the compaction, in the real server's order", async () => {
    await start("hi");
    await client.turnsCompleted(1);
    client.frames.length = 0;
    expect((await compact()).result).toEqual({});
    await client.turnsCompleted(1);
    expect(lines()).toEqual([
      "response", "thread/status/changed active", "turn/started", "item/started contextCompaction", "item/completed contextCompaction",
      "thread/status/changed idle", "turn/completed",
    ]);
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ status: "completed", items: [] });
    expect((await client.call("thread/read", { threadId, includeTurns: true })).thread.turns.map((turn) => turn.items.map(({ type }) => type)))
      .toEqual([["userMessage", "agentMessage"], ["contextCompaction"]]);
  });

  test("interrupts a running turn, and goes before what waits", async () => {
    setup.adapter.script = (session, input, key) => session.begin(key, input);
    const { turn } = await start("long");
    await client.notice("turn/started");
    await client.call("thread/queue/add", { threadId, input: text("later"), clientUserMessageId: "later" });
    await compact();
    await client.until("the queued turn", () => client.of("turn/started")[2]);
    expect(client.of("turn/completed").map(({ params }) => [params.turn.id === turn.id, params.turn.status])).toEqual([[true, "interrupted"], [false, "completed"]]);
    expect(client.of("item/started").map(({ params }) => params.item.type)).toEqual(["userMessage", "contextCompaction", "userMessage"]);
  });

  test("waits for the turn that a harness begins in the place of the one that ends for it", async () => {
    setup.adapter.script = (session, input, key) => session.begin(key, input);
    await start("long");
    await client.notice("turn/started");
    const session = setup.adapter.sessions[0]!;
    setup.adapter.onCancel = () => session.begin("own", { input: [], clientId: null });
    await compact();
    await client.until("the turn of its own", () => client.of("turn/started")[1]);
    expect(client.of("item/started").map(({ params }) => params.item.type)).toEqual(["userMessage"]);
    session.end({ status: "succeeded" });
    await client.turnsCompleted(3);
    expect(client.of("turn/completed").map(({ params }) => params.turn.status)).toEqual(["interrupted", "completed", "completed"]);
    expect(client.of("item/started").map(({ params }) => params.item.type)).toEqual(["userMessage", "contextCompaction"]);
  });

  test("input that comes meanwhile is the next turn", async () => {
    await start("hi");
    await client.turnsCompleted(1);
    let end!: () => void;
    setup.adapter.onCompact = (session, key) => {
      session.begin(key, { input: [], clientId: null });
      end = () => session.end({ status: "succeeded" });
    };
    await compact();
    await client.until("its turn", () => client.of("turn/started")[1]);
    await start("next");
    expect(setup.adapter.sessions[0]!.steered).toEqual([]);
    end();
    await client.turnsCompleted(3);
    expect(client.of("turn/completed")[2]!.params.turn.items.at(-1)).toMatchObject({ text: "echo: next" });
  });

  test("of a harness that cannot is not supported, and says so", async () => {
    const { thread } = await client.call("thread/start", { cwd: "/w", model: "cannot/one" });
    expect((await client.request("thread/compact/start", { threadId: thread.id })).error)
      .toEqual({ code: -32601, message: "thread/compact/start is not supported yet: Fake decides by itself when to shorten its context" });
    expect((await client.request("thread/compact/start", { threadId: "01a229e6-56e9-7781-be3d-000000000000" })).error?.message).toMatch(/^thread not found/);
  });
});

test("an empty shell command is refused before what cannot be done", async () => {
  expect((await client.request("thread/shellCommand", { threadId, command: " " })).error).toEqual({ code: -32600, message: "command must not be empty" });
  expect((await client.request("thread/shellCommand", { threadId, command: "ls" })).error?.code).toBe(-32601);
});
