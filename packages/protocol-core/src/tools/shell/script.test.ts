import { describe, expect, it } from "vitest";
import { parseFlatScript } from "./script.ts";

const FLAT: [string, string[][]][] = [
  ["one two", [["one", "two"]]],
  ["\t one\u000b two \f", [["one", "two"]]],
  ["a && b || c ; d | e", [["a"], ["b"], ["c"], ["d"], ["e"]]],
  ["a&&b||c;d|e", [["a"], ["b"], ["c"], ["d"], ["e"]]],
  ["a;", [["a"]]],
  ["a ;\n b", [["a"], ["b"]]],
  ["\n\na\n\r\n\nb\n", [["a"], ["b"]]],
  ["a\r\nb", [["a"], ["b"]]],
  ["a &&\n\n b |\r\n c", [["a"], ["b"], ["c"]]],
  ["\ufeffa b", [["a", "b"]]],
  ["a x\u00a0y\u3000z", [["a", "x\u00a0y\u3000z"]]],
  ["a b!c @d %e f+g,h:i -j ./k _l", [["a", "b!c", "@d", "%e", "f+g,h:i", "-j", "./k", "_l"]]],
  ["a b=c --d=e f+=g h==i", [["a", "b=c", "--d=e", "f+=g", "h==i"]]],
  ["a if then done", [["a", "if", "then", "done"]]],
];

const QUOTED: [string, string[][]][] = [
  ["a '*?$`\\\"' \"*?'~#\"", [["a", '*?$`\\"', "*?'~#"]]],
  ["a b'c d'\"e f\"g", [["a", "bc de fg"]]],
  ["a '' \"\" ''b", [["a", "", "", "b"]]],
  ['a "x\\.y\\n"', [["a", "x\\.y\\n"]]],
  ["a 'x\ny' \"z\nw\"", [["a", "x\ny", "z\nw"]]],
  ["a '='b x'='y", [["a", "=b", "x=y"]]],
  ["a '|' \"&&\"", [["a", "|", "&&"]]],
];

const CONTINUED: [string, string[][]][] = [
  ["a \\\n b", [["a", "b"]]],
  ["a\\\nb\\\r\nc", [["a", "b", "c"]]],
  ["a 'x'\\\n'y'", [["a", "x", "y"]]],
  ["a \\\n&& b; \\\nc", [["a"], ["b"], ["c"]]],
  ["a \\ b \\\tc", [["a", "b", "c"]]],
  ["a \\\n\nb", [["a"], ["b"]]],
  ["a\n\n\\\nb", [["a", "b"]]],
  ["a\n \\\nb", [["a"], ["b"]]],
];

const REFUSED: string[] = [
  ...["", "  \n", ";a", "| a", "a &&", "a ||\n", "a |", "a ; ; b", "a;;b", "a && && b", "a\n&& b", "a\n;b"],
  ...["a &", "a & b", "a |& b", "a > b", "a < b", "a 2>&1", "a <<X\nX", "a <<< b", "(a)", "{ a; }", "a (b)"],
  ...["a $b", "a ${b}", "a $(b)", "a `b`", "a <(b)", "a $'b'", 'a $"b"', "a b$", 'a "$b"', 'a "b$"', 'a "`b`"'],
  ...["a *", "a b?c", "a [b]", "a b]", "a {b,c}", "a }", "a ~", "a b~c", "a ^b", "a b\\c", "a b\\ c", "\\a", "a b#c"],
  ...["a # note", "# note", "a\n# note", "a = b", "a =b", "a ==", "a 'b'=c", "'a' b", '"a" b', "a'b' c", 'a"" b'],
  ...['a "b', "a 'b", 'a "\\"b"', 'a "b\\\\c"', 'a "b\\\nc"', "a ''''", "a ''\"\"", "a \\", "a \\\n", "a; \\\n \n"],
];

describe("the flat subset", () => {
  it.each(FLAT)("%j is read", (script, commands) => expect(parseFlatScript(script)).toEqual(commands));
  it.each(QUOTED)("%j keeps quoted text literal", (script, commands) =>
    expect(parseFlatScript(script)).toEqual(commands),
  );
  it.each(CONTINUED)("%j goes on behind a backslash", (script, commands) =>
    expect(parseFlatScript(script)).toEqual(commands),
  );
  it.each(REFUSED)("%j is not understood", (script) => expect(parseFlatScript(script)).toBeNull());
});

it("gives up on thousands of commands", () => {
  expect(parseFlatScript("a;".repeat(900))).toHaveLength(900);
  expect(parseFlatScript("a;".repeat(1100))).toBeNull();
});
