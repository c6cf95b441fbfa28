import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HarnessEvent, SessionPeek } from "@foldcast/protocol-core/harness";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { MemoryThreadStore } from "../store/memory.ts";
import type { ThreadStore } from "../store/store.ts";
import { threadIdFor } from "./ids.ts";
import { DEFAULT_MAX_SESSIONS, NO_DISCOVERY } from "./saved-sessions.ts";
import type { DiscoveryOptions } from "./saved-sessions.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
const idOf = (native: string): string => threadIdFor("fake", native);

let home: string;
let reads: string[];
let setup: TestHost;
let client: TestClient;
let store: ThreadStore;
/** How far ahead the host's clock is. */
let ahead: number;

beforeEach(() => {
  ahead = 0;
  home = mkdtempSync(join(tmpdir(), "saved-"));
  reads = [];
  store = new MemoryThreadStore();
});
afterEach(() => setup.host.close());

/** A host whose harness keeps sessions in `home/sessions`: a JSON file each, which is what a look at it gives. */
async function start(options: Partial<DiscoveryOptions> = {}): Promise<void> {
  setup = await startTestHost({ store, now: () => Date.now() + ahead, discovery: { ...NO_DISCOVERY, enabled: true, cacheDir: join(home, "data"), home, ...options } });
  Object.assign(setup.adapter.history, {
    roots: ({ home: place }: { home: string }) => [{ folder: join(place, "sessions"), depth: 1 }],
    peek: (file: string) => {
      reads.push(file);
      return Promise.resolve().then(() => JSON.parse(readFileSync(file, "utf8")) as SessionPeek | null);
    },
  });
  client = await connectStdio(setup.host).initialize();
}
async function restart(): Promise<void> {
  await setup.host.close();
  reads = [];
  await start();
}

function save(native: string, peek: Partial<SessionPeek> = {}, name = `${native}.json`): string {
  const file = join(home, "sessions", name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({
    nativeSessionId: native, cwd: "/w", title: null, prompt: `prompt of ${native}`, startedAt: 1_000, updatedAt: 2_000, kind: "session", parentNativeSessionId: null, ...peek,
  }));
  return file;
}
const turn = (key: string, prompt: string): HarnessEvent[] => [
  { type: "turn.started", turnKey: key, at: 1_000, input: [{ type: "text", text: prompt, text_elements: [] }] },
  { type: "turn.completed", outcome: { status: "succeeded" }, at: 2_000 },
];
async function listed(params: object = {}): Promise<string[]> {
  // A list that comes at once is answered with what the last one saw.
  ahead += 300;
  return (await client.call("thread/list", { limit: 100, ...params })).data.map(({ id }) => id);
}

