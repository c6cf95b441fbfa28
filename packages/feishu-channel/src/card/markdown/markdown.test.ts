import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codeBlock } from "./code.ts";
import { maskMail, plainInline, safeInline } from "./inline.ts";
import { safeMarkdown } from "./safe.ts";
import { cutMarkdown } from "./split.ts";

const safe = (text: string, tables = 3): string => safeMarkdown(text, { tables, maskMail: false });

describe("Markdown for Feishu", () => {
  it.each([
    ["<at id=all></at> hello", "&#60;at id=all>&#60;/at> hello"],
    ["a `<at id=all></at>` b", "a `&#60;at id=all&#62;&#60;/at&#62;` b"],
    ["**bold** and *thin* and ~~gone~~", "**bold** and *thin* and ~~gone~~"],
    ["&reg and &lt;b&gt;", "&#38;reg and &#38;lt;b&#38;gt;"],
    ["see ![a picture](https://x.org/a.png)", "see [🖼️ a picture](https://x.org/a.png)"],
    ["see ![a picture](./a.png)", "see a picture"],
    ["[file](/w/a.ts) is", "file (/w/a.ts) is"],
    ["参见https://x.org/a，然后", "参见 [https://x.org/a](https://x.org/a) ，然后"],
    ["[a](https://x.org/b?a=1&copy=2)", "[a](https://x.org/b?a=1&#38;copy=2)"],
    ["# Title", "#### Title"],
    ["### Deep", "##### Deep"],
  ])("%s", (source, wanted) => {
    expect(safe(source).replaceAll("&#62;", ">")).toBe(wanted.replaceAll("&#62;", ">"));
  });

  it("keeps quotes as quotes", () => {
    expect(safe("> said\n> more")).toBe("> said\n> more");
  });

  it("puts fences at the margin between blank lines, longer than what is inside", () => {
    expect(safe("text\n  - item\n    ```ts\n    let a = 1;\n    ```\nafter")).toBe("text\n  - item\n\n```ts\nlet a = 1;\n```\n\nafter");
    expect(safe("````md\n```js\nx\n```\n````")).toBe("````md\n```js\nx\n```\n````");
  });

  it("ends a fence that the text leaves open", () => {
    expect(safe("```js\nlet a;")).toBe("```js\nlet a;\n```");
  });

  it("indents a block with a literal ${, and no other", () => {
    expect(safe("```ts\nconst a = `${b}`;\nnext\n```\n\n```ts\nplain\n```")).toBe("    const a = `${b}`;\n    next\n\n```ts\nplain\n```");
    expect(codeBlock("a\n", "sh")).toBe("```sh\na\n```");
  });

  it("ends a list before an indented block, which would be prose of its last item", () => {
    const code = "```js\n${a} <at id=all></at>\n```";
    const shown = "    ${a} <at id=all></at>";
    expect(safe(`- do this:\n  ${code.replaceAll("\n", "\n  ")}`)).toBe(`- do this:\n\n<br>\n\n${shown}`);
    expect(safe(`1. one\n2. two\n\n${code}\n\nafter`)).toBe(`1. one\n2. two\n\n<br>\n\n${shown}\n\nafter`);
    expect(safe(`- one\n\nNow:\n\n${code}`)).toBe(`- one\n\nNow:\n\n${shown}`);
    expect(safe(`- one\n\n# Now\n\n${code}`)).toBe(`- one\n\n#### Now\n\n${shown}`);
  });

  it("takes for code what a reader takes for code: no span goes beyond its paragraph, none begins with an escaped mark", () => {
    for (const source of ["`a\n\n![x](y.png) <b> `", "- `a\n- ![x](y.png) <b> `b", "\\`![x](y.png) <b>\\`", "> `a\n> ![x](y.png) <b> `"]) expect(safe(source), source).not.toMatch(/!\[|<b>/);
    for (const source of ["`![x](y.png)`", "`a\n![x](y.png)`"]) expect(safe(source), source).toBe(source);
  });

  it("draws tables within the allowance and shows the others as code", () => {
    const table = "| a | b |\n|---|---|\n| 1 | 2 |";
    const shown = safe([table, table, table].join("\n\n"), 2);
    expect(shown.match(/```/g)).toHaveLength(2);
    expect(shown).toContain("| 1 | 2 |");
  });

  it("shows plain text as it is", () => {
    expect(plainInline("a * b <c> #1\n`x`")).toBe("a &#42; b &#60;c&#62; &#35;1 &#96;x&#96;");
  });

  it("masks mail addresses when asked", () => {
    expect(maskMail("to jo.doe@mail.example.org now")).toBe("to jo.doe[at]mail.example.org now");
  });

  it("never lets a tag of the model through, whatever it writes", () => {
    const piece = fc.constantFrom("<at id=all></at>", "<person id=x>", "`", "```\n", "\n", "a", "&lt;", "<", ">", "[l](", "https://x.org/<at>", ")", "| a |", "中");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const shown = safe(pieces.join(""));
        const outsideFences = shown.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm, "").replaceAll(/^ {4}.*$/gm, "");
        expect(outsideFences).not.toMatch(/<(?:at|person)\b/i);
        expect(() => safeInline(pieces.join(""))).not.toThrow();
      }),
      { numRuns: 400, seed: 7 },
    );
  });
});

describe("cutting Markdown", () => {
  it("prefers the end of a paragraph", () => {
    expect(cutMarkdown("one one one\n\ntwo two two\n\nthree", 28)).toEqual({ head: "one one one\n\ntwo two two", rest: "three" });
  });

  it("closes a block that it cuts and opens it again", () => {
    const cut = cutMarkdown("```ts\nline 1\nline 2\nline 3\n```", 20);
    expect(cut.head).toBe("```ts\nline 1\nline 2\n```");
    expect(cut.rest).toBe("```ts\nline 3\n```");
  });

  it("loses nothing, keeps within the room and never divides a character", () => {
    const piece = fc.constantFrom("word ", "\n", "\n\n", "长文本", "😀", "\n```\n", "x".repeat(30), "- item\n");
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 60 }), fc.integer({ min: 8, max: 60 }), (pieces, room) => {
        const source = pieces.join("");
        const heads: string[] = [];
        let rest = source;
        for (let round = 0; rest !== "" && round < 500; round += 1) {
          const cut = cutMarkdown(rest, room);
          expect(cut.head.length).toBeGreaterThan(0);
          expect(Buffer.byteLength(cut.head)).toBeLessThanOrEqual(room + 12);
          expect(cut.head).not.toMatch(/[\ud800-\udbff]$/);
          heads.push(cut.head);
          rest = cut.rest;
        }
        expect(rest).toBe("");
        const words = (text: string): string => text.replaceAll(/```|\s/g, "");
        expect(words(heads.join(""))).toBe(words(source));
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});
