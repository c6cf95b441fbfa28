import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { suite } from "./patch.ts";

const rows = readFileSync(new URL("../../../shared/data/commands/patch-cases-dev.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as { name: string; expected: { files: { added: number }[] } });

describe("patch corpus", () => {
  it.each(rows.map((row) => [row.name, row] as const))("agrees on: %s", (_name, row) => {
    const { got, want } = suite.check(row);
    expect(got).toEqual(want);
  });

  it("fails a row whose counts differ", () => {
    const row = structuredClone(rows.find((candidate) => candidate.expected.files.length > 0)!);
    row.expected.files[0]!.added += 1;
    expect(suite.check(row).pass).toBe(false);
  });
});
