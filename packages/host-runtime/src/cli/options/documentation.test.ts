import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { harnesses } from "@foldcast/adapter-registry";
import { COMMANDS } from "../table/commands.ts";
import { ALL_SETTINGS, FEISHU_SETTINGS, LISTEN_OPTIONS, SERVER_OPTIONS } from "../table/options.ts";
import { parseConfig } from "./config-file.ts";
import { harnessTable, settingsTable } from "./documentation.ts";

const GUIDE = join(import.meta.dirname, "../../../../../docs/guide");
const FILE = join(GUIDE, "configuration.md");
/** `UPDATE_DOCS=1` writes what the table says now. */
const isUpdate = process.env["UPDATE_DOCS"] === "1";

function holds(name: string, current: string): void {
  const text = readFileSync(FILE, "utf8");
  const [begin, end] = [`<!-- ${name}: made from the code, see documentation.test.ts -->\n`, `\n<!-- end of ${name} -->`];
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  expect(from >= begin.length && to >= from, `the marks of ${name} in ${FILE}`).toBe(true);
  if (isUpdate) writeFileSync(FILE, text.slice(0, from) + current + text.slice(to));
  else expect(text.slice(from, to), "with UPDATE_DOCS=1 this test writes the table anew").toBe(current);
}

test("the guide's table of settings is that of the code", () => {
  holds("settings", settingsTable({ ...LISTEN_OPTIONS, ...SERVER_OPTIONS }));
  holds("Feishu settings", settingsTable(FEISHU_SETTINGS, false));
});

test("the guide's table of harness settings is that of the adapters", async () => {
  holds("harness settings", harnessTable(await Promise.all(harnesses.map((entry) => entry.load()))));
});

test("the configuration that the guide shows is one", () => {
  const blocks = [...readFileSync(FILE, "utf8").matchAll(/```toml\n([^]*?)```/g)].map((match) => match[1]!);
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) parseConfig(block, "config.toml", ALL_SETTINGS, harnesses.map(({ id }) => id));
});

test("every command and option that a guide names is there", () => {
  for (const name of ["getting-started", "configuration", "troubleshooting", "chat", "codex-desktop", "codex-tui"]) {
    const text = readFileSync(join(GUIDE, `${name}.md`), "utf8");
    for (const [, command = "", rest = ""] of text.matchAll(/\bfoldcast (?:-- )?([a-z-]+)([^\n`|]*)/g)) {
      if (!Object.hasOwn(COMMANDS, command)) continue;
      for (const [, option = ""] of rest.matchAll(/ --([a-z][a-z-]+)/g)) expect(Object.hasOwn(COMMANDS[command]!.options, option) || option === "help", `${name}: foldcast ${command} --${option}`).toBe(true);
    }
  }
});
