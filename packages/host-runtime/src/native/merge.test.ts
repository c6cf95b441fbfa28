import fc from "fast-check";
import { expect, test } from "vitest";
import { decodePlace, encodePlace, START } from "./cursors.ts";
import { listJson, mergedPage, readNativePage, withMember } from "./merge.ts";
import type { MergeOptions } from "./merge.ts";

interface Row {
  id: string;
  time: number;
}

/** The real server's list: cursors that only it can read, pages that may be shorter than asked. */
function nativeList(rows: readonly Row[], pageSizes: readonly number[]): MergeOptions["native"] {
  return (cursor, limit) => {
    const from = cursor === null ? 0 : Number(cursor.slice(1));
    const size = Math.min(pageSizes[from % pageSizes.length]!, limit ?? Infinity);
    const data = rows.slice(from, from + size);
    const to = from + data.length;
    const nextCursor = to < rows.length ? `"n${String(to)}"` : "null";
    return Promise.resolve(readNativePage(Buffer.from(`{"data":${JSON.stringify(data)},"nextCursor":${nextCursor},"backwardsCursor":null,"later":9007199254740993}`)));
  };
}

function ourList(rows: readonly Row[]): MergeOptions["ours"] {
  return (cursor, limit) => {
    const from = cursor === null ? 0 : Number(cursor);
    const part = rows.slice(from, from + (limit ?? rows.length));
    return Promise.resolve({
      entries: part.map((value, at) => ({ time: value.time, cursor: String(from + at + 1), value })), hasMore: from + part.length < rows.length, backwardsCursor: null,
    });
  };
}

const keyOf = (element: Buffer): Row => JSON.parse(element.toString()) as Row;
const idsOf = (data: readonly unknown[]): string[] => data.map((each) => (Buffer.isBuffer(each) ? keyOf(each).id : (each as Row).id));

async function all(options: Omit<MergeOptions, "place">): Promise<{ pages: string[][]; cursors: string[] }> {
  const pages: string[][] = [];
  const cursors: string[] = [];
  let place = START;
  for (;;) {
    const page = await mergedPage({ ...options, place });
    pages.push(idsOf(page.data));
    if (page.nextCursor === null) return { pages, cursors };
    cursors.push(page.nextCursor);
    place = decodePlace(page.nextCursor);
  }
}

const times = fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 25 });

test("pages of any size are the sorted union of both, each element once, and no cursor comes twice", async () => {
  await fc.assert(fc.asyncProperty(times, times, fc.integer({ min: 1, max: 7 }), fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }), fc.constantFrom(1 as const, -1 as const),
    async (nativeTimes, ourTimes, limit, sizes, sign) => {
      const rows = (name: string, list: readonly number[]): Row[] => list.toSorted((a, b) => sign * (a - b)).map((time, at) => ({ id: `${name}${String(at)}`, time }));
      const native = rows("n", nativeTimes);
      const ours = rows("o", ourTimes);
      const { pages, cursors } = await all({ limit, sign, native: nativeList(native, sizes), ours: ourList(ours), keyOf });
      // The model: stable, the real server's first where times are equal.
      const union = [...native, ...ours].toSorted((a, b) => sign * (a.time - b.time)).map(({ id }) => id);
      expect(pages.flat()).toEqual(union);
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      expect(new Set(cursors).size).toBe(cursors.length);
    }), { seed: 11, numRuns: 300 });
});

test("without a limit all of both comes at once", async () => {
  const native = [{ id: "n0", time: 0 }, { id: "n1", time: 0 }, { id: "n2", time: 0 }];
  const { pages } = await all({ limit: null, sign: 1, native: nativeList(native, [2]), ours: ourList([{ id: "o0", time: 0 }]), keyOf });
  expect(pages).toEqual([["n0", "n1", "n2", "o0"]]);
});

test("a row that has moved away since the last page hides no other", async () => {
  const native = [5, 4, 3, 2, 1].map((time) => ({ id: `n${String(time)}`, time }));
  const options = { limit: 2, sign: -1 as const, ours: ourList([]), keyOf };
  const first = await mergedPage({ ...options, place: START, native: nativeList(native, [4]) });
  expect(idsOf(first.data)).toEqual(["n5", "n4"]);
  const changed = [{ id: "n4", time: 9 }, ...native.filter(({ id }) => id !== "n4")];
  const second = await mergedPage({ ...options, place: decodePlace(first.nextCursor!), native: nativeList(changed, [4]) });
  expect(idsOf(second.data)).toEqual(["n3", "n2"]);
});

test("a server that only ever gives empty pages does not hold an answer back", async () => {
  let asked = 0;
  const page = await mergedPage({
    place: START, limit: 3, sign: 1, keyOf, ours: ourList([]),
    native: () => Promise.resolve({ data: [], nextCursor: `n${String(++asked)}`, backwardsCursor: null, rest: new Map<string, Buffer>() }),
  });
  expect(page.data).toEqual([]);
  expect(asked).toBeLessThan(100);
  expect(decodePlace(page.nextCursor!).native).toEqual({ cursor: `n${String(asked)}`, after: null });
});

test("a cursor says the same after it was read, and what is none is refused in the real server's words", () => {
  const place = { native: { cursor: "2026-11-30T00:45:32Z|x", after: { id: "y", time: 7 } }, ours: { cursor: null } };
  expect(decodePlace(encodePlace(place))).toEqual(place);
  expect(decodePlace(encodePlace({ native: null, ours: null }))).toEqual({ native: null, ours: null });
  for (const text of ["foldcast:", "foldcast:W10", "foldcast:!!", `foldcast:${Buffer.from("[[1],[2]]").toString("base64url")}`, "garbage"]) {
    expect(() => decodePlace(text)).toThrow(`invalid cursor: ${text}`);
  }
});

test("a member is set in its place, and all else stays as it is written", () => {
  const set = (object: string, name: string, value: string): string => withMember(Buffer.from(object), name, value).toString();
  expect(set('{"a": 9007199254740993 ,"model":"x","b":1.0}', "model", '"y"')).toBe('{"a": 9007199254740993 ,"model":"y","b":1.0}');
  expect(set('{"a":{"model":1}}', "model", "2")).toBe('{"a":{"model":1},"model":2}');
  expect(set("{ }", "model", "2")).toBe('{ "model":2}');
});

test("an element of ours with half a character does not make the list unreadable; the real server's stay as they are", () => {
  const native = Buffer.from('{"a":"\\ud83d"}');
  expect(listJson([native, { a: "\ud83d" }], []).toString()).toBe('{"data":[{"a":"\\ud83d"},{"a":"\ufffd"}]}');
});
