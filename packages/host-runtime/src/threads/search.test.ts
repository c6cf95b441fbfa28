import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HistorySource } from "@foldcast/protocol-core/harness";
import type { Turn } from "@foldcast/protocol-core/wire";
import type { ThreadRecord } from "../store/store.ts";
import { occurrencesPage } from "./occurrences.ts";
import type { TurnList } from "./pages.ts";
import { mayHold, searchThreads } from "./search.ts";
import { around, snippetOf } from "./snippets.ts";

const idOf = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
function record(n: number, change: Partial<ThreadRecord> = {}): ThreadRecord {
  return {
    id: idOf(n), harness: "h", nativeSessionId: `n${n}`, file: null, model: null, effort: null, cwd: "/w", name: null, preview: "", archived: false, ephemeral: false,
    threadSource: null, originator: null, forkedFromId: null, section: null, gitInfo: null, createdAt: n * 1000, updatedAt: n * 1000, recencyAt: n * 1000, ...change,
  };
}
/** A thread whose turns are a prompt and messages each; what a command printed is in them, too. */
function thread(id: string, turns: readonly (readonly string[])[]): TurnList {
  const all = turns.map(([prompt = "", ...answers], n): Turn => ({
    id: `${id}-${n}`, rootTurnId: `${id}-${n}`, itemsView: "full", status: "completed", error: null, startedAt: null, completedAt: null, durationMs: null,
    items: [
      { type: "userMessage", id: `${n}:u`, clientId: null, content: [{ type: "text", text: prompt, text_elements: [] }] },
      ...answers.map((text, at) => ({ type: "agentMessage" as const, id: `${n}:m${at}`, text, phase: null, memoryCitation: null, moderation: null, delivery: null, questions: null })),
    ],
  }));
  return { threadId: id, ids: all.map((turn) => turn.id), take: (from, to) => Promise.resolve(all.slice(from, to)) };
}

