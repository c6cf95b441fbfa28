import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { suite } from "./commands.ts";

const CORPUS = new URL("../../../shared/data/commands/oracle-dev.jsonl", import.meta.url);

interface Row {
  command: string;
  cwd: string;
  actions: { path?: string | null }[];
}

const rows = readFileSync(CORPUS, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Row);

/**
 * The recording replaces real paths by placeholders. Where a command left the recorded directory, the path
 * it read from is hidden behind one that the command cannot have meant.
 */
const hidesPath = ({ cwd, actions }: Row): boolean => cwd === "/workspace" && actions[0]?.path === "/workspace/tmp";

describe("command corpus", () => {
  it("has the actions of every recorded command", () => {
    const misses = rows
      .filter((row) => !hidesPath(row))
      .map((row) => ({ row, ...suite.check(row) }))
      .filter(({ pass }) => !pass);
    expect(misses).toEqual([]);
    expect(rows.length).toBeGreaterThan(900);
  });

  it("agrees with the recording on all but the path where that is hidden", () => {
    const hidden = rows.filter(hidesPath);
    expect(hidden).toHaveLength(2);
    for (const row of hidden) {
      const { got } = suite.check(row);
      expect(got).toEqual([{ ...row.actions[0], path: expect.stringMatching(/^\/a/) }]);
    }
  });

  it("reports a difference with both sides", () => {
    const row = { command: "ls opal", cwd: "/w", actions: [{ type: "unknown", command: "ls opal" }] };
    expect(suite.check(row)).toEqual({
      pass: false,
      got: [{ type: "listFiles", command: "ls opal", path: "opal" }],
      want: row.actions,
    });
    expect(() => suite.check({ command: "ls opal" })).toThrow();
  });
});
