import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient, TestHost } from "../testing/client.ts";
import { threadIdFor, turnIdFor } from "./ids.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];

let setup: TestHost;
let client: TestClient;
let threadId: string;
beforeEach(async () => {
  setup = await startTestHost();
  client = await connectStdio(setup.host).initialize();
  threadId = (await client.call("thread/start", { cwd: "/w" })).thread.id;
});
afterEach(() => setup.host.close());

async function turns(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) {
    ids.push((await client.call("turn/start", { threadId, input: text(`prompt ${at}`) })).turn.id);
    await client.turnsCompleted(at + 1);
  }
  return ids;
}
const list = (params: object = {}) => client.call("thread/turns/list", { threadId, ...params });
const idsOf = (page: { data: { id: string }[] }): string[] => page.data.map((turn) => turn.id);

describe("turns of a thread", () => {
  test("have the ids, items and phases that they had live, whether from the file or from memory", async () => {
    const ids = await turns(2);
    const read = (await client.call("thread/read", { threadId, includeTurns: true })).thread.turns;
    expect(read.map((turn) => turn.id)).toEqual(ids);
    expect(read[1]!.items.map((item) => [item.type, item.phase ?? null])).toEqual([["userMessage", null], ["agentMessage", "final_answer"]]);
    const live = client.of("item/completed").filter(({ params }) => params.turnId === ids[1]).map(({ params }) => params.item);
    expect(read[1]!.items).toEqual(live);
    expect(read[1]).toMatchObject({ itemsView: "full", status: "completed" });
    setup.adapter.keepsHistory = false;
    const other = (await client.call("thread/start", { cwd: "/w" })).thread.id;
    await client.call("turn/start", { threadId: other, input: text("x") });
    await client.turnsCompleted(3);
    const kept = (await client.call("thread/read", { threadId: other, includeTurns: true })).thread.turns;
    expect(kept[0]!.items.map((item) => item.type)).toEqual(["userMessage", "agentMessage"]);
  });

  test("come in pages, newest first, and no cursor comes twice", async () => {
    const ids = await turns(7);
    const seen: string[] = [];
    const cursors: string[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await list({ limit: 3, cursor, itemsView: "notLoaded" });
      seen.push(...idsOf(page));
      expect(page.data.every((turn) => turn.items.length === 0 && turn.itemsView === "notLoaded")).toBe(true);
      if (page.nextCursor === null) break;
      expect(cursors).not.toContain(page.nextCursor);
      cursors.push(page.nextCursor);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(ids.toReversed());
    expect(idsOf(await list({ limit: 0 }))).toEqual([ids[6]]);
    expect(idsOf(await list({ sortDirection: "asc", limit: 2 }))).toEqual(ids.slice(0, 2));
    const { backwardsCursor } = await list({ limit: 2 });
    expect(idsOf(await list({ cursor: backwardsCursor, sortDirection: "asc" }))).toEqual([ids[6]]);
  });

  test("a cursor stays right while the thread grows; a foreign or stale one starts at the head", async () => {
    const ids = await turns(3);
    const { nextCursor } = await list({ limit: 1 });
    await client.call("turn/start", { threadId, input: text("one more") });
    await client.turnsCompleted(4);
    expect(idsOf(await list({ cursor: nextCursor }))).toEqual([ids[1], ids[0]]);
    const foreign = JSON.stringify({ requestedThreadId: threadId, rolloutOrdinal: 70, includeAnchor: false, scope: { kind: "turns" } });
    const stale = nextCursor!.replace(ids[2]!, "01a229e6-0000-7000-8000-000000000000");
    const head = idsOf(await list());
    expect(idsOf(await list({ cursor: foreign }))).toEqual(head);
    expect(idsOf(await list({ cursor: stale }))).toEqual(head);
    expect((await client.request("thread/turns/list", { threadId, cursor: "garbage" })).error?.message).toBe("invalid cursor: garbage");
  });

  test("one that failed before the harness began keeps its place among those of the file", async () => {
    const ids = await turns(1);
    setup.adapter.sessions[0]!.breakOff();
    setup.adapter.beforeOpen = () => Promise.reject(new Error("down"));
    ids.push((await client.call("turn/start", { threadId, input: text("fails") })).turn.id);
    await client.turnsCompleted(2);
    setup.adapter.beforeOpen = () => Promise.resolve();
    ids.push((await client.call("turn/start", { threadId, input: text("works") })).turn.id);
    await client.turnsCompleted(3);
    const page = await list({ sortDirection: "asc", itemsView: "full" });
    expect(page.data.map((turn) => [turn.id, turn.status])).toEqual([[ids[0], "completed"], [ids[1], "failed"], [ids[2], "completed"]]);
    expect(page.data[1]!.items[0]).toMatchObject({ type: "userMessage", content: text("fails") });
  });

  test("the summary view is the first prompt and the last answer", async () => {
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      for (const id of ["a", "b", "c"]) session.message(id, id);
      session.end({ status: "succeeded" });
    };
    await turns(1);
    expect((await list()).data[0]!.items.map((item) => item.text ?? item.type)).toEqual(["userMessage", "c"]);
  });

  test("a turn that runs is there with what is complete, and once only", async () => {
    await turns(1);
    setup.adapter.script = (session, input, key) => {
      session.begin(key, input);
      session.message("a", "first");
      session.emit({ type: "item.started", item: { kind: "command", id: "c", command: "ls" }, at: 9 });
    };
    const { turn } = await client.call("turn/start", { threadId, input: text("go") });
    await client.notice("item/started", ({ params }) => params.item.type === "commandExecution");
    const page = await list({ itemsView: "full" });
    expect(page.data.map(({ id, status, items }) => [id, status, items.map((item) => item.type)])[0])
      .toEqual([turn.id, "inProgress", ["userMessage", "agentMessage"]]);
    expect(page.data).toHaveLength(2);
  });

  test("an interrupted turn stays interrupted though the file says nothing of it", async () => {
    setup.adapter.script = (session, input, key) => session.begin(key, input);
    const { turn } = await client.call("turn/start", { threadId, input: text("go") });
    await client.notice("turn/started");
    setup.adapter.onCancel = (session) => session.breakOff(new Error("killed"));
    await client.call("turn/interrupt", { threadId, turnId: turn.id });
    await client.turnsCompleted(1);
    const live = client.of("turn/completed")[0]!.params.turn.status;
    expect((await list()).data[0]).toMatchObject({ id: turn.id, status: live });
  });
});

