import { afterEach, beforeEach, expect, test } from "vitest";
import type { Host } from "../host.ts";
import { connectStdio, startTestHost } from "../testing/client.ts";
import type { TestClient } from "../testing/client.ts";

const text = (value: string) => [{ type: "text", text: value, text_elements: [] }];
const PINNED = { id: "01984de2-8f74-7c91-a3b2-5c5e937cf318", name: "Pinned", appearance: null };
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
  expect((await client.call("threadSection/list", {})).data).toEqual([PINNED]);
  expect((await client.request("threadSection/update", { sectionId: id, name: "x" })).error).toEqual({ code: -32602, message: `thread section not found: ${id}` });
});

test("the pinned section is always there, under the id that clients know", async () => {
  await section("threadSection/create", { name: "Work" });
  const first = await client.call("threadSection/list", { limit: 1 });
  expect([first.data, first.nextCursor]).toEqual([[PINNED], PINNED.id]);
  expect((await client.call("threadSection/list", { cursor: PINNED.id })).data).toMatchObject([{ name: "Work" }]);
  await client.call("thread/section/move", { threadId: threads[0], sectionId: PINNED.id });
  expect(await members(PINNED.id)).toEqual([threads[0]]);
  for (const [method, change] of [["threadSection/update", "renamed"], ["threadSection/delete", "deleted"]] as const) {
    expect((await client.request(method, { sectionId: PINNED.id, name: "x" })).error).toEqual({ code: -32602, message: `the built-in pinned section cannot be ${change}` });
  }
});

test("a move that cannot be says why, as the real server does", async () => {
  const { id } = await section("threadSection/create", { name: "Work" });
  const nobody = "01a229e8-e9f7-71b2-860b-81d668b09a46";
  const move = async (params: object): Promise<string | undefined> => (await client.request("thread/section/move", { threadId: threads[0], sectionId: id, ...params })).error?.message;
  expect(await move({ beforeThreadId: threads[0] })).toBe(`thread ${threads[0]} cannot be moved before itself`);
  expect(await move({ beforeThreadId: threads[1] })).toBe(`before thread ${threads[1]} is not in section ${id}`);
  expect(await move({ sectionId: nobody })).toBe(`section ${nobody} does not exist`);
  expect(await move({ threadId: nobody })).toBe(`thread not found: ${nobody}`);
  expect(await move({ beforeThreadId: "x" })).toMatch(/^invalid before thread id: /);
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
