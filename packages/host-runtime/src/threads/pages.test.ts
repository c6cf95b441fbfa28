import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { itemsPage, newestCursors, turnsPage } from "./pages.ts";
import type { Page, TurnList } from "./pages.ts";

const turnId = (n: number): string => `turn-${n}`;
function turnOf(n: number, items: number): Turn {
  const item = (at: number): ThreadItem => ({ type: "agentMessage", id: `${turnId(n)}:${at}`, text: "", phase: null, memoryCitation: null, moderation: null, delivery: null, questions: null });
  return {
    id: turnId(n), rootTurnId: turnId(n), items: Array.from({ length: items }, (_, at) => item(at)), itemsView: "full", status: "completed", error: null,
    startedAt: null, completedAt: null, durationMs: null,
  };
}

/** A thread whose n-th turn has so many items; it may grow between two looks. */
class Growing {
  readonly sizes: number[];
  /** Items that were projected. */
  projected = 0;

  constructor(sizes: readonly number[]) {
    this.sizes = [...sizes];
  }
  list(): TurnList {
    return {
      threadId: "thread",
      ids: this.sizes.map((_, n) => turnId(n)),
      take: (from, to) => {
        const turns = this.sizes.slice(from, to).map((items, at) => turnOf(from + at, items));
        this.projected += turns.reduce((sum, turn) => sum + turn.items.length, 0);
        return Promise.resolve(turns);
      },
    };
  }
  itemIds(): string[] {
    return this.sizes.flatMap((items, n) => turnOf(n, items).items.map(({ id }) => id));
  }
}

/** Everything from a cursor on; throws on a cursor that comes twice. */
async function all<T>(page: (cursor: string | null) => Promise<Page<T>>, between: () => void = () => undefined): Promise<T[]> {
  const data: T[] = [];
  const seen = new Set<string>();
  for (let cursor: string | null = null; ;) {
    const next = await page(cursor);
    data.push(...next.data);
    if (next.nextCursor === null) return data;
    if (seen.has(next.nextCursor)) throw new Error(`repeated: ${next.nextCursor}`);
    seen.add((cursor = next.nextCursor));
    between();
  }
}

const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 60 })), { minLength: 1, maxLength: 30 });
const limit = fc.integer({ min: 1, max: 25 });

describe("items of a growing thread", () => {
  test("backwards come once each, from where the first page began, while turns are appended", async () => {
    await fc.assert(fc.asyncProperty(sizes, limit, fc.array(fc.nat(9), { maxLength: 10 }), async (given, size, appended) => {
      const thread = new Growing(given);
      const before = thread.itemIds().toReversed();
      const left = [...appended];
      const items = await all((cursor) => itemsPage(thread.list(), { cursor, limit: size, direction: "desc" }, null), () => {
        const next = left.pop();
        if (next !== undefined) thread.sizes.push(next);
      });
      expect(items.map(({ item }) => item.id)).toEqual(before);
    }), { seed: 1 });
  });

  test("forwards come once each, with what was appended meanwhile", async () => {
    await fc.assert(fc.asyncProperty(sizes, limit, fc.array(fc.nat(9), { maxLength: 10 }), async (given, size, appended) => {
      const thread = new Growing(given);
      const left = [...appended];
      const items = await all((cursor) => itemsPage(thread.list(), { cursor, limit: size, direction: "asc" }, null), () => {
        const next = left.pop();
        if (next !== undefined) thread.sizes.push(next);
      });
      expect(items.map(({ item }) => item.id)).toEqual(thread.itemIds());
    }), { seed: 2 });
  });

  test("of one turn come alone, and a cursor of another turn starts at its head", async () => {
    const thread = new Growing([3, 0, 5]);
    const page = (cursor: string | null, turn: number, direction: "asc" | "desc" = "asc") => itemsPage(thread.list(), { cursor, limit: 2, direction }, turnId(turn));
    expect((await all((cursor) => page(cursor, 2))).map(({ item }) => item.id)).toEqual([0, 1, 2, 3, 4].map((at) => `turn-2:${at}`));
    expect((await page(null, 1)).data).toEqual([]);
    const { nextCursor } = await page(null, 0);
    expect((await page(nextCursor, 2, "desc")).data.map(({ item }) => item.id)).toEqual(["turn-2:4", "turn-2:3"]);
    expect((await itemsPage(thread.list(), { cursor: null, limit: 9, direction: "asc" }, "turn-9")).data).toEqual([]);
  });

  test("an anchor that the other dialect has not begins at the head", async () => {
    const thread = new Growing([2, 2, 2]);
    const cursor = newestCursors("thread", turnOf(1, 2)).items!;
    const from = async (text: string): Promise<string> => (await itemsPage(thread.list(), { cursor: text, limit: 1, direction: "desc" }, null)).data[0]!.item.id;
    expect(await from(cursor)).toBe("turn-1:1");
    expect(await from(cursor.replace("turn-1:1", "turn-1:fileChange:merged"))).toBe("turn-2:1");
  });

  test("cost what the page holds, and no more than the turns that it touches", async () => {
    const many = new Growing(Array.from({ length: 500 }, () => 20));
    await itemsPage(many.list(), { cursor: null, limit: 100, direction: "desc" }, null);
    expect(many.projected).toBeLessThanOrEqual(140);
    const long = new Growing([20, 5_000, 20]);
    await itemsPage(long.list(), { cursor: null, limit: 10, direction: "desc" }, null);
    expect(long.projected).toBe(20);
  });
});