describe("items of a thread", () => {
  const items = (params: object = {}) => client.call("thread/items/list", { threadId, ...params });

  test("come in pages across turns in both directions, or of one turn", async () => {
    const ids = await turns(3);
    const seen: string[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await items({ limit: 2, cursor });
      seen.push(...page.data.map((entry) => entry.item.id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toHaveLength(6);
    expect(new Set(seen).size).toBe(6);
    const down = await items({ sortDirection: "desc", limit: 100 });
    expect(down.data.map((entry) => entry.item.id)).toEqual(seen.toReversed());
    const one = await items({ turnId: ids[1] });
    expect(one.data.map((entry) => entry.turnId)).toEqual([ids[1], ids[1]]);
    expect(one.data[0]).toEqual({ turnId: ids[1], item: expect.objectContaining({ type: "userMessage" }), startedAtMs: expect.any(Number), completedAtMs: expect.any(Number) });
  });

  test("the cursor of thread/resume pages back from the newest item, and does no harm with another turn's filter", async () => {
    const ids = await turns(2);
    const resumed = await client.call("thread/resume", { threadId, excludeTurns: true });
    const page = await items({ cursor: resumed.itemsBackwardsCursor, sortDirection: "desc", limit: 100 });
    expect(page.data.map((entry) => entry.turnId)).toEqual([ids[1], ids[1], ids[0], ids[0]]);
    const filtered = await items({ cursor: resumed.itemsBackwardsCursor, turnId: ids[0], sortDirection: "desc" });
    expect(filtered.data).toHaveLength(2);
    expect(idsOf(await list({ cursor: resumed.turnsBackwardsCursor }))).toEqual([ids[1], ids[0]]);
  });
});

describe("saved sessions in a folder", () => {
  const saved = (key: string, prompt: string, at: number): HarnessEvent[] => [
    { type: "turn.started", turnKey: key, at, input: [{ type: "text", text: prompt, text_elements: [] }] },
    { type: "item.started", item: { kind: "message", id: "m", text: `answer to ${prompt}` }, at },
    { type: "item.completed", itemId: "m", outcome: { status: "succeeded" }, at: at + 5 },
    { type: "turn.completed", outcome: { status: "unknown" }, at: at + 6 },
  ];

  test("are listed, opened by a stable id, and can be continued where the harness can resume", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sessions-"));
    const file = join(folder, "abc");
    writeFileSync(file, "fake-session fake 1");
    writeFileSync(join(folder, "notes.txt"), "something else");
    await setup.host.close();
    setup = await startTestHost({ sessionFolders: [folder] });
    setup.adapter.save(file, [saved("k1", "old prompt", 1_000_000), saved("k2", "second", 2_000_000)]);
    client = await connectStdio(setup.host).initialize();

    const page = await client.call("thread/list", {});
    const id = threadIdFor("fake", "abc");
    expect(page.data).toEqual([expect.objectContaining({ id, preview: "old prompt", status: { type: "notLoaded" }, cwd: "/fake-cwd", createdAt: 1000, updatedAt: 2000 })]);
    const opened = await client.call("thread/resume", { threadId: id });
    expect(opened.thread.turns.map((turn) => turn.id)).toEqual([turnIdFor("fake", "abc", "k1"), turnIdFor("fake", "abc", "k2")]);
    expect(opened.thread.turns[0]!.items.at(-1)).toMatchObject({ text: "answer to old prompt", phase: "final_answer" });

    await client.call("turn/start", { threadId: id, input: text("go on") });
    await client.turnsCompleted(1);
    expect(setup.adapter.sessions[0]!.request).toMatchObject({ kind: "resume", nativeSessionId: "abc" });
    expect((await client.call("thread/list", {})).data.map((thread) => thread.id)).toEqual([id]);
  });

  test("without that, a turn is refused with what is missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sessions-"));
    const file = join(folder, "abc");
    writeFileSync(file, "fake-session fake 1");
    await setup.host.close();
    const { fakeEntry } = await import("../testing/fake-adapter.ts");
    setup = await startTestHost({ sessionFolders: [folder], harnesses: [fakeEntry((made) => made.save(file, [saved("k1", "x", 1)]), "fake", { resume: false })] });
    client = await connectStdio(setup.host).initialize();
    const id = threadIdFor("fake", "abc");
    await client.call("thread/resume", { threadId: id });
    expect((await client.request("turn/start", { threadId: id, input: text("x") })).error)
      .toEqual({ code: -32601, message: "turn/start is not supported yet: Fake cannot continue a saved session" });
  });
});