describe("sessions that a harness keeps on this machine", () => {
  test("are threads, with what their program wrote of them", async () => {
    save("one", { title: "Clocks", cwd: "/repo", startedAt: 5_000, updatedAt: 9_000 });
    await start();
    expect((await client.call("thread/list", {})).data).toEqual([expect.objectContaining({
      id: idOf("one"), name: "Clocks", preview: "prompt of one", cwd: "/repo", createdAt: 5, updatedAt: 9, recencyAt: 9, status: { type: "notLoaded" }, turns: [],
    })]);
  });

  test("are not looked for where that is switched off", async () => {
    save("one");
    await start({ enabled: false });
    expect(await listed()).toEqual([]);
    expect(reads).toEqual([]);
  });

  test("are not read before somebody asks, never twice, and again when they changed", async () => {
    const files = ["one", "two", "three"].map((native) => save(native));
    await start();
    expect(reads).toEqual([]);
    expect(await listed()).toHaveLength(3);
    await listed();
    expect(reads.toSorted()).toEqual(files.toSorted());
    reads = [];
    save("two", { prompt: "something else, and longer", updatedAt: 50_000 });
    const found = (await listed(), await client.call("thread/list", { searchTerm: "something else" })).data;
    expect(found).toEqual([expect.objectContaining({ id: idOf("two"), updatedAt: 50 })]);
    expect(reads).toEqual([files[1]]);
  });

  test("are known to the next start without a look, but for those that changed meanwhile", async () => {
    const files = ["one", "two", "three"].map((native) => save(native));
    await start();
    await listed();
    await restart();
    expect(await listed()).toHaveLength(3);
    expect(reads).toEqual([]);
    await setup.host.close();
    appendFileSync(files[0]!, " ");
    rmSync(files[1]!);
    await start();
    expect((await listed()).toSorted()).toEqual([idOf("one"), idOf("three")].toSorted());
    expect(reads).toEqual([files[0]]);
  });

  test("a cache that is damaged, or of another version, is no reason to show less", async () => {
    save("one");
    save("two");
    await start();
    await listed();
    const cache = join(home, "data", "saved-sessions.jsonl");
    expect(statSync(cache).mode & 0o777).toBe(0o600);
    writeFileSync(cache, readFileSync(cache, "utf8").slice(0, -30));
    await restart();
    expect(await listed()).toHaveLength(2);
    expect(reads).toHaveLength(1);
    writeFileSync(cache, readFileSync(cache, "utf8").replace(/"foldcast":"[^"]*"/, "\"foldcast\":\"0\""));
    await restart();
    expect(await listed()).toHaveLength(2);
    expect(reads).toHaveLength(2);
  });

  test("come newest first, so many and so old as is asked for", async () => {
    for (const [at, native] of ["a", "b", "c", "d"].entries()) {
      const file = save(native, { updatedAt: null });
      const seconds = Math.floor(Date.now() / 1000) - at * 86_400;
      utimesSync(file, seconds, seconds);
    }
    await start({ maxSessions: 3 });
    expect(await listed({ sortKey: "updated_at" })).toEqual(["a", "b", "c"].map(idOf));
    expect(reads).toHaveLength(3);
    await setup.host.close();
    await start({ maxSessions: DEFAULT_MAX_SESSIONS, maxAgeMs: 1.5 * 86_400_000 });
    expect(await listed({ sortKey: "updated_at" })).toEqual(["a", "b"].map(idOf));
  });

  test.each(["created_at", "updated_at", "recency_at"])("one with times that are none keeps no list by %s from its end, either way", async (sortKey) => {
    const times = [-1, 8.64e15, 1e300, Date.UTC(9999, 11, 31, 23, 59, 59, 999), Date.UTC(-100), 0.5, null];
    for (const [at, time] of times.entries()) {
      const file = save(`s${at}`, { startedAt: time, updatedAt: time });
      utimesSync(file, at % 2 === 0 ? 4e9 : -1e9, at % 2 === 0 ? 4e9 : -1e9);
    }
    await start();
    for (const sortDirection of ["asc", "desc"]) {
      for (const limit of [1, 3]) {
        const ids: string[] = [];
        for (let cursor: string | null = null; ;) {
          const page: { data: { id: string }[]; nextCursor: string | null; backwardsCursor: string | null } = await client.call("thread/list", { sortKey, sortDirection, limit, cursor });
          await client.call("thread/list", { sortKey, sortDirection, limit, cursor: page.backwardsCursor });
          ids.push(...page.data.map(({ id }) => id));
          if (page.nextCursor === null) break;
          cursor = page.nextCursor;
        }
        expect(ids.toSorted()).toEqual(times.map((_, at) => idOf(`s${at}`)).toSorted());
      }
    }
  });

  test("sub-agents and copies are none; a copy whose original is gone is; of two files of one session the newer counts", async () => {
    save("one", { prompt: "old place" }, "x/one.json");
    utimesSync(join(home, "sessions/x/one.json"), 1_000, 1_000);
    save("one", { prompt: "new place" }, "y/one.json");
    save("child", { kind: "child", parentNativeSessionId: "one" });
    save("copy", { kind: "copy", parentNativeSessionId: "one" });
    save("left", { kind: "copy", parentNativeSessionId: "gone" });
    const dropped = save("dropped");
    await start();
    Object.assign(setup.adapter.history, { copies: () => Promise.resolve(new Set([dropped])) });
    expect((await listed()).toSorted()).toEqual([idOf("one"), idOf("left")].toSorted());
    expect((await client.call("thread/list", { searchTerm: "new place" })).data).toHaveLength(1);
    expect((await client.call("thread/read", { threadId: idOf("child") })).thread.id).toBe(idOf("child"));
  });

  test("a file that cannot be read, or an adapter that throws, hides no other", async () => {
    save("one");
    writeFileSync(join(home, "sessions", "broken.json"), "{");
    await start();
    Object.assign(setup.adapter.history, { copies: () => Promise.reject(new Error("no")) });
    expect(await listed()).toEqual([idOf("one")]);
    reads = [];
    await listed();
    expect(reads).toEqual([]);
  });

  test("a file that could not be read is looked at again by the next process", async () => {
    save("one");
    save("two");
    await start();
    const { history } = setup.adapter;
    const peek = history.peek!.bind(history);
    Object.assign(history, { peek: (file: string) => (file.endsWith("one.json") ? Promise.reject(new Error("no")) : peek(file)) });
    expect(await listed()).toEqual([idOf("two")]);
    await restart();
    expect((await listed()).toSorted()).toEqual([idOf("one"), idOf("two")].toSorted());
    expect(reads).toEqual([join(home, "sessions", "one.json")]);
  });

  test("a file that could not be read is looked at again when its rights have changed", async () => {
    save("one");
    const file = save("two");
    await start();
    const { history } = setup.adapter;
    const peek = history.peek!.bind(history);
    Object.assign(history, { peek: (path: string) => ((statSync(path).mode & 0o400) === 0 ? Promise.reject(new Error("EACCES")) : peek(path)) });
    chmodSync(file, 0o000);
    expect(await listed()).toEqual([idOf("one")]);
    chmodSync(file, 0o600);
    expect((await listed()).toSorted()).toEqual([idOf("one"), idOf("two")].toSorted());
    expect(reads).toEqual([join(home, "sessions", "one.json"), file]);
  });

  test("of a long first look that never ends, the next process has what was seen", async () => {
    for (let at = 0; at < 12; at += 1) save(`s${at}`);
    await start();
    const { history } = setup.adapter;
    const peek = history.peek!.bind(history);
    Object.assign(history, { peek: async (file: string) => (file.endsWith("s0.json") ? new Promise(() => undefined) : (await delay(400), peek(file))) });
    // Answered after five seconds only.
    client.call("thread/list", {}).catch(() => null);
    await vi.waitFor(() => expect(readdirSync(join(home, "data"))).toContain("saved-sessions.jsonl"), { timeout: 15_000, interval: 20 });
    await restart();
    expect(await listed()).toHaveLength(12);
    expect(reads.length).toBeLessThan(12);
  });

  test.each([[1, 0], [60_000, 1]])("a list waits %d ms for a first look and shows %d of one session then", async (firstPatienceMs, expected) => {
    save("one");
    await start({ firstPatienceMs });
    const { history } = setup.adapter;
    const peek = history.peek!.bind(history);
    let look = (): void => undefined;
    const looked = new Promise<void>((resolve) => (look = resolve));
    Object.assign(history, { peek: async (file: string) => (await looked, peek(file)) });
    const list = client.call("thread/list", {});
    if (expected > 0) look();
    expect((await list).data).toHaveLength(expected);
    look();
  });

  test("a long first look tells how far it is and shows what it has seen", async () => {
    for (let at = 0; at < 12; at += 1) save(`s${at}`);
    const steps: [number, number][] = [];
    await start({ onProgress: (done, total) => steps.push([done, total]) });
    const { history } = setup.adapter;
    const peek = history.peek!.bind(history);
    Object.assign(history, { peek: async (file: string) => (await delay(400), peek(file)) });
    expect((await client.call("thread/list", { limit: 100 })).data).toHaveLength(12);
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.at(-1)).toEqual([12, 12]);
  });
});

