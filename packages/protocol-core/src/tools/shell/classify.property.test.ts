import fc from "fast-check";
import { expect, it } from "vitest";
import { classifyArgv, classifyCommand } from "./classify.ts";

const fragments = fc.constantFrom(
  ...[
    "cat",
    "ls",
    "rg",
    "sed -n",
    "head",
    "xargs",
    "cd",
    "echo",
    "true",
    "nl",
    "find",
    "awk",
    "Get-Content",
    "python3 -c",
  ],
  ...[
    "3,4p",
    "-n",
    "-i",
    "--",
    "--files",
    "jade.c",
    "src/",
    "..",
    "=",
    "'x y'",
    '"x\\y"',
    "''",
    "'",
    '"',
    "\\",
    "\\\n",
  ],
  ...[
    " ",
    " ",
    " ",
    "\t",
    "\n",
    "\r\n",
    ";",
    "|",
    "||",
    "&&",
    "&",
    "$",
    "`",
    "(",
    "{",
    "#",
    "*",
    "~",
    "!",
    "é",
    "\ud800",
    "\0",
  ],
);
const script = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fragments, { maxLength: 40 }).map((parts) => parts.join("")),
);

it("answers any script with either one unknown, the script itself, or understood actions alone", () => {
  fc.assert(
    fc.property(script, (text) => {
      const actions = classifyCommand(text, { cwd: "/w" });
      if (actions.some((action) => action.type === "unknown")) {
        expect(actions).toEqual([{ type: "unknown", command: text }]);
      }
      for (const action of actions) {
        if (action.type === "read") expect(action.path).toMatch(/^\//);
      }
    }),
    { numRuns: 2000 },
  );
});

it("answers any argument vector", () => {
  const words = fc.array(fc.oneof(fc.string(), fragments), { maxLength: 12 });
  fc.assert(
    fc.property(words, (argv) => {
      const actions = classifyArgv(argv, "/w");
      expect(actions.length).toBeLessThanOrEqual(Math.max(1, argv.length));
    }),
  );
});

it.each([
  ["one long word", (n: number) => `cat ${"a".repeat(n)}`],
  ["many words", (n: number) => `rg ${"a ".repeat(n / 2)}`],
  ["many commands", (n: number) => "ls;".repeat(n / 3)],
  ["many directories", (n: number) => "cd a;cat b;".repeat(n / 11)],
  ["a long continuation", (n: number) => `ls ${"\\\n".repeat(n / 2)}x`],
  ["line breaks before backslashes", (n: number) => `ls${"\n\\ ".repeat(n / 3)}x`],
  ["many quotes", (n: number) => `cat ${"'a'\"b\"".repeat(n / 6)}`],
  ["an open quote", (n: number) => `cat ${"'a' ".repeat(n / 4)}'`],
  ["hard quoting", (n: number) => `rg '${"^\\".repeat(n / 2)}'`],
  ["a deep path", (n: number) => `cat ${"a/../".repeat(n / 5)}b`],
  ["dull components", (n: number) => `ls ${"src/".repeat(n / 4)}`],
])("answers a megabyte of %s with bounded output", (_, build) => {
  const text = build(1_000_000);
  const actions = classifyCommand(text, { cwd: "/w" });
  expect(JSON.stringify(actions).length).toBeLessThan(8 * text.length);
});