describe("thread/search", () => {
  const said: Record<string, readonly (readonly string[])[]> = {
    [idOf(1)]: [["fix the clock", "I look at the files.", "The CLOCK is\n  right now."]],
    [idOf(2)]: [["hello", "hi"], ["and the bell?", "The bell rings."]],
    [idOf(3)]: [["nothing", "to see"]],
  };
  const records = [record(1), record(2), record(3, { name: "About bells" })];
  const search = (searchTerm: string, params: object = {}, more: object = {}) => searchThreads({
    records, params: { searchTerm, ...params }, turnsOf: ({ id }) => Promise.resolve(thread(id, said[id] ?? [])), sourceOf: () => Promise.resolve(null), ...more,
  });
  const found = async (...args: Parameters<typeof search>): Promise<unknown[]> => (await search(...args)).data.map(({ record: { id }, snippet }) => [Number(id.slice(-12)), snippet]);

  test("finds what was sent and what was said, in any case, over line ends, and names", async () => {
    expect(await found("  FIX the ")).toEqual([[1, "fix the clock"]]);
    expect(await found("clock is right")).toEqual([[1, "The CLOCK is right now."]]);
    expect(await found("bell")).toEqual([[3, "About bells"], [2, "and the bell?"]]);
    expect(await found("nowhere")).toEqual([]);
  });

  test("comes in pages in the order of a list, each thread once", async () => {
    const seen: number[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await search("e", { limit: 1, sortDirection: "asc", cursor });
      seen.push(...page.data.map(({ record: { id } }) => Number(id.slice(-12))));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([1, 2, 3]);
    await expect(search("e", { cursor: "garbage" })).rejects.toThrow("invalid cursor: garbage");
    expect((await search("fix", { archived: true })).data).toEqual([]);
  });

  test("ends a page whose time is over, and goes on with the thread that it did not get through", async () => {
    const turnsOf = async ({ id }: ThreadRecord): Promise<TurnList> => (await delay(10), thread(id, said[id] ?? []));
    const pages: number[][] = [];
    for (let cursor: string | null = null; ;) {
      const page = await search("e", { cursor, sortDirection: "asc" }, { turnsOf, budgetMs: 1 });
      pages.push(page.data.map(({ record: { id } }) => Number(id.slice(-12))));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([[1], [2], [3]]);
    expect((await search("e", {}, { turnsOf, budgetMs: 60_000 })).data).toHaveLength(3);
  });

  test("a session that cannot be read hides no other", async () => {
    const turnsOf = ({ id }: ThreadRecord): Promise<TurnList> => (id === idOf(3) ? Promise.reject(new Error("gone")) : Promise.resolve(thread(id, said[id]!)));
    expect(await found("e", {}, { turnsOf })).toHaveLength(3);
    expect(await found("rings", {}, { turnsOf })).toHaveLength(1);
  });

  test("reads only files whose bytes may hold the term, where these tell", async () => {
    const folder = mkdtempSync(join(tmpdir(), "search-"));
    const files = [1, 2, 3].map((n) => {
      const file = join(folder, `${n}`);
      writeFileSync(file, JSON.stringify(said[idOf(n)]));
      return record(n, { file });
    });
    const read: string[] = [];
    const turnsOf = ({ id }: ThreadRecord): Promise<TurnList> => (read.push(id), Promise.resolve(thread(id, said[id]!)));
    const source = (wholeTexts: boolean) => ({ sourceOf: () => Promise.resolve({ wholeTexts } as HistorySource) });
    expect(await found("BELL rings", {}, { records: files, turnsOf, ...source(true) })).toEqual([[2, "The bell rings."]]);
    expect(read).toEqual([idOf(2)]);
    expect(await found("rings", {}, { records: files, turnsOf, ...source(false) })).toHaveLength(1);
    expect(read).toHaveLength(4);
  });
});

describe("the look at a file's bytes", () => {
  test("never denies what a JSON text of the file holds", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bytes-"));
    const text = fc.string({ unit: fc.constantFrom("a", "B", "z9", " ", "\n", "\"", "\\", "/", "ä", "É", "漢", "😀", "<", "_"), maxLength: 30 });
    let n = 0;
    await fc.assert(fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), fc.nat(), fc.nat(), fc.boolean(), async (texts, from, length, ascii) => {
      const file = join(folder, `${n++}`);
      const json = JSON.stringify(texts);
      writeFileSync(file, ascii ? json.replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`) : json);
      const said = texts[0]!;
      const term = said.slice(from % (said.length + 1)).slice(0, 1 + (length % 8)).toLowerCase();
      if (term !== "") expect(await mayHold(file, term)).toBe(true);
    }), { seed: 8 });
  });

  test("finds a term across two readings, and denies what is not there", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "bytes-")), "long");
    writeFileSync(file, `${"x".repeat(1024 * 1024 - 4)}Zeppelin${"y".repeat(2_000_000)}`);
    expect([await mayHold(file, "zeppelin"), await mayHold(file, "zeppelins"), await mayHold(file, "漢字")]).toEqual([true, false, true]);
  });
});

describe("the part of a message that is shown", () => {
  const words = (word: string, from: number, to: number): string => Array.from({ length: to - from }, (_, n) => `${word}${String(from + n).padStart(3, "0")}`).join(" ");
  const long = `${words("word", 0, 80)} NEEDLE middle ${words("tail", 0, 80)}`;

  test("is what the real server shows", () => {
    expect(snippetOf(long, "needle")).toBe(`... ${words("word", 74, 80)} NEEDLE middle ${words("tail", 0, 11)} ...`);
    expect(snippetOf(long, "word000")).toBe(`${words("word", 0, 13)} ...`);
    expect(snippetOf(long, "tail079")).toBe(`... ${words("tail", 73, 80)}`);
    expect(snippetOf("Done. I changed `greet.js` and added `notes.txt`.\n\n- step one\n- step two\n", "step one")).toBe("... . I changed `greet.js` and added `notes.txt`. - step one - step two");
  });

  test("holds its match at the place that it names, and no half characters", () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom("a", " ", "\n", "😀", "b"), maxLength: 400 }), fc.nat(), (text, seed) => {
      const at = text.length === 0 ? 0 : seed % text.length;
      const { text: shown, start, end } = around(text, at, Math.min(3, text.length - at));
      expect(shown.slice(start, end)).toBe(text.slice(at, at + Math.min(3, text.length - at)));
      expect(shown.replace(/^\.\.\. | \.\.\.$/g, "")).not.toMatch(/^[\udc00-\udfff]/);
    }), { seed: 9 });
  });
});

describe("thread/searchOccurrences", () => {
  const list = thread("t", [["one bell, two Bells", "no"], ["x", "BELL"], ["y", "z"], ["bell"]]);
  const page = (more: object = {}) => occurrencesPage(list, { searchTerm: "bell", cursor: null, limit: null, ...more });

  test("tells every place, oldest first, with a cursor for its turn", async () => {
    const { data, nextCursor } = await page();
    expect(data.map(({ turnId, itemId, snippet, snippetMatchRange: { start, end } }) => [turnId, itemId, snippet.slice(start, end)])).toEqual([
      ["t-0", "0:u", "bell"], ["t-0", "0:u", "Bell"], ["t-1", "1:m0", "BELL"], ["t-3", "3:u", "bell"],
    ]);
    expect(nextCursor).toBeNull();
    expect(JSON.parse(data[2]!.turnCursor)).toMatchObject({ turnId: "t-1", includeAnchor: true });
  });

  test("comes in pages that go on within a message; a cursor of another search starts anew, and what is none is refused", async () => {
    const whole = (await page()).data;
    const seen = [];
    for (let cursor: string | null = null; ;) {
      const next = await page({ cursor, limit: 1 });
      seen.push(...next.data);
      if (next.nextCursor === null) break;
      cursor = next.nextCursor;
    }
    expect(seen).toEqual(whole);
    const { nextCursor } = await page({ limit: 1 });
    expect((await page({ searchTerm: "bells", cursor: nextCursor })).data).toHaveLength(1);
    await expect(page({ cursor: "garbage" })).rejects.toThrow("invalid cursor: garbage");
  });
});
