import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { harnesses } from "@foldcast/adapter-registry";
import { COMMANDS } from "../table/commands.ts";
import { ALL_SETTINGS, FEISHU_SETTINGS, LISTEN_OPTIONS, SERVER_OPTIONS } from "../table/options.ts";
import { parseConfig } from "./config-file.ts";
import { environmentName } from "./option.ts";
import { harnessTable, settingsTable } from "./documentation.ts";

const ROOT = join(import.meta.dirname, "../../../../..");
const GUIDE = join(ROOT, "docs/guide");
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

test("the help of the channel names each of its settings", () => {
  const { notes = "" } = COMMANDS["feishu"]!;
  for (const name of Object.keys(FEISHU_SETTINGS)) expect(notes).toMatch(new RegExp(`\\b${environmentName(name).replace("FOLDCAST_FEISHU_", "")}\\b`));
});

test("every link of a document leads to a file, and to a heading in it", () => {
  const documents = ["README.md", "CONTRIBUTING.md", ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md")).map((file) => join("docs", file))];
  for (const document of documents) {
    for (const [, link = ""] of readFileSync(join(ROOT, document), "utf8").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [path = "", heading] = link.split("#");
      const target = path === "" ? join(ROOT, document) : join(ROOT, dirname(document), path);
      expect(existsSync(target), `${document}: ${link}`).toBe(true);
      if (heading !== undefined) expect(headingsOf(target), `${document}: ${link}`).toContain(heading);
    }
  }
});

/** As the web pages of repositories name them. */
function headingsOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title.toLowerCase().replace(/[^\p{L}\p{N}\- ]/gu, "").replaceAll(" ", "-"));
}

test("the configuration that the guide shows is one", () => {
  const blocks = [...(readFileSync(FILE, "utf8") + readFileSync(join(GUIDE, "feishu.md"), "utf8")).matchAll(/^ *```toml\n([^]*?)```/gm)].map((match) => match[1]!);
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) parseConfig(block, "config.toml", ALL_SETTINGS, harnesses.map(({ id }) => id));
});

test("every command and option that a guide names is there", () => {
  for (const name of ["README.md", ...readdirSync(GUIDE).filter((file) => file.endsWith(".md")).map((file) => join("docs/guide", file))]) {
    const text = readFileSync(join(ROOT, name), "utf8");
    for (const [, command = "", rest = ""] of text.matchAll(/\bfoldcast (?:-- )?([a-z-]+)([^\n`|]*)/g)) {
      if (!Object.hasOwn(COMMANDS, command)) continue;
      for (const [, option = ""] of rest.matchAll(/ --([a-z][a-z-]+)/g)) expect(Object.hasOwn(COMMANDS[command]!.options, option) || option === "help", `${name}: foldcast ${command} --${option}`).toBe(true);
    }
  }
});
