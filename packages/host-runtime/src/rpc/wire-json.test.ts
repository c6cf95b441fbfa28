import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readableJson, wireJson } from "./wire-json.ts";

const LONG = 200_000;
const written = (value: unknown): string => {
  const json = wireJson(value);
  return typeof json === "string" ? json : Buffer.concat(json).toString();
};

describe("the JSON of a value", () => {
  test("is a text while it is short, and pieces of no more than a megabyte where it is long", () => {
    expect(wireJson({ a: "short" })).toBe('{"a":"short"}');
    const pieces = wireJson({ a: "ü".repeat(3_000_000) }) as Buffer[];
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.length).toBeLessThan(20);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(1024 * 1024);
  });

  test("many short texts are long altogether", () => {
    const list = Array.from({ length: 5_000 }, (_, at) => ({ at, text: "x".repeat(100), none: undefined }));
    const pieces = wireJson({ list, empty: [], gone: undefined, nothing: [undefined] }) as Buffer[];
    expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify({ list, empty: [], nothing: [null] }));
    expect(pieces.length).toBeLessThan(30);
  });

  test("a character is never cut, wherever a piece ends; half a one is replaced", () => {
    for (const before of ["", "a", "ab"]) {
      const text = before + "\u{1f600}".repeat(LONG);
      expect(written([text, "\ud83d", "\ude00x"])).toBe(readableJson(JSON.stringify([text, "\ud83d", "\ude00x"])));
    }
    const half = `${"x".repeat(32 * 1024 - 1)}\ud83d\u{1f600}${"x".repeat(LONG)}`;
    expect(JSON.parse(written(half))).toBe(half.replace("\ud83d\ud83d", "\ufffd\ud83d"));
    expect(JSON.parse(written(`${"x".repeat(LONG)}\ud83d`))).toBe(`${"x".repeat(LONG)}\ufffd`);
    expect(JSON.parse(written(`${"x".repeat(32 * 1024 - 1)}\ud83d${"x".repeat(LONG)}`))).toBe(`${"x".repeat(32 * 1024 - 1)}\ufffd${"x".repeat(LONG)}`);
  });

  test("is what JSON.stringify gives, with a long text anywhere", () => {
    const long = '"\\\n\u0000ü\u2028\u{1f600}'.repeat(20_000);
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), fc.string(), (value, key) => {
      for (const each of [{ [key]: value, long }, [value, long, value], { a: { [key]: [{ long, value }] } }]) {
        expect(written(each)).toBe(readableJson(JSON.stringify(each)));
      }
    }), { seed: 5, numRuns: 6 });
  });

  test("takes what is written already", () => {
    const item = { text: "x".repeat(LONG) };
    const pieces = [Buffer.from('{"text":'), Buffer.from('"as it was"}')];
    const json = wireJson({ params: { items: [item] } }, new Map([[item, pieces]])) as Buffer[];
    expect(Buffer.concat(json).toString()).toBe('{"params":{"items":[{"text":"as it was"}]}}');
    expect(json).toContain(pieces[1]);
  });
});
