import { describe, expect, test } from "vitest";
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

  test("come with a description where one is asked for too, and not where more is asked for than a prompt can say", () => {
    const asked = (...required: string[]) => ({ properties: { title: { type: "string", maxLength: 10 }, description: { type: "string" }, body: { type: "string" }, n: { type: "number" } }, required });
    expect(titleAnswer(asked("title", "description"), input("a longer prompt"))).toBe('{"title":"a longer…","description":"a longer prompt"}');
    expect(titleAnswer(asked("title"), input("short"))).toBe('{"title":"short"}');
    expect([titleAnswer(asked("title", "body"), input("x")), titleAnswer(asked("title", "n"), input("x")), titleAnswer({ properties: { title: { type: "array" } } }, input("x"))]).toEqual([null, null, null]);
  });

  test("are made only where a title is asked for", () => {
    expect(titleAnswer({ properties: { summary: {} } }, input("x"))).toBeNull();
    expect(titleAnswer(null, input("x"))).toBeNull();
    expect(titleAnswer(schema, input(" \n "))).toBeNull();
  });
});
