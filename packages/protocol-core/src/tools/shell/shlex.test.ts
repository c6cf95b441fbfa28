import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shlexJoin, shlexSplit } from "./shlex.ts";

describe("splitting", () => {
  it.each<[string, string[] | null]>([
    ["", []],
    [" one\ttwo\nthree ", ["one", "two", "three"]],
    ["a'b c'\"d e\"f", ["ab cd ef"]],
    ["'' \"\"", ["", ""]],
    ["a\\ b \\'", ["a b", "'"]],
    ["x\\\ny \\\n z", ["xy", "", "z"]],
    ['"\\$ \\` \\" \\\\ \\n \\\n|"', ['$ ` " \\ \\n |']],
    ["'\\n'", ["\\n"]],
    ["one # two\nthree#four", ["one", "three#four"]],
    ["# only", []],
    ["a|b && c", ["a|b", "&&", "c"]],
    ["a\rb\u00a0c", ["a\rb\u00a0c"]],
    ["'open", null],
    ['"open', null],
    ['"open\\"', null],
    ["open\\", null],
  ])("%j gives %j", (text, words) => expect(shlexSplit(text)).toEqual(words));
});

describe("joining", () => {
  it.each<[string, string]>([
    ["", "''"],
    ["plain-Word_1.txt", "plain-Word_1.txt"],
    ["a]b@c:d+e/f", "a]b@c:d+e/f"],
    ["two words", "'two words'"],
    ["x=1", "'x=1'"],
    ["stop!", "'stop!'"],
    ["1,2p", "'1,2p'"],
    ["it's", '"it\'s"'],
    ["back\\slash", '"back\\\\slash"'],
    ['say "x\\y"', '"say \\"x\\\\y\\""'],
    ["$HOME", "'$HOME'"],
    ["a$\\b", "'a$'\"\\\\b\""],
    ["\\b$", "\"\\\\b\"'$'"],
    ["'!", "\"'\"'!'"],
    ["^start", "'^start'"],
    ["a^b^c", "a'^b''^c'"],
    ["日本", "'日本'"],
    ["a\tb\nc", "'a\tb\nc'"],
  ])("%j becomes %s", (word, quoted) => expect(shlexJoin([word])).toBe(quoted));

  it("separates words by one space", () => expect(shlexJoin(["a", "", "b c"])).toBe("a '' 'b c'"));
  it("refuses NUL, which no shell can carry", () =>
    expect(shlexJoin(["a", "b\0"])).toBe("<command included NUL byte>"));
});

it("splits what it joined into the same words", () => {
  const word = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: fc.constantFrom("'", '"', "\\", "$", "`", "^", "!", " ", "#", "a", "\n", "é") }),
  );
  fc.assert(
    fc.property(fc.array(word), (words) => {
      fc.pre(!words.some((each) => each.includes("\0")));
      expect(shlexSplit(shlexJoin(words))).toEqual(words);
    }),
  );
});
