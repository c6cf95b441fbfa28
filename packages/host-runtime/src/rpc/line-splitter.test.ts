import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

function split(chunks: readonly Buffer[], maxBytes = 1_000_000): { lines: string[]; tooLong: number } {
  const lines: string[] = [];
  let tooLong = 0;
  const splitter = new LineSplitter({ maxBytes, onLine: (line) => lines.push(line.toString("utf8")), onTooLong: () => (tooLong += 1) });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, tooLong };
}

test("any text cut anywhere comes out line by line", () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: "grapheme" }).map((line) => line.replaceAll("\n", "\u2028"))), fc.array(fc.nat()), (lines, cuts) => {
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    const chunks = places.slice(1).map((to, at) => bytes.subarray(places[at], to));
    expect(split(chunks).lines).toEqual(lines);
  }));
});

test("a line over the limit is skipped to its end; the next one is read", () => {
  const chunks = ["short\n", "x".repeat(30), "y".repeat(30), "\nnext\nlast"].map((text) => Buffer.from(text));
  expect(split(chunks, 40)).toEqual({ lines: ["short", "next", "last"], tooLong: 1 });
});
