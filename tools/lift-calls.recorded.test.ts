import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { interpretCall, ruleOf } from "@foldcast/protocol-core/tools";
import { allToolMaps, toolMapOf } from "./corpus/tool-maps.ts";
import { presentRecordings, tabulate } from "./lift/table.ts";

const DATA = join(import.meta.dirname, "../../shared/data");

describe("recorded tool calls", () => {
  const presented = presentRecordings(DATA);

  it.each(tabulate(presented).map((row) => [row.harness, row] as const))("are all presented: %s", (_, row) => {
    expect(row.calls).toBeGreaterThan(0);
    expect(row.unknownPercent).toBeLessThanOrEqual(2);
    expect(row).toMatchObject({ rawTitles: 0, braceTitles: 0, knownButUnknown: 0 });
  });

  it("have titles of one line", () => {
    for (const { titles } of presented) for (const title of titles) expect(title).not.toMatch(/[\n\r]|undefined|null|\[object/);
  });
});

describe("tool-name maps", () => {
  it.each([["claude", "claude-tools.json"], ["kimi", "kimi-tools.json"]])("know every tool of %s", (harness, file) => {
    const tools = JSON.parse(readFileSync(join(DATA, file), "utf8")) as { name: string }[];
    const map = toolMapOf(harness)!;
    for (const { name } of tools) expect(interpretCall({ name, input: {}, rule: ruleOf(map, name), cwd: "/" }).kind, name).not.toBe("unknown");
  });

  it("name agent actions and fields that exist", () => {
    for (const map of Object.values(allToolMaps)) {
      for (const [name, rule] of Object.entries(map)) {
        const reading = interpretCall({ name, input: { prompt: "x" }, rule, cwd: "/" });
        if (reading.as.item === "agent") expect(reading.as.action).toBe(rule.options?.["agent"] ?? "spawnAgent");
      }
    }
  });

  it("are found by id and by short forms", () => {
    expect(toolMapOf("claude")).toBe(allToolMaps["claude-code"]);
    expect(toolMapOf("grok-acp")).toBe(allToolMaps["grok"]);
    expect(toolMapOf("nobody")).toBeNull();
  });
});
