import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ThreadListParams } from "@foldcast/protocol-core/wire/params";
import type { ThreadRecord } from "../store/store.ts";
import { listThreads } from "./list.ts";
import { titleAnswer } from "./title.ts";
import { uuidv7 } from "./uuid7.ts";

test("ids sort by their making, also within a millisecond and when the clock steps back", () => {
  const ids = [5, 5, 5, 4, 6, 6].flatMap((now) => Array.from({ length: 5_000 }, () => uuidv7(1_700_000_000_000 + now)));
  expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(true);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

describe("titles", () => {
  const schema = { type: "object", properties: { title: { type: "string", maxLength: 10 } } };
  const input = (text: string) => [{ type: "text" as const, text, text_elements: [] }];

  test("are the first line of the prompt, cut at the schema's length, never in a character", () => {
    expect(titleAnswer(schema, input("Rules.\n\nUser prompt:\n  fix it  \nmore"))).toBe('{"title":"fix it"}');
    expect(titleAnswer(schema, input("no mark here"))).toBe('{"title":"no mark…"}');
    expect(titleAnswer(schema, input("👩‍👩‍👧".repeat(12)))).toBe(JSON.stringify({ title: `${"👩‍👩‍👧".repeat(9)}…` }));
  });

  test("are the newest prompt of a quoted conversation", () => {
    const quoted = (...messages: string[]): string => `Rules.\n\nRecent messages:\n<conversation>\n${messages.join("\n")}\n</conversation>`;
    const said = (role: string, text: string): string => `<message role="${role}">${text}</message>`;
    const long = { properties: { title: { maxLength: 40 } } };
    expect(titleAnswer(long, input(quoted(said("user", "old"), said("user", "a &lt;b&gt; &amp;amp; c\nmore"), said("assistant", "done"))))).toBe('{"title":"a <b> &amp; c"}');
    expect(titleAnswer(long, input(quoted(said("user", "explain User prompt: x"))))).toBe('{"title":"explain User prompt: x"}');
    expect(titleAnswer(long, input('Rules.\n\nUser prompt:\nkeep <message role="user">y</message>'))).toBe('{"title":"keep <message role=\\"user\\">y</message>"}');
  });

  test("are made only where a title is asked for", () => {
    expect(titleAnswer({ properties: { summary: {} } }, input("x"))).toBeNull();
    expect(titleAnswer(null, input("x"))).toBeNull();
    expect(titleAnswer(schema, input(" \n "))).toBeNull();
  });
});

describe("pages of threads", () => {
  const record = (id: number, createdAt: number): ThreadRecord => ({
    id: `00000000-0000-7000-8000-${String(id).padStart(12, "0")}`, harness: "h", nativeSessionId: null, file: null, model: null, effort: null, cwd: "/w", name: null, preview: "p",
    archived: false, ephemeral: false, threadSource: null, originator: null, forkedFromId: null, section: null, gitInfo: null, createdAt, updatedAt: createdAt, recencyAt: createdAt,
  });

  test("together are all threads, each once, whatever the size of a page and however many are of one time", () => {
    fc.assert(fc.property(fc.array(fc.nat(5), { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), fc.constantFrom("asc", "desc"), (times, limit, sortDirection) => {
      const records = times.map((time, at) => record(at, time * 100));
      const seen: string[] = [];
      const cursors = new Set<string>();
      for (let cursor: string | null = null; ;) {
        const page = listThreads(records, { limit, cursor, sortDirection });
        seen.push(...page.data.map(({ id }) => id));
        if (page.nextCursor === null) break;
        expect(cursors).not.toContain(page.nextCursor);
        cursors.add(page.nextCursor);
        cursor = page.nextCursor;
      }
      expect(seen.toSorted()).toEqual(records.map(({ id }) => id).toSorted());
    }));
  });

  test("a filter for what there is none of lets nothing pass", () => {
    const records = [record(1, 1)];
    const count = (params: ThreadListParams): number => listThreads(records, params).data.length;
    expect(count({})).toBe(1);
    const parent = "01a229e6-56e9-7781-be3d-000000000000";
    const none: ThreadListParams[] = [
      { ancestorThreadId: parent }, { parentThreadId: parent }, { sectionId: "s" }, { sourceKinds: ["subAgentThreadSpawn"] }, { sourceKinds: ["cli"] }, { archived: true },
      { cwd: "/x" }, { cwd: [] }, { searchTerm: "q" }, { modelProviders: ["openai"] }, { includedThreadIds: [] }, { excludedThreadIds: [records[0]!.id] }, { originators: ["x"] },
    ];
    const all: ThreadListParams[] = [{ sourceKinds: [] }, { sourceKinds: ["cli", "vscode"] }, { modelProviders: [] }, { cwd: ["/w"] }, { searchTerm: "P" }];
    expect(none.filter((params) => count(params) > 0)).toEqual([]);
    expect(all.filter((params) => count(params) === 0)).toEqual([]);
  });
});
