import { mkdtempSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPieces, scanLines, type LineScan, type ScanOptions } from "./jsonl.ts";

const folder = mkdtempSync(join(tmpdir(), "jsonl-"));
let files = 0;

interface Line {
  text: string;
  offset: number;
  ended: boolean;
}

async function scan(content: string | Buffer, options?: ScanOptions): Promise<{ lines: Line[]; scan: LineScan; file: string }> {
  const file = join(folder, `${files++}.jsonl`);
  writeFileSync(file, content);
  const handle = await open(file);
  try {
    const lines: Line[] = [];
    const result = await scanLines(handle, (bytes, start, end, offset, ended) => {
      lines.push({ text: bytes.toString("utf8", start, end), offset, ended });
    }, options);
    return { lines, scan: result, file };
  } finally {
    await handle.close();
  }
}

describe("scanLines", () => {
  it("takes a byte order mark and line ends off and gives the offset of the text", async () => {
    const { lines } = await scan("\ufeff{}\r\n\n  \n[1]\r\nü");
    expect(lines).toEqual([
      { text: "{}", offset: 3, ended: true },
      { text: "[1]", offset: 11, ended: true },
      { text: "ü", offset: 16, ended: false },
    ]);
  });

  it("keeps line separators of Unicode inside a line", async () => {
    expect((await scan("a\u2028b\u2029c\n")).lines.map((line) => line.text)).toEqual(["a\u2028b\u2029c"]);
  });

  it("reads lines longer than a chunk, and skips and counts those over the limit", async () => {
    const long = "x".repeat(3_000_000);
    const { lines, scan: result } = await scan(`${long}\na\n${long}x\nb\n${long}x`, { maxLineBytes: 3_000_000 });
    expect(lines.map((line) => line.text.length)).toEqual([3_000_000, 1, 1]);
    expect(result.oversized).toBe(2);
  });

  it("says where a line without its end begins, and goes on from there", async () => {
    const first = await scan("one\ntw");
    expect(first.scan).toEqual({ end: 6, unendedFrom: 4, oversized: 0 });
    const second = await scan("one\ntwo\n", { from: first.scan.unendedFrom });
    expect(second.lines).toEqual([{ text: "two", offset: 4, ended: true }]);
  });

  it("stops where it is told to, in the middle of a line or behind the end", async () => {
    const whole = "one\ntwo\nthree\n";
    expect((await scan(whole, { to: 6 })).lines).toEqual([{ text: "one", offset: 0, ended: true }, { text: "tw", offset: 4, ended: false }]);
    expect((await scan(whole, { from: 4, to: 8 })).scan).toEqual({ end: 8, unendedFrom: 8, oversized: 0 });
    expect((await scan(whole, { to: 0 })).lines).toEqual([]);
    expect((await scan(whole, { to: 4_000_000 })).lines).toHaveLength(3);
  });

  it("finds the same lines as a plain split, wherever chunks end", async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(700_000), { maxLength: 8 }), async (lengths) => {
      const texts = lengths.map((length, index) => String(index).repeat(length).slice(0, length));
      const { lines } = await scan(texts.join("\n"));
      expect(lines.map((line) => line.text)).toEqual(texts.filter((text) => text !== ""));
    }), { numRuns: 25, seed: 33 });
  });
});

describe("readPieces", () => {
  it("gives each piece its own bytes, near or far, and what is left of one behind the end", async () => {
    const content = `${"a".repeat(10)}\n${"b".repeat(2_500_000)}\n${"c".repeat(5)}`;
    const { file } = await scan(content);
    const pieces = [{ offset: 0, length: 10 }, { offset: 11, length: 2_500_000 }, { offset: 2_500_012, length: 9 }, { offset: 2, length: 3 }];
    const handle = await open(file);
    const got: string[] = [];
    await readPieces(handle, pieces, (bytes, start, end) => got.push(bytes.toString("utf8", start, end)));
    await handle.close();
    expect(got.map((text) => text.length)).toEqual([10, 2_500_000, 5, 3]);
    expect(got.map((text) => text[0])).toEqual(["a", "b", "c", "a"]);
  });
});
