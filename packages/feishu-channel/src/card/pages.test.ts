import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { describe, expect, it } from "vitest";
import { checkCard, strictCardLimits } from "../fake/cards/card-rules.ts";
import { CARD_LIMITS, fits, measure } from "./budget.ts";
import type { TurnCard } from "./document.ts";
import { ClosedPages, layoutTurn, type PageBreak } from "./pages.ts";
import { allElements, commandItem, inputOf, messageItem, panels, textOf, turnWith, userItem } from "./testing.ts";

const titles = (card: TurnCard): string[] => panels(card).map((element) => element.header.title.content);

function expectSound(cards: readonly TurnCard[]): void {
  for (const card of cards) {
    expect(fits(measure(card), CARD_LIMITS), JSON.stringify(measure(card))).toBe(true);
    expect(checkCard(card, strictCardLimits, () => false).advice).toEqual([]);
    const ids = allElements(card).map((element) => element.element_id!);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z][A-Za-z0-9_]{0,19}$/);
  }
}

describe("a turn's card", () => {
  it("folds the history and leaves the answer outside when the turn is done", () => {
    const turn = turnWith([userItem("u", "fix it"), messageItem("m1", "I look first."), commandItem("c1", "npm test"), commandItem("c2", "cat a.ts"), messageItem("m2", "It works.", "final_answer")]);
    const { cards } = layoutTurn(inputOf(turn));
    expect(cards).toHaveLength(1);
    const [card] = cards as [TurnCard];
    expect(card.body.elements.map((element) => element.tag)).toEqual(["collapsible_panel", "markdown", "markdown"]);
    const [history, answer, status] = card.body.elements;
    expect(history).toMatchObject({ expanded: false, header: { title: { content: "History · Worked for 12s" } } });
    expect(answer).toMatchObject({ content: "It works." });
    expect(status).toMatchObject({ content: "Done · 12s · #abc.1", text_size: "notation" });
    expect(titles(card).slice(1)).toEqual(["Tool calls · 2", "💻 Ran npm test · 1.2s", "💻 Ran cat a.ts · 1.2s"]);
    expect(card.config).toMatchObject({ streaming_mode: false, summary: { content: "It works." } });
    expectSound(cards);
  });

  it("stays open while the turn runs, with the growing text outside and what runs in its status", () => {
    const running = commandItem("c1", "sleep 5", { status: "inProgress", exitCode: null, durationMs: null, aggregatedOutput: null });
    const { cards } = layoutTurn(inputOf(turnWith([userItem("u", "x"), running, messageItem("m", "Now")], { status: "inProgress" }), { elapsedMs: 7_400 }));
    const [card] = cards as [TurnCard];
    expect(card.config.streaming_mode).toBe(true);
    expect(card.body.elements[0]).toMatchObject({ expanded: true });
    expect(card.body.elements[1]).toMatchObject({ content: "Now" });
    expect(card.body.elements.at(-1)).toMatchObject({ content: "Running · ⏳ Running sleep 5 · 7s · #abc.1" });
  });

  it.each([
    ["interrupted", "grey", "Interrupted"],
    ["failed", "red", "Failed"],
  ] as const)("stays open when the turn is %s, and says why", (status, template, word) => {
    const error = status === "failed" ? { message: "no <quota> left", codexErrorInfo: null, additionalDetails: null, misalignment: null } : null;
    const { cards } = layoutTurn(inputOf(turnWith([userItem("u", "x"), commandItem("c", "ls"), messageItem("m", "half")], { status, error })));
    const [card] = cards as [TurnCard];
    expect(card.header?.template).toBe(template);
    expect(panels(card)[0]?.expanded).toBe(true);
    expect(textOf(card)).toContain(word);
    if (status === "failed") expect(textOf(card)).toContain("no &#60;quota&#62; left");
  });

  it("keeps an earlier final answer and what was added later outside of the folds", () => {
    const turn = turnWith([userItem("u", "a"), commandItem("c", "ls"), messageItem("m1", "First answer.", "final_answer"), userItem("s", "and b?"), commandItem("c2", "ls b"), messageItem("m2", "Second answer.", "final_answer")]);
    const [card] = layoutTurn(inputOf(turn)).cards as [TurnCard];
    expect(card.body.elements.map((element) => (element.tag === "markdown" ? element.content : "panel"))).toEqual(["panel", "First answer.", "**Added message** and b?", "panel", "Second answer.", "Done · 12s · #abc.1"]);
  });

  it("shows a patch by files in the language of each, within one budget, and no output", () => {
    const change: ThreadItem = {
      type: "fileChange", id: "f", status: "completed",
      changes: [
        { path: "/w/a.ts", kind: { type: "update", move_path: null }, diff: "@@ -1 +1 @@\n-old\n+new\n" },
        { path: "/w/b.py", kind: { type: "add" }, diff: "print(f'${x}')\n" },
      ],
    };
    const [card] = layoutTurn(inputOf(turnWith([change, commandItem("c", "ls", { aggregatedOutput: "secret output" }), messageItem("m", "ok", "final_answer")]))).cards as [TurnCard];
    expect(textOf(card)).toContain("```typescript\n@@ -1 +1 @@\n-old\n+new\n```");
    expect(textOf(card)).toContain("\n\n    print(f'${x}')");
    expect(textOf(card)).not.toContain("secret output");
  });

  it("carries 500 tools, whole and in order, over as few cards as needed", () => {
    const items = Array.from({ length: 500 }, (_, index) => commandItem(`c${index}`, `run step-${index} --with some --more arguments`));
    const { cards, breaks } = layoutTurn(inputOf(turnWith([userItem("u", "x"), ...items, messageItem("m", "All five hundred.", "final_answer")])));
    expectSound(cards);
    expect(cards.length).toBeLessThanOrEqual(4);
    expect(breaks).toHaveLength(cards.length - 1);
    const found = [...cards.map(textOf).join("\n").matchAll(/step-(\d+) --with some --more arguments · 1.2s/g)].map((match) => Number(match[1]));
    expect(found).toEqual(Array.from({ length: 500 }, (_, index) => index));
    expect(textOf(cards.at(-1)!)).toContain("All five hundred.");
  });

  it("carries a 200 KB answer whole and in order", () => {
    const paragraphs = Array.from({ length: 1_400 }, (_, index) => `第${index}段：${"这是一个很长的中文段落。".repeat(4)}`);
    const { cards } = layoutTurn(inputOf(turnWith([userItem("u", "x"), commandItem("c", "ls"), messageItem("m", paragraphs.join("\n\n"), "final_answer")])));
    expectSound(cards);
    const found = [...cards.map(textOf).join("\n").matchAll(/第(\d+)段/g)].map((match) => Number(match[1]));
    expect(found).toEqual(Array.from({ length: 1_400 }, (_, index) => index));
  });

  it("keeps what earlier cards hold while the turn goes on", () => {
    let breaks: readonly PageBreak[] = [];
    let before: readonly TurnCard[] = [];
    const items: ThreadItem[] = [userItem("u", "x")];
    for (let index = 0; index < 700; index += 1) {
      items.push(index % 9 === 0 ? messageItem(`m${index}`, `Now part ${index} of the work. `.repeat(12), "commentary") : commandItem(`c${index}`, `echo ${index} ${"y".repeat(index % 80)}`));
      if (index % 50 !== 49) continue;
      const made = layoutTurn(inputOf(turnWith(items, { status: "inProgress" })), breaks);
      expect(made.breaks.slice(0, breaks.length)).toEqual(breaks);
      for (const [number, card] of before.slice(0, -1).entries()) expect(made.cards[number]).toEqual(card);
      expectSound(made.cards);
      ({ breaks, cards: before } = made);
    }
    expect(breaks.length).toBeGreaterThan(1);
  });

  it("draws at each news what is open, and a closed card only when something on it has changed", () => {
    class Counted extends ClosedPages {
      draws = 0;
      override card(...[number, frame, units, draw]: Parameters<ClosedPages["card"]>): TurnCard {
        return super.card(number, frame, units, () => {
          this.draws += 1;
          return draw();
        });
      }
    }
    const memo = new Counted();
    let breaks: readonly PageBreak[] = [];
    let before: readonly TurnCard[] = [];
    const items: ThreadItem[] = [userItem("u", "x")];
    /** Closed cards that were drawn again, and those that are other objects than before. */
    const drawn = (): [again: number, others: number] => {
      const sofar = memo.draws;
      const made = layoutTurn(inputOf(turnWith(items, { status: "inProgress" })), breaks, CARD_LIMITS, memo);
      const opened = made.breaks.length - breaks.length;
      const others = before.slice(0, -1).filter((card, number) => made.cards[number] !== card).length;
      ({ breaks, cards: before } = made);
      return [memo.draws - sofar - opened, others];
    };
    for (let index = 0; index < 600; index += 1) {
      items.push(index % 7 === 0 ? messageItem(`m${index}`, `Part ${index}. `.repeat(30), "commentary") : commandItem(`c${index}`, `echo ${index} ${"y".repeat(60)}`));
      if (index % 5 === 0) expect(drawn()).toEqual([0, 0]);
    }
    expect(breaks.length).toBeGreaterThan(3);
    items[3] = commandItem("c2", "echo something else");
    expect(drawn()).toEqual([1, 1]);
  });

  it("draws a tool once: in the next drawing its panel is the same object", () => {
    const items = [userItem("u", "x"), commandItem("c1", "npm test"), commandItem("c2", "npm run lint")];
    const [before, after] = [items, [...items, messageItem("m", "Now")]].map((list) => panels(layoutTurn(inputOf(turnWith(list, { status: "inProgress" }))).cards[0]!));
    expect(titles(layoutTurn(inputOf(turnWith(items))).cards[0]!)).toHaveLength(4);
    expect(after!.slice(2).map((panel, index) => panel === before!.slice(2)[index])).toEqual([true, true]);
  });

  it("keeps an answer with more tables than a card may draw on one card, the rest of them as code", () => {
    const tables = Array.from({ length: 7 }, (_, index) => `| n | square |\n| --- | --- |\n| ${index} | ${index * index} |`).join("\n\n");
    const { cards } = layoutTurn(inputOf(turnWith([userItem("u", "x"), commandItem("c", "ls"), messageItem("m", tables, "final_answer")])));
    expect(cards).toHaveLength(1);
    expect(measure(cards[0]!).tables).toBe(3);
    expect(JSON.stringify(cards[0]!.body.elements[1]).match(/```/g)).toHaveLength(8);
    expectSound(cards);
  });

  it("shows an item of an unknown type with its raw name and content", () => {
    const odd = { type: "hologram", id: "x", beam: 7 } as unknown as ThreadItem;
    const [card] = layoutTurn(inputOf(turnWith([odd, messageItem("m", "ok", "final_answer")]))).cards as [TurnCard];
    expect(textOf(card)).toContain("hologram");
    expect(textOf(card)).toContain('"beam": 7');
  });
});
