import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { MAX_KEPT_INTERACTIONS, SqliteInteractionStore, type InteractionStore, type NativeRequest } from "./interactions.ts";
import { StoreLockedError } from "./lock.ts";
import { MemoryThreadStore } from "./memory.ts";
import { memoryStore, openStore } from "./open.ts";
import { SqliteThreadStore } from "./sqlite.ts";
import { loadSqlDriver } from "./sqlite-driver.ts";
import type { ThreadRecord, ThreadStore, TurnFact } from "./store.ts";

const folders: string[] = [];
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "foldcast-store-"));
  folders.push(made);
  return made;
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

function record(id: string, change: Partial<ThreadRecord> = {}): ThreadRecord {
  return {
    id, harness: null, nativeSessionId: null, file: null, model: null, effort: null, cwd: "/w", name: null, preview: "", archived: false,
    ephemeral: false, threadSource: null, originator: null, forkedFromId: null, section: null, gitInfo: null, createdAt: 1, updatedAt: 1, recencyAt: 1, ...change,
  };
}
function fact(turnId: string, change: Partial<TurnFact> = {}): TurnFact {
  return { turnId, turnKey: null, outcome: null, startedAt: null, completedAt: null, ...change };
}

const driver = loadSqlDriver();
const id = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  fc.tuple(id, fc.constantFrom("x", "y", null), fc.string()).map(([thread, name, preview]) => (store: ThreadStore) => store.saveThread(record(thread, { name, preview, harness: "h", nativeSessionId: `n-${thread}` }))),
  id.map((thread) => (store: ThreadStore) => store.deleteThread(thread)),
  fc.tuple(id, fc.constantFrom("m", null)).map(([thread, native]) => (store: ThreadStore) => store.saveThread(record(thread, { harness: "h", nativeSessionId: native === null ? null : `m-${thread}` }))),
  fc.tuple(id).map(([native]) => (store: ThreadStore) => store.hideSession({ harness: "h", nativeSessionId: `e-${native}` })),
  fc.tuple(id, fc.constantFrom("t1", "t2", "t3"), fc.constantFrom("k1", null)).map(([thread, turn, key]) => (store: ThreadStore) => store.saveTurn(thread, fact(turn, { turnKey: key === null ? null : `${key}-${turn}`, outcome: { status: "succeeded" } }))),
  fc.tuple(id, fc.constantFrom("t1", "t2", "t3")).map(([thread, turn]) => (store: ThreadStore) => store.deleteTurn(thread, turn)),
  fc.tuple(id, fc.constantFrom("q1", "q2", "q3"), fc.string()).map(([thread, queued, text]) => (store: ThreadStore) =>
    store.saveQueued(thread, { id: queued, input: [{ type: "text", text, text_elements: [] }], clientId: null, metadata: { text } })),
  fc.tuple(id, fc.constantFrom("q1", "q2", "q3")).map(([thread, queued]) => (store: ThreadStore) => store.deleteQueued(thread, queued)),
  fc.tuple(id, fc.string()).map(([section, name]) => (store: ThreadStore) => store.saveSection({ id: section, name, appearance: null })),
  id.map((section) => (store: ThreadStore) => store.deleteSection(section)),
  // From here on it has all of them in memory.
  fc.constant((store: ThreadStore) => {
    Array.from(store.threads());
  }),
  id.map((thread) => (store: ThreadStore) => {
    try {
      store.transaction(() => {
        store.saveThread(record(thread, { name: "never", harness: "h", nativeSessionId: `n-${thread}` }));
        store.deleteTurn(thread, "t1");
        store.deleteQueued(thread, "q1");
        store.deleteSection(thread);
        throw new Error("no");
      });
    } catch {
      // Undone, in the file at least.
    }
  }),
);
function state(store: ThreadStore): unknown {
  const threads = [...store.threads()].sort((a, b) => a.id.localeCompare(b.id));
  const hidden = [...store.hiddenSessions()].map(({ nativeSessionId }) => nativeSessionId).sort();
  return { threads, hidden, queues: ["a", "b", "c"].map((thread) => store.queue(thread)), sections: store.sections(), turns: ["a", "b", "c"].map((thread) => store.turns(thread)), byKey: store.turnByKey("a", "k1-t1"), byNative: store.threadByNative("h", "n-b") };
}

