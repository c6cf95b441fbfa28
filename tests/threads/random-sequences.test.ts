import fc from "fast-check";
import { expect, test } from "vitest";
import { loadSqlDriver } from "../../packages/host-runtime/src/store/sqlite-driver.ts";
import { ANSWER, FOLDERS, World, type SavedFile } from "./store-model.ts";

/** `FOLDCAST_SEQUENCES=500` searches further, with a seed of its own. */
const SEQUENCES = process.env["FOLDCAST_SEQUENCES"];

/** What a thread is to whoever looks at it. */
interface Expected {
  id: string;
  turns: { prompt: string; answer: string }[];
  cwd: string;
  name: string | null;
  archived: boolean;
  deleted: boolean;
  /** The session that another program keeps; null for a thread that was started here. */
  saved: SavedFile | null;
  /** Its session is open in this process: no other program writes to it. */
  open: boolean;
}
interface Model {
  threads: Expected[];
  /** Threads without a turn. */
  drafts: string[];
  /** Sessions that were written so far, and what has been in their files; never changed by us. */
  sessions: number;
}

type Page = { data: Record<string, unknown>[]; nextCursor: string | null };
type Command = fc.AsyncCommand<Model, World>;

async function pages(world: World, method: string, params: object): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  const seen = new Set<string>();
  for (let cursor: string | null = null; ;) {
    const page = (await world.request(method, { ...params, cursor })) as unknown as Page;
    all.push(...page.data);
    if (page.nextCursor === null) return all;
    expect(seen).not.toContain(page.nextCursor);
    seen.add((cursor = page.nextCursor));
  }
}
const textOf = (item: Record<string, unknown>): string => (item["text"] as string | undefined) ?? (item["content"] as { text: string }[])[0]!.text;
const said = (turns: Expected["turns"]): string[] => turns.flatMap(({ prompt, answer }) => [prompt, answer]);

function command(name: string, needs: (model: Model) => boolean, run: (model: Model, world: World) => Promise<void>): Command {
  return { check: (model) => needs(model), run, toString: () => name };
}
/** On one of the threads that fit. */
function onThread(name: string, at: number, fits: (thread: Expected) => boolean, run: (thread: Expected, world: World, model: Model) => Promise<void>): Command {
  const fitting = (model: Model): Expected[] => model.threads.filter(fits);
  return command(`${name}(${at})`, (model) => fitting(model).length > 0, (model, world) => {
    const threads = fitting(model);
    return run(threads[at % threads.length]!, world, model);
  });
}
const alive = (thread: Expected): boolean => !thread.deleted;
const isScripted = (thread: Expected): boolean => thread.saved === null || thread.saved.harness === "scripted";

