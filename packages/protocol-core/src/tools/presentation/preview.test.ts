import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fenceFor, INPUT_LIMITS, PATCH_LIMITS, previewShared, previewText } from "./preview.ts";
import { countLines } from "../results/evidence.ts";

const text = fc.string({ unit: fc.constantFrom("a", "\n", "😀", "\ud800", "é", "`"), maxLength: 60 });
const limits = fc.record({ chars: fc.integer({ min: 0, max: 20 }), lines: fc.integer({ min: 0, max: 5 }) });

describe("previewText", () => {
  it("has the limits of ordinary input and of patches", () => {
    expect([INPUT_LIMITS, PATCH_LIMITS]).toEqual([{ chars: 4_000, lines: 80 }, { chars: 8_000, lines: 160 }]);
  });

  it("stops at whichever limit comes first and says which", () => {
    expect(previewText("a\nb\nc\n", { chars: 100, lines: 2 })).toEqual({ text: "a\nb\n", shownChars: 4, totalChars: 6, shownLines: 2, totalLines: 3, limit: "lines" });
    expect(previewText("abcdef\nx", { chars: 4, lines: 2 })).toEqual({ text: "abcd", shownChars: 4, totalChars: 8, shownLines: 1, totalLines: 2, limit: "chars" });
    expect(previewText("a\nb\n", { chars: 100, lines: 2 })).toMatchObject({ text: "a\nb\n", limit: null });
    expect(previewText("", { chars: 0, lines: 0 })).toMatchObject({ text: "", limit: null, totalLines: 0 });
  });

  it("shows a prefix within both limits, never half a character, and counts truly", () => {
    fc.assert(
      fc.property(text, limits, (given, limit) => {
        const preview = previewText(given, limit);
        expect(given.startsWith(preview.text)).toBe(true);
        expect(preview.shownChars).toBe(Array.from(preview.text).length);
        expect(preview.totalChars).toBe(Array.from(given).length);
        expect(preview.totalLines).toBe(countLines(given));
        expect(preview.shownChars).toBeLessThanOrEqual(limit.chars);
        expect(preview.shownLines).toBeLessThanOrEqual(limit.lines);
        expect(preview.shownLines).toBe(countLines(preview.text));
        expect(preview.limit === null).toBe(preview.text === given);
        const next = given.charCodeAt(preview.text.length);
        const last = preview.text.charCodeAt(preview.text.length - 1);
        expect(last >= 0xd800 && last < 0xdc00 && next >= 0xdc00 && next < 0xe000).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it("shows as much as the limits let it", () => {
    fc.assert(
      fc.property(text, limits, (given, limit) => {
        const { text: shown, limit: hit } = previewText(given, limit);
        if (hit === null) return;
        const longer = shown + Array.from(given.slice(shown.length))[0]!;
        expect(Array.from(longer).length > limit.chars || countLines(longer) > limit.lines).toBe(true);
      }),
    );
  });

  it("shares one budget between the files of a patch", () => {
    const previews = previewShared(["a\nb\n", "c\nd\n", "e\n"], { chars: 100, lines: 3 });
    expect(previews.map((preview) => preview.text)).toEqual(["a\nb\n", "c\n", ""]);
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), limits, (texts, limit) => {
        const shared = previewShared(texts, limit);
        expect(shared.reduce((sum, preview) => sum + preview.shownChars, 0)).toBeLessThanOrEqual(limit.chars);
        expect(shared.reduce((sum, preview) => sum + preview.shownLines, 0)).toBeLessThanOrEqual(limit.lines);
      }),
    );
  });

  it("fences a content so that nothing inside closes the fence", () => {
    expect(fenceFor("plain `code`")).toBe("```");
    expect(fenceFor("a\n`````\nb")).toBe("``````");
  });
});
