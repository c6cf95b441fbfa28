import fc from "fast-check";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { describe, expect, it } from "vitest";
import { checkCard, strictCardLimits } from "../fake/cards/card-rules.ts";
import { readMarkdown } from "../fake/cards/markdown-rules.ts";
import { CARD_LIMITS, fits, measure } from "./budget.ts";
import type { TurnCard } from "./document.ts";
import { layoutTurn } from "./pages.ts";
import { allElements, commandItem, inputOf, messageItem, textOf, turnWith, userItem } from "./testing.ts";

/** What no card may hold, whatever it is made from, and however much of it there is. */
function expectTaken(cards: readonly TurnCard[]): void {
  for (const card of cards) {
    expect(fits(measure(card), CARD_LIMITS), JSON.stringify(measure(card))).toBe(true);
    expect(checkCard(card, strictCardLimits, () => false).advice).toEqual([]);
    for (const element of allElements(card)) if (element.tag === "markdown") expect(readMarkdown(element.content).pingsEveryone).toBe(false);
    const ids = allElements(card).map((element) => element.element_id!);
    expect(new Set(ids).size).toBe(ids.length);
  }
}

const answered = (text: string, more: readonly ThreadItem[] = []): TurnCard[] => [...layoutTurn(inputOf(turnWith([userItem("u", "x"), ...more, messageItem("m", text, "final_answer")]))).cards];

const FRAGMENTS = [
  "<at id=all></at>", "<at user_id=\"all\">everyone</at>", "<AT ID='all'/>", "`<at id=all></at>`", "``<person id=x>``", "&lt;at id=all&gt;", "<img src=x onerror=alert(1)>", "<font color=red>",
  "![x](img_v3_0000)", "![y](https://x.example/a b.png)", "[z](javascript:alert(1))", "[w](data:text/html,x)", "看https://x.example/路径。后面", "https://x.example/?a=1&reg=2&copy", "ada@mail.example.org",
  "```ts\nconst x = `${y}`;\n```", "```\n`````\n```", "- item\n  ```js\n  f()\n  ```\n- next", "1. a\n   ```\n   b", "~~~\ntilde\n~~~", "    indented ${z}", "text\n```glued\ncode\n```\ntext",
  "| a | b |\n| --- | --- |\n| 1 | 2 |", "| `|` | \\| |\n|:-:|-|\n| x | y |", "> | q | r |\n> | - | - |", "# Heading", "####### seven", "****", "____", "***~~x~~***", "$E=mc^2$", "${HOME}",
  "مرحبا \u202eabc\u202c עברית", "👩‍👩‍👧‍👦🇩🇪👍🏽", "\ud83d", "\u0000\u0007\u001b[31m", "\u2028\u2029", "a".repeat(300), "字".repeat(300), "[".repeat(60), "`".repeat(31), "\t\t- x", "\r\nx\ry", "\\*\\<\\`",
] as const;

describe("hostile content", () => {
  // FEISHU_RUNS=2000 for a long search.
  it("in any mixture makes cards that are taken, and pings nobody", () => {
    const text = fc.array(fc.tuple(fc.constantFrom(...FRAGMENTS), fc.constantFrom("", " ", "\n", "\n\n")), { maxLength: 25 }).map((pieces) => pieces.flat().join(""));
    fc.assert(fc.property(text, text, (one, other) => {
      const tool: ThreadItem = { type: "mcpToolCall", id: "t", server: one, tool: other, status: "completed", arguments: { [one]: other }, result: null, error: null, durationMs: 5 } as unknown as ThreadItem;
      const change: ThreadItem = { type: "fileChange", id: "f", status: "completed", changes: [{ path: `/w/${other}`, kind: { type: "update", move_path: one }, diff: one }] };
      const items: ThreadItem[] = [userItem("u", "x"), messageItem("c", one, "commentary"), { type: "reasoning", id: "r", summary: [other], content: [] }, commandItem("k", one, { cwd: other }), tool, change, userItem("s", other), messageItem("m", other, "final_answer")];
      const plan = [{ step: one, status: "pending" as const }];
      for (const status of ["inProgress", "completed", "failed"] as const) {
        const error = status === "failed" ? { message: other, codexErrorInfo: null, additionalDetails: null, misalignment: null } : null;
        expectTaken(layoutTurn(inputOf(turnWith(items, { status, error, plan }), { title: one, cwd: other })).cards);
      }
    }), { seed: 20_261_130, numRuns: Number(process.env["FEISHU_RUNS"] ?? 25) });
  }, 3_600_000);

  it("of hundreds of kilobytes arrives in order, on cards that are taken", () => {
    const words = Array.from({ length: 15_000 }, (_, index) => `w${index}${index % 37 === 0 ? "\n\n" : index % 11 === 0 ? "，字字字" : ""}`).join(" ");
    const cards = answered(words);
    expectTaken(cards);
    const shown = cards.map(textOf).join(" ").match(/w\d+/g)!.map((word) => Number(word.slice(1)));
    expect(shown).toHaveLength(15_000);
    expect(shown.every((word, index) => word === index)).toBe(true);
  });

  it.each([
    ["one line without a blank", "x".repeat(120_000)],
    ["one line of emoji", "👩‍👩‍👧‍👦".repeat(6_000)],
    ["quotes and line ends, which count more in JSON", "\"\\\n".repeat(4_000)],
    ["one fence", `\`\`\`ts\n${"const x = 1; // \"quoted\"\n".repeat(4_000)}\`\`\``],
    ["a fence with templates", `\`\`\`sh\n${"echo ${HOME}\n".repeat(5_000)}\`\`\``],
    ["a fence that never ends", `\`\`\`\n${"line\n".repeat(20_000)}`],
    ["one table", `| a | b |\n| - | - |\n${"| 1 | 2 |\n".repeat(6_000)}`],
    ["a hundred tables", "| a |\n| - |\n| 1 |\n\n".repeat(100)],
    ["signs that are escaped", "<*~[]#`_&$>".repeat(6_000)],
    ["links", "[a](https://x.example/a?b=c&d=e) ".repeat(3_000)],
  ])("as %s is cut into cards that are taken", (_name, text) => {
    expectTaken(answered(text));
  });

  it("in what stands around the answer is bounded", () => {
    const huge = "<at id=all></at> \"長い\" ".repeat(5_000);
    const failed = turnWith([userItem("u", "x"), commandItem("c", huge, { cwd: huge }), userItem("s", "and"), messageItem("m", "half")], {
      status: "failed", error: { message: huge, codexErrorInfo: null, additionalDetails: null, misalignment: null }, plan: Array.from({ length: 2_000 }, () => ({ step: huge.slice(0, 1_000), status: "pending" as const })),
    });
    expectTaken(layoutTurn(inputOf(failed, { title: huge, subtitle: huge.slice(0, 400), cwd: "/w" })).cards);
  });

  it("of 300 tools, each with much to show, makes a few cards", () => {
    const cards = answered("Done.", Array.from({ length: 300 }, (_, index) => commandItem(`c${index}`, `echo ${index} ${"\"字\" ".repeat(120)}`)));
    expectTaken(cards);
    expect(cards.length).toBeLessThan(12);
  });
});
