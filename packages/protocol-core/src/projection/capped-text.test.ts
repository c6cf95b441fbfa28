import fc from "fast-check";
import { expect, it } from "vitest";
import { capText, CappedText, utf8Length } from "./capped-text.ts";

const text = fc.string({ unit: fc.constantFrom("a", "é", "漢", "😀", "\n", "\ud83d", "\ude00"), maxLength: 200 });

it("counts UTF-8 bytes as an encoder does", () => {
  fc.assert(fc.property(text, (value) => {
    expect(utf8Length(value)).toBe(new TextEncoder().encode(value).length);
  }));
});

it("keeps the same, however the text was cut into pieces", () => {
  fc.assert(fc.property(text, fc.array(fc.nat(200), { maxLength: 20 }), fc.integer({ min: 8, max: 120 }), (value, cuts, cap) => {
    const capped = new CappedText(cap);
    const borders = [0, ...cuts.filter((cut) => cut < value.length).sort((a, b) => a - b), value.length];
    for (let i = 1; i < borders.length; i += 1) capped.append(value.slice(borders[i - 1], borders[i]));
    const whole = new CappedText(cap);
    whole.append(value);
    expect(capped.finish()).toEqual(whole.finish());
  }));
});

it("keeps everything up to the cap, and head, tail and a note beyond it", () => {
  expect(capText("x".repeat(100), 100)).toEqual({ text: "x".repeat(100), truncated: false });
  const cut = capText(`${"h".repeat(60)}${"t".repeat(60)}`, 100);
  expect(cut).toEqual({ text: `${"h".repeat(50)}\n[… 20 bytes omitted …]\n${"t".repeat(50)}`, truncated: true });
});

it("never splits a surrogate pair", () => {
  expect(capText("😀".repeat(50), 30).text).toBe("😀😀😀\n[… 176 bytes omitted …]\n😀😀😀");
});
