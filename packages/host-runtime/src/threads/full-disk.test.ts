import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PatientStore } from "../store/patient.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { fakeEntry } from "../testing/fake-adapter.ts";
import type { FakeAdapter, FakeSession } from "../testing/fake-adapter.ts";
import type { QueuedInput, ThreadRecord } from "../store/store.ts";
import { FaultyStore } from "../testing/faulty-store.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

let store: FaultyStore;
let setup: TestHost;
let client: TestClient;
let threadId: string;
beforeEach(async () => {
  store = new FaultyStore();
  let made: FakeAdapter | undefined;
  setup = await startTestHost({ store, harnesses: [fakeEntry((adapter) => (made = adapter), "fake", { steer: false, fork: true })] });
  setup.adapter = made!;
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
});
afterEach(() => setup.host.close());

const start = (value: string) => client.call("turn/start", { threadId, input: text(value) });
const add = (value: string) => client.request("thread/queue/add", { threadId, input: text(value), clientUserMessageId: value });
const queue = async (): Promise<unknown[]> => (await client.call("thread/queue/list", { threadId })).data;
async function running(): Promise<FakeSession> {
  setup.adapter.script = (session, input, key) => session.begin(key, input);
  await start("go");
  await client.notice("turn/started");
  return setup.adapter.sessions.at(-1)!;
}

describe("on a disk that is full", () => {
  test("a turn runs to its end, its watchers are told once, and all of it is saved when there is room again", async () => {
    store.full = true;
    const { turn } = await start("first");
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")[0]!.params.turn.status).toBe("completed");
    expect(client.of("warning")).toHaveLength(1);
    expect(client.of("warning")[0]!.params).toMatchObject({ message: expect.stringContaining("database or disk is full") as string });
    expect([...store.threads()]).toEqual([]);
    // Nobody can tell from the answers.
    expect((await client.call("thread/list", {})).data.map(({ id }) => id)).toEqual([threadId]);
    expect((await client.call("thread/read", { threadId, includeTurns: true })).thread.turns.map(({ id }) => id)).toEqual([turn.id]);

    store.full = false;
    await client.call("thread/name/set", { threadId, name: "kept" });
    expect(store.thread(threadId)).toMatchObject({ name: "kept", harness: "fake", preview: "first", nativeSessionId: setup.adapter.sessions[0]!.nativeSessionId });
    expect(store.turns(threadId)).toMatchObject([{ turnId: turn.id, outcome: { status: "succeeded" } }]);
  });

  test("an input that cannot be kept is refused in clear words, and the turn goes on", async () => {
    const session = await running();
    store.full = true;
    expect((await add("lost?")).error).toMatchObject({ code: -32603, message: expect.stringMatching(/could not be saved: database or disk is full$/) as string });
    const steer = await client.request("turn/steer", { threadId, input: text("lost?"), expectedTurnId: client.of("turn/started")[0]!.params.turn.id });
    expect(steer.error?.message).toMatch(/could not be saved: database or disk is full$/);
    expect(await queue()).toEqual([]);
    session.message("m", "still here");
    session.end({ status: "succeeded" });
    await client.turnsCompleted(1);
    expect(client.of("turn/completed")[0]!.params.turn).toMatchObject({ status: "completed" });
    store.full = false;
    setup.adapter.script = (each, input, key) => each.begin(key, input);
    expect((await add("second")).error).toBeUndefined();
    await client.until("its turn", () => client.of("turn/started")[1]);
  });

  test("a change that a client asked for is refused, and nothing of it is there", async () => {
    await running();
    store.full = true;
    for (const [method, params] of [["thread/name/set", { name: "never" }], ["thread/metadata/update", { gitInfo: { branch: "never" } }]] as const) {
      expect((await client.request(method, { threadId, ...params })).error?.message, method).toMatch(/could not be saved/);
    }
    expect((await client.call("thread/read", { threadId })).thread).toMatchObject({ name: null, gitInfo: null });
  });

  test("a thread is not cut back where that cannot be kept, and its copy is let go", async () => {
    for (const [at, words] of ["one", "two"].entries()) {
      await start(words);
      await client.turnsCompleted(at + 1);
    }
    const turns = async () => (await client.call("thread/read", { threadId, includeTurns: true })).thread.turns.map(({ id }) => id);
    const before = await turns();
    store.full = true;
    expect((await client.request("thread/revert", { threadId, beforeTurnId: before[1] })).error?.message).toMatch(/could not be saved/);
    expect(setup.adapter.sessions.map(({ closed }) => closed)).toEqual([false, true]);
    expect(await turns()).toEqual(before);
    store.full = false;
    await start("three");
    await client.turnsCompleted(3);
    expect(await turns()).toHaveLength(3);
  });

  test("an input that waited is sent once, also after a restart", async () => {
    const session = await running();
    await add("waits");
    expect(store.queue(threadId)).toHaveLength(1);
    store.full = true;
    session.end({ status: "succeeded" });
    await client.until("its turn", () => client.of("turn/started")[1]);
    // As long as the process lives it is not there any more, though the disk still has it.
    expect(store.queue(threadId)).toHaveLength(1);
    expect(await queue()).toEqual([]);
    store.full = false;
    setup.adapter.sessions[0]!.end({ status: "succeeded" });
    await client.turnsCompleted(2);
    expect(store.queue(threadId)).toEqual([]);
  });
});

