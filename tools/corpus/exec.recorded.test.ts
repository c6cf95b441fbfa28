import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { suite } from "./exec.ts";

const rows = readFileSync(new URL("../../../shared/data/commands/exec-cases-dev.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as { id: string; expected: { calls: { args?: unknown }[] } });

describe("exec corpus", () => {
  it.each(rows.map((row) => [row.id, row] as const))("agrees on %s", (_id, row) => {
    const { pass, got, want } = suite.check(row);
    expect(pass, JSON.stringify({ got, want })).toBe(true);
  });

  it("fails rows with another argument, another name, or one call too many", () => {
    const row = rows.find(({ id }) => id === "plain-0")!;
    const changed = (call: object): object => ({ ...row, expected: { calls: [{ ...row.expected.calls[0], ...call }] } });
    expect(suite.check(changed({ args: { cmd: "npm tests", workdir: "/tmp" } })).pass).toBe(false);
    expect(suite.check(changed({ name: "other" })).pass).toBe(false);
    expect(suite.check({ ...row, expected: { calls: [...row.expected.calls, ...row.expected.calls] } }).pass).toBe(false);
  });

  it("lets an optional call stay open, and takes an acceptable answer", () => {
    const open = { program: "await tools.x(q)", expected: { calls: [{ name: "x", status: "resolved", args: 1 }] } };
    expect(suite.check(open).pass).toBe(false);
    expect(suite.check({ ...open, optional: true }).pass).toBe(true);
    expect(suite.check({ ...open, acceptable: [{ name: "x", status: "unresolved", reason: "dynamic-args" }] }).pass).toBe(true);
  });
});
