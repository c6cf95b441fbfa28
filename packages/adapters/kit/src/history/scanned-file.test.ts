import { appendFileSync, mkdtempSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { scanLines } from "../jsonl.ts";
import { changeSince, fileState, lookAt } from "./growth.ts";
import { PieceList } from "./pieces.ts";
import { ScannedFile } from "./scanned-file.ts";

interface Turn {
  key: string;
  pieces: PieceList;
}

/** Each line is a turn; `whenRead` happens behind the last line that was there to be read. */
class Scan {
  readonly turns: Turn[] = [];
  scanned = 0;
  readonly #whenRead: () => void;

  constructor(whenRead: () => void) {
    this.#whenRead = whenRead;
  }

  async read(file: FileHandle): Promise<void> {
    const { end } = await scanLines(file, (bytes, start, to, offset) => {
      const pieces = new PieceList();
      pieces.add(offset, to - start);
      this.turns.push({ key: `${this.turns.length}`, pieces });
    }, { from: this.scanned });
    this.scanned = end;
    this.#whenRead();
  }
}

const line = (word: string): string => `${JSON.stringify({ word })}\n`;

function fileOf(...words: string[]): string {
  const path = join(mkdtempSync(join(tmpdir(), "scanned-")), "session.jsonl");
  writeFileSync(path, words.map(line).join(""));
  return path;
}
const open = (path: string, whenRead: () => void = () => undefined): Promise<ScannedFile<Scan>> => ScannedFile.open(path, () => new Scan(whenRead));
const refresh = (file: ScannedFile<Scan>): Promise<boolean> => file.refresh(() => Promise.resolve());

async function wordsOf(file: ScannedFile<Scan>): Promise<unknown[]> {
  const words: unknown[] = [];
  for await (const lines of file.read(file.scan.turns, (_, each) => each)) words.push(...lines.map(({ record }) => record?.["word"]));
  return words;
}

test("what is appended while the file is read is there at the next look, if nothing more comes", async () => {
  const path = fileOf("one");
  let added = ["two", "three"];
  const file = await open(path, () => {
    const [word, ...rest] = added;
    added = rest;
    if (word !== undefined) appendFileSync(path, line(word));
  });
  expect(await wordsOf(file)).toEqual(["one"]);
  expect(await refresh(file)).toBe(true);
  expect(await refresh(file)).toBe(true);
  expect(await wordsOf(file)).toEqual(["one", "two", "three"]);
});

test("a file that was written in its middle and has the same length is read anew", async () => {
  const long = "x".repeat(9_000);
  const path = fileOf(long, "secret", long);
  const file = await open(path);
  expect(await refresh(file)).toBe(false);
  writeFileSync(path, readFileSync(path, "utf8").replace("secret", "hidden"));
  utimesSync(path, 2_000_000_000, 2_000_000_000);
  expect(await refresh(file)).toBe(true);
  expect(await wordsOf(file)).toEqual([long, "hidden", long]);
  expect(await refresh(file)).toBe(false);
});

test("of a file that comes into its place after the last look, nothing is read by the places of the old one", async () => {
  const path = fileOf("one", "two");
  const file = await open(path);
  renameSync(fileOf("a longer word", "another"), path);
  await expect(wordsOf(file)).rejects.toThrow("written anew");
  expect(await refresh(file)).toBe(true);
  expect(await wordsOf(file)).toEqual(["a longer word", "another"]);
});

describe("an append that has moved the file's time and not yet its size", () => {
  test("keeps nobody from reading what is known", async () => {
    const path = fileOf("one", "two");
    const file = await open(path);
    utimesSync(path, 2_000_000_000, 2_000_000_000);
    expect(await wordsOf(file)).toEqual(["one", "two"]);
  });

  test("is growth, and not a file that was written anew", async () => {
    const path = fileOf("one", "two");
    const file = await openFile(path);
    const before = await fileState(file, await lookAt(file), readFileSync(path).length);
    utimesSync(path, 2_000_000_000, 2_000_000_000);
    const look = file.stat.bind(file);
    vi.spyOn(file, "stat").mockImplementationOnce(async () => {
      const stats = await look();
      appendFileSync(path, line("three"));
      return stats;
    });
    expect(await changeSince(file, before)).toBe("grown");
    await file.close();
  });
});