describe.skipIf(driver === null)("the store on disk", () => {
  it("gives the same answers as the one in memory, and again after it was opened anew", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const directory = folder();
      const memory = new MemoryThreadStore();
      const first = openStore(directory, driver);
      for (const apply of steps) {
        apply(first.store);
        apply(memory);
      }
      const want = state(memory);
      first.close();
      const again = openStore(directory, driver);
      expect(state(again.store)).toEqual(want);
      again.close();
    }), { numRuns: 40 });
  });

  it("belongs to one process, whose death frees it", async () => {
    const directory = folder();
    openStore(directory, driver).close();
    const script = `import { openStore } from ${JSON.stringify(new URL("./open.ts", import.meta.url).href)}; openStore(${JSON.stringify(directory)}).announce({ url: "ws://127.0.0.1:1" }); process.stdout.write("open"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--conditions=@foldcast/source", "--import", "tsx", "--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(() => openStore(directory, driver)).toThrow(StoreLockedError);
    try {
      openStore(directory, driver);
    } catch (error) {
      expect((error as StoreLockedError).owner).toMatchObject({ pid: child.pid, url: "ws://127.0.0.1:1" });
    }
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    openStore(directory, driver).close();
  });

  it("keeps its files private", () => {
    const directory = join(folder(), "data");
    const opened = openStore(directory, driver);
    opened.store.saveThread(record("a"));
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o077, name).toBe(0);
    expect(statSync(directory).mode & 0o077).toBe(0);
    opened.close();
  });

  it("refuses a file of a later version, and says so", () => {
    const file = join(folder(), "x.sqlite");
    const database = driver!(file);
    database.exec("PRAGMA user_version = 99");
    expect(() => new SqliteThreadStore(database)).toThrow(/later foldcast/);
    database.close();
  });

  it("counts a row that cannot be read as absent", () => {
    const directory = folder();
    const opened = openStore(directory, driver);
    opened.store.saveThread(record("a"));
    opened.store.saveThread(record("b"));
    opened.close();
    const database = driver!(join(directory, "threads.sqlite"));
    database.exec("UPDATE threads SET record = '{broken' WHERE id = 'a'");
    database.close();
    const again = openStore(directory, driver);
    expect([...again.store.threads()].map((thread) => thread.id)).toEqual(["b"]);
    expect(again.store.thread("a")).toBeNull();
    again.close();
  });
});

it.each(driver === null ? ["memory"] : ["memory", "disk"])("takes a key that comes again for the later turn's, in %s", (where) => {
  const { store, close } = where === "disk" ? openStore(folder(), driver) : memoryStore(null);
  store.saveThread(record("a"));
  for (const turnId of ["t1", "t2"]) store.saveTurn("a", fact(turnId, { turnKey: "k" }));
  expect(store.turnByKey("a", "k")?.turnId).toBe("t2");
  close();
});

it.each(driver === null ? ["memory"] : ["memory", "disk"])("hides the session of a thread that was deleted or went on in another one, in %s", (where) => {
  const { store, close } = where === "disk" ? openStore(folder(), driver) : memoryStore(null);
  const hidden = (): string[] => [...store.hiddenSessions()].map((session) => `${session.harness} ${session.nativeSessionId}`).sort();
  store.saveThread(record("a", { harness: "h", nativeSessionId: "one" }));
  store.saveThread(record("a", { harness: "h", nativeSessionId: "one", name: "x" }));
  store.saveThread(record("b"));
  store.deleteThread("b");
  expect(hidden()).toEqual([]);
  store.saveThread(record("a", { harness: "h", nativeSessionId: "two" }));
  expect(hidden()).toEqual(["h one"]);
  store.deleteThread("a");
  store.hideSession({ harness: "g", nativeSessionId: "three" });
  store.hideSession({ harness: "g", nativeSessionId: "three" });
  expect(hidden()).toEqual(["g three", "h one", "h two"]);
  close();
});

it("lives in memory where there is no SQLite, and says so", () => {
  const opened = openStore(folder(), null);
  opened.store.saveThread(record("a"));
  expect(opened.store.thread("a")?.id).toBe("a");
  expect(opened.memoryReason).toMatch(/better-sqlite3/);
  opened.close();
});

describe.each(driver === null ? ["memory"] : ["memory", "disk"])("interactions in %s", (where) => {
  const open = (): { interactions: InteractionStore; close: () => void } => (where === "disk" ? openStore(folder(), driver) : memoryStore(null));
  const row = (name: string, native: NativeRequest | null = null): Parameters<InteractionStore["add"]>[0] => ({ id: name, threadId: "a", turnId: "t", kind: "approval", native, createdAt: 1, expiresAt: 9 });
  const kept = (name: string): object => ({ id: name, threadId: "a", turnId: "t", kind: "approval", createdAt: 1, expiresAt: 9 });

  it("are settled by the first who tries, and what an earlier process left has expired", () => {
    const { interactions, close } = open();
    interactions.add(row("one"));
    interactions.add(row("two"));
    expect([interactions.settle("one", "answered", 3), interactions.settle("one", "expired", 4), interactions.settle("nobody", "answered", 5)]).toEqual([true, false, false]);
    expect(interactions.expirePending(6)).toBe(1);
    expect(interactions.find("one")).toMatchObject({ ...kept("one"), status: "answered", settledAt: 3 });
    expect(interactions.find("two")).toMatchObject({ ...kept("two"), status: "restarted", settledAt: 6 });
    expect(interactions.find("nobody")).toBeNull();
    close();
  });

  it("wait again when the harness asks the same as before the restart: that one only, and once", () => {
    const { interactions, close } = open();
    const native: NativeRequest = { threadId: "a", turnKey: "k", requestId: "r", digest: "d" };
    interactions.add(row("old", native));
    expect(interactions.revive(native, "t2", 20)).toBeNull();
    interactions.expirePending(6);
    for (const other of [{ threadId: "b" }, { turnKey: "k2" }, { requestId: "r2" }, { digest: "d2" }]) expect(interactions.revive({ ...native, ...other }, "t2", 20)).toBeNull();
    expect(interactions.revive(native, "t2", 20)).toBe("old");
    expect(interactions.find("old")).toMatchObject({ turnId: "t2", expiresAt: 20, status: "pending", settledAt: null });
    expect(interactions.revive(native, "t2", 20)).toBeNull();
    expect(interactions.settle("old", "answered", 7)).toBe(true);
    close();
  });

  it("are forgotten, the oldest first, beyond a thousand, but never while they wait", () => {
    const { interactions, close } = open();
    interactions.add(row("waits"));
    for (let at = 0; at <= MAX_KEPT_INTERACTIONS; at += 1) {
      interactions.add(row(`i${at}`));
      interactions.settle(`i${at}`, "answered", 2);
    }
    expect([interactions.find("i0"), interactions.find("i2")?.id, interactions.find("waits")?.status]).toEqual([null, "i2", "pending"]);
    close();
  });
});

it.skipIf(driver === null)("two processes that answer one interaction cannot both win", () => {
  const place = folder();
  openStore(place, driver).close();
  const [a, b] = [driver!, driver!].map((open) => new SqliteInteractionStore(open(join(place, "threads.sqlite"))));
  a!.add({ id: "one", threadId: "a", turnId: "t", kind: "approval", native: null, createdAt: 1, expiresAt: 9 });
  expect([b!.settle("one", "answered", 3), a!.settle("one", "answered", 3)]).toEqual([true, false]);
});

it("says at once where no folder can be made", () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  for (const path of ["/proc/nowhere/deep/down", join(file, "below")]) expect(() => openStore(path), path).toThrow(`cannot use the data folder ${path}`);
  const made = join(folder(), "a", "b");
  openStore(made).close();
  expect(statSync(made).mode & 0o777).toBe(0o700);
});
