import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentStatus } from "@foldcast/protocol-core/wire";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { echo, fakeEntry } from "../testing/fake-adapter.ts";
import type { FakeAdapter, FakeSession } from "../testing/fake-adapter.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";

const IDLE_MS = 10 * 60_000;
const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
/** Lets what was set off by a timer or an event come to its end: nothing here takes time, but turns of the event loop. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

let clock: VirtualClock;
let setup: TestHost;
let client: TestClient;
let threadId: string;

async function begin(capabilities: { resume?: boolean; steer?: boolean } = {}): Promise<void> {
  let made: FakeAdapter | undefined;
  clock = new VirtualClock();
  setup = await startTestHost({
    harnesses: [fakeEntry((adapter) => (made = adapter), "fake", capabilities)], now: () => clock.now, schedule: clock.schedule,
  });
  setup.adapter = made!;
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
}
beforeEach(() => begin());
afterEach(() => setup.host.close());

const start = (value: string) => client.call("turn/start", { threadId, input: text(value) });
async function turn(count: number): Promise<FakeSession> {
  await start("hi");
  await client.turnsCompleted(count);
  return setup.adapter.sessions.at(-1)!;
}
async function pass(ms: number): Promise<void> {
  clock.pass(ms);
  await settled();
}

describe("a session that is not used", () => {
  test("is let go ten minutes after its last turn, and resumed with the next message", async () => {
    const session = await turn(1);
    await pass(IDLE_MS - 1);
    expect(session.closed).toBe(false);
    await pass(1);
    expect(session.closed).toBe(true);
    const next = await turn(2);
    expect(next).not.toBe(session);
    expect(next.request).toMatchObject({ kind: "resume", nativeSessionId: session.nativeSessionId });
    expect(client.of("thread/status/changed").map(({ params }) => params.status.type)).toEqual(["active", "idle", "active", "idle"]);
    expect((await client.call("thread/read", { threadId, includeTurns: true })).thread.turns).toHaveLength(2);
  });

  test("counts from the end of its last turn, however long that was", async () => {
    setup.adapter.script = (session, input, key) => session.begin(key, input);
    await start("long");
    await client.notice("turn/started");
    const session = setup.adapter.sessions[0]!;
    await pass(IDLE_MS * 3);
    expect(session.closed).toBe(false);
    await pass(60_000);
    session.end({ status: "succeeded" });
    await client.turnsCompleted(1);
    await pass(IDLE_MS - 1);
    expect(session.closed).toBe(false);
    await pass(1);
    expect(session.closed).toBe(true);
  });

  test("is kept while a question is open, and while its answer is worked on", async () => {
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      session.emit({ type: "interaction.opened", interaction: { id: "q", kind: "question", questions: [{ id: "a", question: "Which?", options: [{ label: "One" }] }] }, at: clock.now });
    };
    await start("ask");
    await client.until("the question", () => client.frames.find((frame) => frame["method"] === "item/tool/requestUserInput"));
    await pass(IDLE_MS * 2);
    expect(setup.adapter.sessions[0]!.closed).toBe(false);
  });

  test.each<[AgentStatus, boolean]>([["running", false], ["pendingInit", false], ["completed", true], ["errored", true]])("with a child agent that is %s is let go: %s", async (status, released) => {
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      session.emit({ type: "item.started", item: { kind: "agent", id: "a", action: "spawnAgent", children: [{ ref: "child", status: "pendingInit" }] }, at: clock.now });
      session.emit({ type: "item.completed", itemId: "a", outcome: { status: "succeeded" }, result: { children: [{ ref: "child", status }] }, at: clock.now });
      session.end({ status: "succeeded" });
    };
    const session = await turn(1);
    await pass(IDLE_MS);
    expect(session.closed).toBe(released);
  });

  test("is kept while the harness counts background tasks, whatever was said of agents", async () => {
    const session = await turn(1);
    session.emit({ type: "session.state", state: { backgroundTasks: 1 }, at: clock.now });
    await settled();
    await pass(IDLE_MS * 3);
    expect(session.closed).toBe(false);
    session.emit({ type: "session.state", state: { backgroundTasks: 0 }, at: clock.now });
    await settled();
    await pass(IDLE_MS - 1);
    expect(session.closed).toBe(false);
    await pass(1);
    expect(session.closed).toBe(true);
  });

  test("of a harness that cannot resume is kept", async () => {
    await setup.host.close();
    await begin({ resume: false });
    const session = await turn(1);
    await pass(IDLE_MS * 2);
    expect(session.closed).toBe(false);
  });

  test("lets its successor wait until it is gone, and what it still says is not heard", async () => {
    const session = await turn(1);
    let gone!: () => void;
    const close = session.close.bind(session);
    session.close = () => new Promise((resolve) => (gone = resolve));
    await pass(IDLE_MS);
    await start("next");
    await settled();
    session.emit({ type: "turn.started", turnKey: "ghost", at: 1, input: [], origin: "agent" });
    await settled();
    expect(setup.adapter.sessions).toHaveLength(1);
    expect(client.of("turn/started")).toHaveLength(1);
    session.close = close;
    gone();
    await client.turnsCompleted(2);
    expect(setup.adapter.sessions).toHaveLength(2);
  });

  test("that never ends keeps its successor waiting for ten seconds", async () => {
    const session = await turn(1);
    const close = session.close.bind(session);
    session.close = () => new Promise(() => undefined);
    await pass(IDLE_MS);
    await start("next");
    await pass(10_000);
    await client.turnsCompleted(2);
    session.close = close;
    await close();
  });
});

describe("a thread that nobody watches", () => {
  const closed = (): string[] => client.of("thread/closed").map(({ params }) => params.threadId);

  test("is unloaded after half an hour without use, and is there again when it is opened", async () => {
    await turn(1);
    await client.call("thread/unsubscribe", { threadId });
    await pass(29 * 60_000);
    expect(closed()).toEqual([]);
    await pass(2 * 60_000);
    expect(closed()).toEqual([threadId]);
    expect((await client.call("thread/loaded/list", {})).data).toEqual([]);
    const { thread } = await client.call("thread/resume", { threadId });
    expect(thread.turns).toHaveLength(1);
    await turn(2);
    expect(setup.adapter.sessions.at(-1)!.request.kind).toBe("resume");
  });

  test("stays while it is watched, while a turn runs, and where its turns are nowhere else", async () => {
    await turn(1);
    await pass(120 * 60_000);
    setup.adapter.script = (session, input, key) => session.begin(key, input);
    await start("long");
    await client.call("thread/unsubscribe", { threadId });
    await pass(120 * 60_000);
    expect(closed()).toEqual([]);
    setup.adapter.keepsHistory = false;
    const { thread } = await client.call("thread/start", { cwd: "/w" });
    setup.adapter.script = echo;
    await client.call("turn/start", { threadId: thread.id, input: text("hi") });
    await client.turnsCompleted(2);
    await client.call("thread/unsubscribe", { threadId: thread.id });
    await pass(120 * 60_000);
    expect(closed()).toEqual([]);
  });
});

describe("ended turns", () => {
  const turns = async () => (await client.call("thread/read", { threadId, includeTurns: true })).thread.turns.map(({ items }) => items.at(-1)!.text);

  test("are read from the harness's file once it must have them, those that no harness began in their place", async () => {
    for (let at = 1; at <= 4; at += 1) {
      await start(`turn ${String(at)}`);
      await client.turnsCompleted(at);
      if (at !== 2) continue;
      await pass(IDLE_MS);
      setup.adapter.beforeOpen = () => Promise.reject(new Error("not now"));
      await start("fails");
      await client.turnsCompleted(3);
      client.frames.splice(client.frames.indexOf(client.frames.findLast((frame) => frame["method"] === "turn/completed")!), 1);
      setup.adapter.beforeOpen = () => Promise.resolve();
    }
    expect(await turns()).toEqual(["echo: turn 1", "echo: turn 2", undefined, "echo: turn 3", "echo: turn 4"]);
    const actor = setup.host.threads.loaded(threadId)!;
    expect(actor.endedRuns.map(({ run }) => run !== null)).toEqual([false, false, true, true, true]);
    await pass(IDLE_MS);
    expect(actor.endedRuns.map(({ run }) => run !== null)).toEqual([false, false, true, false, false]);
    expect(await turns()).toEqual(["echo: turn 1", "echo: turn 2", undefined, "echo: turn 3", "echo: turn 4"]);
  });
});

test("harnesses start two at a time; a turn that is over before its turn comes starts none", async () => {
  const open: (() => void)[] = [];
  setup.adapter.beforeOpen = () => new Promise((resolve) => open.push(resolve));
  const threads: { threadId: string; turnId: string }[] = [];
  for (let at = 0; at < 5; at += 1) {
    const { thread } = await client.call("thread/start", { cwd: "/w" });
    const started = await client.call("turn/start", { threadId: thread.id, input: text("hi") });
    threads.push({ threadId: thread.id, turnId: started.turn.id });
  }
  await settled();
  expect(open).toHaveLength(2);
  await client.call("turn/interrupt", threads[2]);
  await client.turnsCompleted(1);
  open[0]!();
  await client.turnsCompleted(2);
  expect(open).toHaveLength(3);
  open[1]!();
  open[2]!();
  await client.turnsCompleted(4);
  open[3]!();
  await client.turnsCompleted(5);
  expect(setup.adapter.sessions).toHaveLength(4);
  const statuses = threads.map((each) => client.of("turn/completed").find(({ params }) => params.turn.id === each.turnId)?.params.turn.status);
  expect(statuses).toEqual(["completed", "completed", "interrupted", "completed", "completed"]);
});