describe("a saved session that somebody works with", () => {
  const archive = (native: string) => client.call("thread/archive", { threadId: idOf(native) });

  test("opens whole by its stable id and goes on in its harness; it is one thread before and after, in every process", async () => {
    const file = save("one");
    await start();
    setup.adapter.save(file, [turn("k1", "first"), turn("k2", "second")]);
    const opened = await client.call("thread/resume", { threadId: idOf("one") });
    expect(opened.thread.turns).toHaveLength(2);
    await client.call("turn/start", { threadId: idOf("one"), input: text("third") });
    await client.turnsCompleted(1);
    expect(setup.adapter.sessions[0]!.request).toMatchObject({ kind: "resume", nativeSessionId: "one" });
    expect(await listed()).toEqual([idOf("one")]);
    await restart();
    expect(await listed()).toEqual([idOf("one")]);
  });

  test("opens without a scan while its file is as it was seen", async () => {
    const file = save("one");
    await start();
    await listed();
    setup.adapter.save(file, [turn("k1", "first")]);
    reads = [];
    save("two");
    ahead += 300;
    expect((await client.call("thread/turns/list", { threadId: idOf("one") })).data).toHaveLength(1);
    expect(reads).toEqual([]);
  });

  test("keeps our name, archive and deletion over restarts, and its file untouched", async () => {
    const files = ["one", "two", "three"].map((native) => save(native, { title: `title of ${native}` }));
    const before = files.map((file) => [readFileSync(file, "utf8"), statSync(file).mtimeMs]);
    await start();
    await client.call("thread/name/set", { threadId: idOf("one"), name: "My name" });
    await archive("two");
    await client.call("thread/delete", { threadId: idOf("three") });
    for (const again of [false, true]) {
      if (again) await restart();
      expect(await listed()).toEqual([idOf("one")]);
      expect((await client.call("thread/read", { threadId: idOf("one") })).thread.name).toBe("My name");
      expect(await listed({ archived: true })).toEqual([idOf("two")]);
      expect((await client.request("thread/read", { threadId: idOf("three") })).error?.message).toBe(`thread not loaded: ${idOf("three")}`);
      expect((await client.request("thread/resume", { threadId: idOf("three") })).error?.message).toBe(`no rollout found for thread id ${idOf("three")}`);
    }
    expect(files.map((file) => [readFileSync(file, "utf8"), statSync(file).mtimeMs])).toEqual(before);
  });

  test("that is a thread of ours, and whose file is gone, says so; it comes back with the file", async () => {
    const file = save("one");
    await start();
    setup.adapter.save(file, [turn("k1", "first")]);
    await client.call("thread/name/set", { threadId: idOf("one"), name: "Mine" });
    const open = setup.adapter.history.open.bind(setup.adapter.history);
    Object.assign(setup.adapter.history, { open: () => Promise.reject(new Error("ENOENT: no such file")) });
    for (const method of ["thread/turns/list", "thread/items/list", "thread/resume"]) {
      expect((await client.request(method, { threadId: idOf("one") })).error).toMatchObject({ code: -32600, message: `the saved session ${file} cannot be read: ENOENT: no such file` });
    }
    Object.assign(setup.adapter.history, { open });
    expect((await client.call("thread/turns/list", { threadId: idOf("one") })).data).toHaveLength(1);
  });

  test("shows what its own program does later: a title, new turns, another place", async () => {
    const file = save("one");
    await start();
    await archive("one");
    save("one", { title: "Found a title", updatedAt: 90_000 });
    expect(await listed({ archived: true })).toEqual([idOf("one")]);
    const [thread] = (await client.call("thread/list", { archived: true })).data;
    expect(thread).toMatchObject({ name: "Found a title", updatedAt: 90 });
    const moved = join(home, "sessions", "moved.json");
    renameSync(file, moved);
    setup.adapter.save(moved, [turn("k1", "first")]);
    await listed();
    expect((await client.call("thread/read", { threadId: idOf("one"), includeTurns: true })).thread.turns).toHaveLength(1);
  });
});

describe("a session that we started", () => {
  async function run(params: object = {}): Promise<string> {
    const { thread } = await client.call("thread/start", { cwd: "/w", ...params });
    const before = client.of("turn/completed").length;
    await client.call("turn/start", { threadId: thread.id, input: text("hello") });
    await client.turnsCompleted(before + 1);
    return thread.id;
  }

  test("is never listed as found too, nor when its thread is gone or was ephemeral", async () => {
    await start();
    const id = await run();
    const native = setup.adapter.sessions[0]!.nativeSessionId;
    save(native);
    expect(await listed()).toEqual([id]);
    expect((await client.request("thread/read", { threadId: idOf(native) })).error?.code).toBe(-32600);
    await client.call("thread/delete", { threadId: id });
    expect(await listed()).toEqual([]);
    await run({ ephemeral: true });
    save(setup.adapter.sessions[1]!.nativeSessionId);
    expect(await listed()).toEqual([]);
    await restart();
    expect(await listed()).toEqual([]);
    expect(existsSync(join(home, "sessions", `${native}.json`))).toBe(true);
  });
});
