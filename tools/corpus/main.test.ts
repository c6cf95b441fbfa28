import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "corpus-"));

afterAll(() => rmSync(folder, { recursive: true }));

function corpus(...args: string[]): { status: number | null; lines: unknown[]; stderr: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@foldcast/source", "--import", "tsx", MAIN, ...args],
    { encoding: "utf8" },
  );
  return {
    status,
    stderr,
    lines: stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line): unknown => JSON.parse(line)),
  };
}

function rowsFile(...rows: string[]): string {
  const file = join(folder, `${rows.length}.jsonl`);
  writeFileSync(file, rows.join("\n"));
  return file;
}

const right = JSON.stringify({ command: "make", cwd: "/w", actions: [{ type: "unknown", command: "make" }] });
const wrong = JSON.stringify({ command: "make", cwd: "/w", actions: [] });

it("ends with a total and exit code 0 when every row passes", () => {
  const { status, lines } = corpus("commands", rowsFile(right), "--json");
  expect(lines).toEqual([{ total: 1, passed: 1, ms: expect.any(Number) }]);
  expect(status).toBe(0);
});

it("prints each miss, unreadable rows included, and exits with 1", () => {
  const { status, lines } = corpus("commands", rowsFile(right, wrong, "{"));
  expect(lines).toEqual([
    { i: 1, pass: false, got: [{ type: "unknown", command: "make" }], want: [] },
    { i: 2, pass: false, got: { error: expect.any(String) }, want: null },
    { total: 3, passed: 1, ms: expect.any(Number) },
  ]);
  expect(status).toBe(1);
});

it.each([[["commands"]], [["toString", "x"]], [["commands", "missing.jsonl"]]])(
  "explains itself and exits with 2 on %j",
  (args: string[]) => {
    const { status, lines, stderr } = corpus(...args);
    expect({ status, lines }).toEqual({ status: 2, lines: [] });
    expect(stderr).toContain("usage:");
  },
);
