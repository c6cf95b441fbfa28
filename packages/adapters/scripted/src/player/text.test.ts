import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText } from "./text.ts";

describe("splitText", () => {
  it("gives that many pieces, or one per code point, which join to the text and split no code point", () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })), fc.integer({ min: 1, max: 40 }), (text, parts) => {
      const pieces = [...splitText(text, parts)];
      expect(pieces.join("")).toBe(text);
      expect(pieces.length).toBe(Math.min(parts, Array.from(text).length));
      expect(pieces.flatMap((piece) => Array.from(piece))).toEqual(Array.from(text));
    }));
  });

  it("keeps the halves of an emoji together and lets its joined parts go apart", () => {
    expect([...splitText("a👨‍👩‍👧b", 7)]).toEqual(["a", "👨", "\u200d", "👩", "\u200d", "👧", "b"]);
    expect([...splitText("\ud83d", 2)]).toEqual(["\ud83d"]);
    expect([...splitText("", 3)]).toEqual([]);
  });
});