test("an input is kept until the harness has it", async () => {
  let open!: () => void;
  setup.adapter.beforeOpen = () => new Promise((resolve) => (open = resolve));
  await start("not there yet");
  await client.notice("thread/status/changed");
  expect(store.queue(threadId)).toMatchObject([{ input: text("not there yet") }]);
  open();
  await client.turnsCompleted(1);
  expect(store.queue(threadId)).toEqual([]);
});

describe("notes that wait", () => {
  const fact = (turnId: string) => ({ turnId, turnKey: `k-${turnId}`, outcome: null, startedAt: 1, completedAt: null });

  test("are read as if they were written, and go with their thread", () => {
    const troubles: unknown[] = [];
    const patient = new PatientStore(store, (error) => troubles.push(error));
    patient.keepTurn("a", fact("1"));
    store.full = true;
    patient.keepTurn("a", { ...fact("1"), completedAt: 5 });
    patient.keepTurn("a", fact("2"));
    patient.keepTurn("b", fact("3"));
    expect(troubles).toHaveLength(3);
    expect(patient.turns("a")).toEqual([{ ...fact("1"), completedAt: 5 }, fact("2")]);
    expect(patient.turnByKey("a", "k-2")).toEqual(fact("2"));
    expect(() => patient.saveTurn("a", fact("4"))).toThrow("could not be saved");
    store.full = false;
    patient.deleteThread("b");
    expect(store.turns("a")).toEqual([{ ...fact("1"), completedAt: 5 }, fact("2")]);
    expect(store.turns("b")).toEqual([]);
  });

  test("are given up beyond ten thousand, the oldest first, and nothing of them stays in memory", () => {
    const patient = new PatientStore(store, () => undefined);
    const before = { id: "t", name: null } as ThreadRecord;
    patient.saveThread(before);
    patient.saveQueued("q", { id: "1" } as QueuedInput);
    store.full = true;
    patient.keepThread({ ...before, name: "oldest" });
    patient.forgetQueued("q", "1");
    patient.keepTurn("a", fact("0"));
    expect([patient.thread("t")?.name, patient.queue("q"), patient.turns("a")]).toEqual(["oldest", [], [fact("0")]]);
    for (let at = 1; at <= 10_000; at++) patient.keepTurn("b", fact(String(at)));
    expect([patient.thread("t"), patient.queue("q"), patient.turns("a")]).toEqual([before, [{ id: "1" }], []]);
    expect(patient.turns("b")).toHaveLength(10_000);
  });

  test("are not lost with a transaction that is taken back", () => {
    const patient = new PatientStore(store, () => undefined);
    store.full = true;
    patient.keepTurn("a", fact("1"));
    store.full = false;
    const wrong = new Error("changed my mind");
    expect(() => patient.transaction(() => {
      patient.saveTurn("a", fact("2"));
      throw wrong;
    })).toThrow(wrong);
    expect(patient.turns("a").some(({ turnId }) => turnId === "1")).toBe(true);
  });

  test("are the latest word again when what took their place is taken back with its transaction", () => {
    const patient = new PatientStore(store, () => undefined);
    const refuse = vi.spyOn(store, "saveTurn").mockImplementation(() => {
      throw new Error("database or disk is full");
    });
    patient.keepTurn("a", fact("1"));
    const wrong = new Error("changed my mind");
    expect(() => patient.transaction(() => {
      refuse.mockRestore();
      patient.saveTurn("a", { ...fact("1"), completedAt: 9 });
      throw wrong;
    })).toThrow(wrong);
    expect(patient.turns("a")).toEqual([fact("1")]);
    patient.saveThread({ id: "t", name: null } as ThreadRecord);
    expect(store.turns("a")).toEqual([fact("1")]);
  });

  test("do not write over what was noted later in a transaction", () => {
    const patient = new PatientStore(store, () => undefined);
    const refuse = vi.spyOn(store, "saveTurn").mockImplementation(() => {
      throw new Error("database or disk is full");
    });
    patient.keepTurn("a", fact("1"));
    patient.transaction(() => {
      refuse.mockRestore();
      patient.keepTurn("a", { ...fact("1"), completedAt: 9 });
    });
    patient.saveThread({ id: "t", name: null } as ThreadRecord);
    expect(store.turns("a")).toEqual([{ ...fact("1"), completedAt: 9 }]);
  });
});
