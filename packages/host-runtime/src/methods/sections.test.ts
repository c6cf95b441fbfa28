import { afterEach, beforeEach, expect, test } from "vitest";
import type { Host } from "../host.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient } from "../testing/client.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
type SectionView = { id: string; name: string; appearance: object | null };

let host: Host;
let client: TestClient;
let threads: string[];

beforeEach(async () => {
  ({ host } = await startTestHost());
  client = await connectStdio(host).initialize();
  threads = [];
  for (const [at, prompt] of ["alpha", "beta", "gamma"].entries()) {
    const { thread } = await client.call("thread/start", { cwd: "/w", model: "fake/one" });
    await client.call("turn/start", { threadId: thread.id, input: text(prompt) });
    await client.turnsCompleted(at + 1);
    threads.push(thread.id);
  }
});
afterEach(() => host.close());

async function section(method: string, params: object): Promise<SectionView> {
  return ((await client.call(method, params)) as unknown as { section: SectionView }).section;
}
async function members(sectionId: string): Promise<string[]> {
  return (await client.call("thread/list", { sectionId, sortKey: "section_position" })).data.map(({ id }) => id);
}

test("threads stand in a section in the order that a person gives them", async () => {
  const { id } = await section("threadSection/create", { name: " Work ", appearance: { icon: "star" } });
  for (const threadId of threads) await client.call("thread/section/move", { threadId, sectionId: id });
  expect(await members(id)).toEqual(threads);
  await client.call("thread/section/move", { threadId: threads[2], sectionId: id, beforeThreadId: threads[0] });
  expect(await members(id)).toEqual([threads[2], threads[0], threads[1]]);
  const page = await client.call("thread/list", { sectionId: id, sortKey: "section_position", limit: 2 });
  expect((await client.call("thread/list", { sectionId: id, sortKey: "section_position", cursor: page.nextCursor })).data.map((thread) => thread.id)).toEqual([threads[1]]);
  await client.call("thread/section/move", { threadId: threads[0], sectionId: null });
  expect(await members(id)).toEqual([threads[2], threads[1]]);
  expect(client.of("thread/section/changed")).toHaveLength(5);
  expect((await client.request("thread/section/move", { threadId: threads[1], sectionId: id, beforeThreadId: threads[0] })).error?.code).toBe(-32600);
});

test("a section that is renamed or dropped is so on its threads, too", async () => {
  const { id } = await section("threadSection/create", { name: "Work", appearance: { icon: "star" } });
  await client.call("thread/section/move", { threadId: threads[0], sectionId: id });
  expect(await section("threadSection/update", { sectionId: id, name: "Play" })).toEqual({ id, name: "Play", appearance: { icon: "star", color: null } });
  const read = async (): Promise<unknown> => ((await client.call("thread/read", { threadId: threads[0] })).thread as unknown as { section: unknown }).section;
  expect(await read()).toEqual({ id, name: "Play", appearance: { icon: "star", color: null } });
  expect(await section("threadSection/update", { sectionId: id, name: "Play", appearance: null })).toMatchObject({ appearance: null });
  await client.call("threadSection/delete", { sectionId: id });
  expect(await read()).toBeNull();
  expect((await client.call("threadSection/list", {})).data).toEqual([]);
  expect((await client.request("threadSection/update", { sectionId: id, name: "x" })).error?.code).toBe(-32600);
});

test("threads are found by their name and their first prompt", async () => {
  await client.call("thread/name/set", { threadId: threads[1], name: "The Greek letter" });
  const found = async (searchTerm: string): Promise<unknown[]> =>
    ((await client.call("thread/search", { searchTerm })).data as unknown as { thread: { id: string }; snippet: string }[]).map(({ thread, snippet }) => [thread.id, snippet]);
  expect(await found("GREEK")).toEqual([[threads[1], "The Greek letter"]]);
  expect(await found("alph")).toEqual([[threads[0], "alpha"]]);
  expect(await found("nowhere")).toEqual([]);
});

test("what foldcast cannot do says what is missing", async () => {
  for (const [method, params] of [["thread/compact/start", {}], ["thread/shellCommand", { command: "ls" }]] as const) {
    const { error } = await client.request(method, { threadId: threads[0], ...params });
    expect(error?.code).toBe(-32601);
    expect(error?.message).toMatch(new RegExp(`^${method} is not supported yet: \\w`));
  }
});
