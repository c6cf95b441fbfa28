import { appendFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { loadSqlDriver } from "../../packages/host-runtime/src/store/sqlite-driver.ts";
import { ANSWER, World, type SavedFile } from "../threads/store-model.ts";

const opened = vi.hoisted(() => [] as string[]);
vi.mock("node:fs/promises", async (original) => {
  const fs = await original<typeof import("node:fs/promises")>();
  return { ...fs, open: (...args: Parameters<typeof fs.open>) => (opened.push(String(args[0])), fs.open(...args)) };
});

const SESSIONS = 5_000;
const saved = (n: number): SavedFile => ({ harness: n % 2 === 0 ? "claude-code" : "scripted", n, cwd: "/repo", turns: 0 });
/** Session files that were opened since the last look, sorted. */
const readFiles = (): string[] => opened.splice(0).filter((file) => file.endsWith(".jsonl")).sort();

afterEach(() => void vi.restoreAllMocks());

test.skipIf(loadSqlDriver() === null)(`${SESSIONS} saved sessions are each read once, with word of how far that is, and after that only what has changed`, async () => {
  const progress: [done: number, total: number][] = [];
  await using world = new World({ onProgress: (done, total) => progress.push([done, total]) });
  const sessions = Array.from({ length: SESSIONS }, (_, n) => saved(n));
  for (const session of sessions) world.write(session, [{ prompt: `prompt ${session.n}`, answer: `answer ${session.n}` }]);
  const files = sessions.map((session) => world.fileOf(session)).sort();
  await world.start();
  // To open a file takes a millisecond on this clock, so that the look at all of them is a long one on any machine.
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + opened.length);

  let ids: string[];
  // A list does not wait for all of a long look.
  do ids = await listed(world);
  while (ids.length < SESSIONS);
  expect(ids).toEqual(sessions.toReversed().map((session) => world.idOf(session)));
  expect(readFiles()).toEqual(files);
  clock.mockRestore();
  expect(progress.length).toBeGreaterThan(4);
  expect(progress.map(([done]) => done)).toEqual(progress.map(([done]) => done).toSorted((a, b) => a - b));
  expect(progress.at(-1)).toEqual([SESSIONS, SESSIONS]);

  expect(await listed(world)).toHaveLength(SESSIONS);
  expect(readFiles()).toEqual([]);

  const changed = sessions[1_234]!;
  const find = async (): Promise<{ id: string; updatedAt: number }> => {
    const { data } = await world.request("thread/list", { searchTerm: `prompt ${changed.n}` });
    expect(data).toHaveLength(1);
    return (data as [{ id: string; updatedAt: number }])[0];
  };
  const { id, updatedAt } = await find();
  world.write({ ...changed, turns: 1 }, [{ prompt: "a later prompt", answer: ANSWER }]);
  // Its second turn began a second after the first.
  expect(await find()).toMatchObject({ id, updatedAt: updatedAt + 1 });
  expect(readFiles()).toEqual([world.fileOf(changed)]);

  await world.stop();
  appendFileSync(world.fileOf(sessions[77]!), "\n");
  await world.start();
  expect(await listed(world)).toHaveLength(SESSIONS);
  expect(readFiles()).toEqual([world.fileOf(sessions[77]!)]);
  expect(progress.at(-1)).toEqual([SESSIONS, SESSIONS]);
});

/** The ids of all pages, newest first. */
async function listed(world: World): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: unknown = null; ;) {
    const page = await world.request("thread/list", { limit: 1_000, cursor });
    ids.push(...(page["data"] as { id: string }[]).map(({ id }) => id));
    cursor = page["nextCursor"];
    if (cursor === null) return ids;
  }
}
