import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ThreadListParams } from "@foldcast/protocol-core/wire/params";
import type { ThreadRecord } from "../store/store.ts";
import { listThreads } from "./list.ts";

const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
function record(n: number, change: Partial<ThreadRecord> = {}): ThreadRecord {
  return {
    id: idOf(n), harness: "h", nativeSessionId: `n${n}`, file: null, model: null, effort: null, cwd: "/w", name: null, preview: "", archived: false, ephemeral: false,
    threadSource: null, originator: null, forkedFromId: null, section: null, gitInfo: null, createdAt: n * 1000, updatedAt: n * 1000, recencyAt: n * 1000, ...change,
  };
}
const numbers = (records: readonly ThreadRecord[], params: ThreadListParams = {}): number[] => listThreads(records, params).data.map(({ id }) => Number(id.slice(-12)));

/** All pages; throws on a cursor that comes twice. */
function pages(read: () => readonly ThreadRecord[], params: ThreadListParams): number[] {
  const all: number[] = [];
  const seen = new Set<string>();
  for (let cursor: string | null = null; ;) {
    const page = listThreads(read(), { ...params, cursor });
    all.push(...page.data.map(({ id }) => Number(id.slice(-12))));
    if (page.nextCursor === null) return all;
    if (seen.has(page.nextCursor)) throw new Error(`repeated: ${page.nextCursor}`);
    seen.add((cursor = page.nextCursor));
  }
}

describe("pages of threads", () => {
  const times = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 60 });
  const key = fc.constantFrom("created_at" as const, "updated_at" as const, "recency_at" as const);
  const direction = fc.constantFrom("asc" as const, "desc" as const);

  test("hold every thread once and in order, however many have the same time", () => {
    fc.assert(fc.property(times, fc.integer({ min: 1, max: 9 }), key, direction, (list, limit, sortKey, sortDirection) => {
      const records = list.map((time, n) => record(n, { createdAt: time, updatedAt: 20 - time, recencyAt: time * 2 }));
      const value = (n: number): number => ({ created_at: records[n]!.createdAt, updated_at: records[n]!.updatedAt, recency_at: records[n]!.recencyAt })[sortKey];
      const expected = records.map((_, n) => n).sort((a, b) => value(a) - value(b) || a - b);
      if (sortDirection === "desc") expected.reverse();
      expect(pages(() => records, { limit, sortKey, sortDirection })).toEqual(expected);
    }), { seed: 5 });
  });

  test("go on where they were when threads come and go in between", () => {
    fc.assert(fc.property(times, fc.array(fc.nat(70), { maxLength: 8 }), (list, changes) => {
      const records = list.map((time, n) => record(n, { createdAt: time * 10 }));
      const left = [...changes];
      const read = (): ThreadRecord[] => {
        const change = left.pop();
        if (change === undefined) return records;
        if (change >= records.length) records.push(record(records.length + 1_000, { createdAt: 1_000_000 + records.length }));
        else records.splice(change, 1);
        return records;
      };
      const before = new Set(records.map(({ id }) => Number(id.slice(-12))));
      const seen = pages(read, { limit: 3 });
      expect(new Set(seen).size).toBe(seen.length);
      const stayed = records.map(({ id }) => Number(id.slice(-12))).filter((n) => before.has(n));
      expect(stayed.filter((n) => !seen.includes(n))).toEqual([]);
    }), { seed: 6 });
  });

  test("looking back begins with the first of the page, and what came at the same moment", () => {
    const records = [1, 2, 2, 2, 3].map((time, n) => record(n, { createdAt: time * 1000 }));
    const page = listThreads(records, { limit: 2, cursor: listThreads(records, { limit: 2 }).nextCursor });
    expect(page.data.map(({ id }) => id)).toEqual([idOf(2), idOf(1)]);
    expect(numbers(records, { cursor: page.backwardsCursor, sortDirection: "asc" })).toEqual([1, 2, 3, 4]);
    const up = listThreads(records, { limit: 2, sortDirection: "asc" });
    expect(numbers(records, { cursor: up.backwardsCursor, sortDirection: "desc" })).toEqual([0]);
  });
});

describe("filters", () => {
  const records = [
    record(1, { cwd: "/a", name: "Clock tower" }), record(2, { cwd: "/a/", preview: "fix the clock" }), record(3, { archived: true }), record(4, { cwd: "/", originator: "one" }),
    record(5, { section: { id: "s", name: "S", appearance: null, position: 0, enteredAt: 1 } }),
  ];
  test.each<[ThreadListParams, number[]]>([
    [{}, [5, 4, 2, 1]],
    [{ archived: true }, [3]],
    [{ cwd: "/a" }, [2, 1]],
    [{ cwd: ["/a/", "//"] }, [4, 2, 1]],
    [{ cwd: "/" }, [4]],
    [{ cwd: [] }, []],
    [{ searchTerm: "CLOCK" }, [2, 1]],
    [{ searchTerm: "" }, [5, 4, 2, 1]],
    [{ sourceKinds: [] }, [5, 4, 2, 1]],
    [{ sourceKinds: ["cli", "vscode"] }, [5, 4, 2, 1]],
    [{ sourceKinds: ["subAgentThreadSpawn"] }, []],
    [{ modelProviders: ["openai"] }, []],
    [{ modelProviders: [] }, [5, 4, 2, 1]],
    [{ originators: ["one"] }, [4]],
    [{ sectionId: "s" }, [5]],
    [{ ancestorThreadId: idOf(1) }, []],
    [{ parentThreadId: idOf(1) }, []],
    [{ projectId: "p" }, []],
    [{ includedThreadIds: [idOf(1), idOf(3)] }, [1]],
    [{ excludedThreadIds: [idOf(1)] }, [5, 4, 2]],
    [{ limit: 0 }, [5]],
  ])("%j", (params, expected) => expect(numbers(records, params)).toEqual(expected));

  test("what is no cursor is refused in the real server's words", () => {
    for (const cursor of ["garbage", "2026-13-45T99:99:99Z"]) expect(() => listThreads(records, { cursor })).toThrow(`invalid cursor: ${cursor}`);
    expect(() => listThreads(records, { sortKey: "section_position" })).toThrow("section-position sorting requires a section filter");
  });
});
