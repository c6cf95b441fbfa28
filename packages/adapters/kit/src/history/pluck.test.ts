import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PLUCK_STRING_BYTES, plucker, type PluckShape } from "./pluck.ts";

const SHAPE: PluckShape = { type: true, n: true, message: { id: true, content: [{ type: true, text: true }] } };
const pluck = plucker(SHAPE);
const take = (text: string) => {
  const bytes = Buffer.from(`"${text}"`);
  return pluck(bytes, 1, bytes.length - 1);
};

function isObject(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return /^\s*\{/.test(text);
}

describe("plucker", () => {
  it("takes the members of its shape and passes over the rest", () => {
    const text = JSON.stringify({
      type: "a\n\"ü漢👩‍💻", other: { type: "no", deep: [[{}], "]}\\\""] }, n: -1.5e3,
      message: { content: [{ type: "text", text: "hi", more: 1 }, 7, {}], id: null },
    });
    expect(take(text)).toEqual({
      type: "a\n\"ü漢👩‍💻", n: -1500, message: { content: [{ type: "text", text: "hi" }, null, {}], id: null },
    });
  });

  it("takes a string where a list may stand, and nothing where the form is another", () => {
    expect(take(`{"message":{"content":"plain"},"type":[1],"n":{}}`)).toEqual({ message: { content: "plain" }, type: undefined, n: undefined });
  });

  it("cuts long strings without tearing a character or an escape", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom("a", "ü", "漢", "👩", "\n", "\"", "\u0001", "\\"), { minLength: 300, maxLength: 900 }), (parts) => {
      const text = parts.join("");
      const taken = take(JSON.stringify({ type: text }))?.["type"] as string;
      expect(text.startsWith(taken)).toBe(true);
      expect(taken.length).toBeGreaterThan(PLUCK_STRING_BYTES / 6 - 2);
      expect(Buffer.byteLength(JSON.stringify(taken))).toBeLessThan(PLUCK_STRING_BYTES + 10);
    }));
  });

  it("accepts what JSON.parse accepts as an object, and only strings that do not parse beyond that", () => {
    const mutated = fc.tuple(fc.json(), fc.nat(), fc.constantFrom("", "\"", "\\", "}", "]", ",", ":", "0", "e", "\n", "\u0001", " ", "{")).map(
      ([text, at, piece]) => {
        const whole = `{"message":${text},"x":[${text}]}`;
        const index = at % (whole.length + 1);
        return whole.slice(0, index) + piece + whole.slice(index + (at % 3));
      },
    );
    fc.assert(fc.property(mutated, (text) => {
      const taken = take(text) !== null;
      // With its strings emptied, a text is judged by its structure alone.
      expect(taken).toBe(isObject(text) || (taken && isObject(text.replace(/"(?:[^"\\]|\\[^])*"/g, "\"\""))));
    }), { numRuns: 2000 });
  });

  it("calls nesting without end malformed instead of overflowing", () => {
    expect(take(`{"x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`)).toBeNull();
  });
});
