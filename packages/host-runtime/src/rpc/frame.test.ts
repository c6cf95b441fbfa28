import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Frame, notificationFrame } from "./frame.ts";
import { readableJson } from "./wire-json.ts";

describe("a frame holds no half of a character, for readers that take it for no JSON", () => {
  test.each([
    ["\\ud83d alone", "\ud83d", "\ufffd"],
    ["the second half alone", "x\udfffy", "x\ufffdy"],
    ["two first halves", "\ud83d\ud83d\ude00", "\ufffd\u{1f600}"],
    ["words about escapes", "\\ud83d \\\\ud83d", "\\ud83d \\\\ud83d"],
    ["a whole one", "\u{1f600}\u0000\u202e", "\u{1f600}\u0000\u202e"],
  ])("%s", (_name, text, shown) => {
    const frame = notificationFrame("a", { [text]: text }, 1);
    expect(JSON.parse(frame.text)).toEqual({ method: "a", params: { [shown]: shown }, emittedAtMs: 1 });
    const { text: written } = frame;
    expect(Buffer.concat(frame.parts).toString()).toBe(written);
  });

  test("an id of a client stays as that wrote it", () => {
    expect(new Frame('{"id":"\\uD83D\\uDE00\\\\ud83d"}').text).toBe('{"id":"\\uD83D\\uDE00\\\\ud83d"}');
  });

  test("any text becomes what it is well formed", () => {
    const unit = fc.constantFrom("\ud83d", "\ude00", "\\", "u", "d", '"', "a", "\\ud83d", "\u{1f600}");
    fc.assert(fc.property(fc.array(unit).map((units) => units.join("")), (text) => {
      expect(JSON.parse(readableJson(JSON.stringify(text)))).toBe(Buffer.from(text).toString());
    }), { seed: 3 });
  });
});
