import { mkdtempSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PieceList } from "./pieces.ts";
import { turnLines } from "./turn-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "turn-lines-"));

/** Turns of so many lines each, one behind the other; `word` makes a line as long as is wanted. */
function turnsOf(name: string, counts: readonly number[], word = "x"): { file: string; turns: { key: number; pieces: PieceList }[] } {
  let text = "";
  const turns = counts.map((count, key) => {
    const pieces = new PieceList();
    for (let at = 0; at < count; at++) {
      const line = JSON.stringify({ key, at, word });
      pieces.add(text.length, line.length);
      text += `${line}\n`;
    }
    return { key, pieces };
  });
  const file = join(folder, name);
  writeFileSync(file, text);
  return { file, turns };
}

async function linesOf(file: string, turns: readonly { key: number; pieces: PieceList }[]): Promise<[number, unknown[]][]> {
  const handle = await open(file);
  try {
    const found: [number, unknown[]][] = [];
    for await (const { turn, lines } of turnLines(turns, handle)) found.push([turn.key, lines.map(({ record }) => [record?.["key"], record?.["at"]])]);
    return found;
  } finally {
    await handle.close();
  }
}

test("each turn has its own lines, one without any among them, over many reads", async () => {
  const counts = [0, 3, 0, 0, 2, ...Array.from({ length: 1_200 }, (_, at) => at % 3), 40, 0];
  const { file, turns } = turnsOf("many.jsonl", counts, "y".repeat(1_500));
  expect(await linesOf(file, turns)).toEqual(counts.map((count, key) => [key, Array.from({ length: count }, (_, at) => [key, at])]));
});

test("a turn may have more lines than a call takes arguments", async () => {
  const { file, turns } = turnsOf("long.jsonl", [1, 200_000, 1]);
  expect((await linesOf(file, turns)).map(([key, lines]) => [key, lines.length, lines.at(-1)])).toEqual([[0, 1, [0, 0]], [1, 200_000, [1, 199_999]], [2, 1, [2, 0]]]);
});

test("lines that the file does not hold any more are there, as such", async () => {
  const { file, turns } = turnsOf("cut.jsonl", [1, 1]);
  writeFileSync(file, JSON.stringify({ key: 0, at: 0, word: "x" }));
  expect(await linesOf(file, turns)).toEqual([[0, [[0, 0]]], [1, [[undefined, undefined]]]]);
});

test("a reader that stops early leaves the file free to be closed", async () => {
  const { file, turns } = turnsOf("early.jsonl", Array.from({ length: 900 }, () => 2), "z".repeat(1_500));
  const handle = await open(file);
  for await (const { turn } of turnLines(turns, handle)) if (turn.key === 1) break;
  await handle.close();
  await expect(handle.stat()).rejects.toThrow();
});