const commands = [
  fc.tuple(fc.constantFrom("claude-code" as const, "scripted" as const), fc.integer({ min: 1, max: 5 }), fc.constantFrom(...FOLDERS)).map(([harness, turns, cwd]) =>
    command(`save(${harness}, ${turns})`, () => true, (model, world) => {
      const saved: SavedFile = { harness, n: (model.sessions += 1), cwd, turns: 0 };
      const thread: Expected = { id: world.idOf(saved), turns: [], cwd, name: null, archived: false, deleted: false, saved, open: false };
      for (let n = 0; n < turns; n += 1) thread.turns.push({ prompt: `prompt ${saved.n}.${n}`, answer: `answer ${saved.n}.${n}` });
      world.write(saved, thread.turns);
      saved.turns = turns;
      model.threads.push(thread);
      return Promise.resolve();
    })),
  fc.nat(20).map((at) => onThread("append", at, ({ saved, open }) => saved !== null && !open, (thread, world) => {
    const saved = thread.saved!;
    const turn = { prompt: `later ${saved.n}.${saved.turns}`, answer: `more ${saved.n}.${saved.turns}` };
    world.write(saved, [turn]);
    saved.turns += 1;
    thread.turns.push(turn);
    return Promise.resolve();
  })),
  fc.record({ archived: fc.boolean(), cwd: fc.option(fc.constantFrom(...FOLDERS), { nil: null }), limit: fc.integer({ min: 1, max: 4 }), sortDirection: fc.constantFrom("asc", "desc") }).map((params) =>
    command(`list(${JSON.stringify(params)})`, () => true, async (model, world) => {
      const expected = model.threads.filter((thread) => alive(thread) && thread.archived === params.archived && (params.cwd === null || thread.cwd === params.cwd));
      const listed = await pages(world, "thread/list", params);
      expect(listed.map((thread) => thread["id"]).sort()).toEqual(expected.map(({ id }) => id).sort());
      const times = listed.map((thread) => thread["createdAt"] as number);
      expect(times).toEqual(times.toSorted((a, b) => (params.sortDirection === "asc" ? a - b : b - a)));
      for (const thread of listed) {
        const { turns, name, cwd } = expected.find(({ id }) => id === thread["id"])!;
        expect(thread).toMatchObject({ preview: turns[0]!.prompt, name, cwd });
      }
    })),
  fc.nat(20).map((at) => onThread("search", at, alive, async (thread, world, model) => {
    const { prompt } = thread.turns.at(-1)!;
    const expected = model.threads.filter((each) => alive(each) && each.archived === thread.archived && each.turns.some((turn) => turn.prompt.includes(prompt)));
    const found = await pages(world, "thread/search", { searchTerm: prompt.toUpperCase(), archived: thread.archived, limit: 2 });
    expect(found.map(({ thread: each }) => (each as { id: string }).id).sort()).toEqual(expected.map(({ id }) => id).sort());
  })),
  fc.nat(20).map((at) => onThread("open", at, alive, async (thread, world) => {
    const read = (await world.request("thread/read", { threadId: thread.id, includeTurns: true }))["thread"];
    if (thread.archived) {
      expect(await world.refusal("thread/resume", { threadId: thread.id })).toMatch(/is archived/);
      expect((read as { turns: unknown[] }).turns).toHaveLength(thread.turns.length);
      return;
    }
    const opened = (await world.request("thread/resume", { threadId: thread.id }))["thread"] as { turns: { items: Record<string, unknown>[] }[]; name: string | null };
    expect(opened.turns.flatMap((turn) => turn.items.map(textOf))).toEqual(said(thread.turns));
    expect(opened.name).toBe(thread.name);
    expect((read as typeof opened).turns).toEqual(opened.turns);
  })),
  // Twice as likely as the others.
  ...[0, 1].map(() => fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 4 }), fc.constantFrom("asc", "desc")).map(([at, limit, sortDirection]) => onThread("page", at, alive, async (thread, world) => {
    const turns = await pages(world, "thread/turns/list", { threadId: thread.id, limit, sortDirection, itemsView: "notLoaded" });
    expect(new Set(turns.map((turn) => turn["id"])).size).toBe(thread.turns.length);
    const items = await pages(world, "thread/items/list", { threadId: thread.id, limit, sortDirection });
    const texts = items.map((entry) => textOf(entry["item"] as Record<string, unknown>));
    expect(sortDirection === "asc" ? texts : texts.toReversed()).toEqual(said(thread.turns));
  }))),
  fc.constant(command("start", () => true, async (model, world) => {
    const { id } = (await world.request("thread/start", { cwd: FOLDERS[0], model: "scripted/demo" }))["thread"] as { id: string };
    const prompt = `mine ${model.threads.length}`;
    await world.runTurn(id, prompt);
    model.threads.push({ id, turns: [{ prompt, answer: ANSWER }], cwd: FOLDERS[0], name: null, archived: false, deleted: false, saved: null, open: true });
  })),
  fc.nat(20).map((at) => onThread("run", at, (thread) => alive(thread) && isScripted(thread) && !thread.archived, async (thread, world) => {
    await world.request("thread/resume", { threadId: thread.id, excludeTurns: true });
    const prompt = `go on ${thread.turns.length}`;
    await world.runTurn(thread.id, prompt);
    thread.turns.push({ prompt, answer: ANSWER });
    if (thread.saved !== null) thread.saved.turns += 1;
    thread.open = true;
  })),
  fc.constant(command("draft", () => true, async (model, world) => {
    model.drafts.push(((await world.request("thread/start", { cwd: FOLDERS[0] }))["thread"] as { id: string }).id);
  })),
  fc.constant(command("discard", (model) => model.drafts.length > 0, async (model, world) => {
    await world.request("thread/delete", { threadId: model.drafts.pop()! });
  })),
  fc.tuple(fc.nat(20), fc.constantFrom("A name", "Another")).map(([at, name]) => onThread("rename", at, (thread) => alive(thread) && !thread.archived, async (thread, world) => {
    await world.request("thread/name/set", { threadId: thread.id, name });
    thread.name = name;
  })),
  fc.nat(20).map((at) => onThread("archive", at, (thread) => alive(thread) && !thread.archived, async (thread, world) => {
    await world.request("thread/archive", { threadId: thread.id });
    Object.assign(thread, { archived: true, open: false });
  })),
  fc.nat(20).map((at) => onThread("unarchive", at, (thread) => alive(thread) && thread.archived, async (thread, world) => {
    await world.request("thread/unarchive", { threadId: thread.id });
    thread.archived = false;
  })),
  fc.nat(20).map((at) => onThread("delete", at, alive, async (thread, world) => {
    const before = thread.saved === null ? "" : world.contentOf(thread.saved);
    await world.request("thread/delete", { threadId: thread.id });
    if (thread.saved !== null) expect(world.contentOf(thread.saved)).toBe(before);
    Object.assign(thread, { deleted: true, open: false });
  })),
  fc.nat(20).map((at) => onThread("touch deleted", at, (thread) => thread.deleted, async ({ id }, world) => {
    expect(await world.refusal("thread/read", { threadId: id })).toBe(`thread not loaded: ${id}`);
    expect(await world.refusal("thread/resume", { threadId: id })).toBe(`no rollout found for thread id ${id}`);
    expect(await world.refusal("thread/name/set", { threadId: id, name: "x" })).toBe(`no rollout found for thread id ${id}`);
  })),
  fc.constant(command("restart", () => true, async (model, world) => {
    await world.stop();
    await world.start();
    model.drafts = [];
    for (const thread of model.threads) thread.open = false;
  })),
];

test.skipIf(loadSqlDriver() === null)("whatever is done with threads, in whatever order, over restarts, the answers are those of a simple model", async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: "max" }), async (sequence) => {
      const world = new World();
      try {
        await world.start();
        await fc.asyncModelRun(() => ({ model: { threads: [], drafts: [], sessions: 0 }, real: world }), sequence);
      } finally {
        await world.remove();
      }
    }),
    SEQUENCES === undefined ? { numRuns: 9, seed: 20_261_130, endOnFailure: true } : { numRuns: Number(SEQUENCES), endOnFailure: false },
  );
}, SEQUENCES === undefined ? 60_000 : 3_600_000);