describe("turns of a growing thread", () => {
  test("come once each in both directions, while turns are appended", async () => {
    await fc.assert(fc.asyncProperty(sizes, limit, fc.constantFrom("asc" as const, "desc" as const), fc.nat(5), async (given, size, direction, appended) => {
      const thread = new Growing(given);
      const before = given.map((_, n) => turnId(n));
      let left = appended;
      const turns = await all((cursor) => turnsPage(thread.list(), { cursor, limit: size, direction }, "notLoaded"), () => {
        if ((left -= 1) >= 0) thread.sizes.push(1);
      });
      const expected = direction === "desc" ? before.toReversed() : thread.sizes.map((_, n) => turnId(n));
      expect(turns.map(({ id }) => id)).toEqual(expected);
    }), { seed: 3 });
  });

  test("looking back from a page begins with its first turn", async () => {
    const list = new Growing([1, 1, 1, 1]).list();
    const first = await turnsPage(list, { cursor: null, limit: 2, direction: "desc" }, "notLoaded");
    const second = await turnsPage(list, { cursor: first.nextCursor, limit: 2, direction: "desc" }, "notLoaded");
    const back = await turnsPage(list, { cursor: second.backwardsCursor, limit: 9, direction: "asc" }, "notLoaded");
    expect(back.data.map(({ id }) => id)).toEqual([1, 2, 3].map(turnId));
  });

  test("foreign and stale cursors start at the head; what is none is refused", async () => {
    const list = new Growing([1, 1, 1]).list();
    const page = (cursor: string) => turnsPage(list, { cursor, limit: 1, direction: "desc" }, "notLoaded");
    const own = (await turnsPage(list, { cursor: null, limit: 2, direction: "desc" }, "notLoaded")).nextCursor!;
    expect((await page(own)).data[0]!.id).toBe(turnId(0));
    for (const cursor of [own.replace("turn-1", "turn-9"), own.replace("\"thread\"", "\"other\""), newestCursors("thread", turnOf(1, 1)).items!, "{}", "{\"rolloutOrdinal\":7}"]) {
      expect((await page(cursor)).data[0]!.id).toBe(turnId(2));
    }
    for (const cursor of ["garbage", "7", "[]", "null"]) await expect(page(cursor)).rejects.toThrow(`invalid cursor: ${cursor}`);
  });
});
