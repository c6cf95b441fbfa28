import { describe, expect, it } from "vitest";
import { CardFault, checkCard, strictCardLimits } from "./card-rules.ts";
import { readMarkdown } from "./markdown-rules.ts";

const text = (content = "x", more: object = {}) => ({ tag: "markdown", content, ...more });
const panel = (elements: object[], more: object = {}) => ({ tag: "collapsible_panel", header: { title: { tag: "plain_text", content: "t" } }, elements, ...more });
const button = (more: object = {}) => ({ tag: "button", text: { tag: "plain_text", content: "go" }, behaviors: [{ type: "callback", value: { a: 1 } }], ...more });
const card = (...elements: object[]) => ({ schema: "2.0", config: { update_multi: true, summary: { content: "s" } }, header: { title: { tag: "plain_text", content: "h" }, template: "blue" }, body: { elements } });
const check = (value: unknown) => checkCard(value, strictCardLimits, (key) => key === "img_known");
const fault = (value: unknown): CardFault => {
  try {
    check(value);
  } catch (error) {
    if (error instanceof CardFault) return error;
    throw error;
  }
  throw new Error("no fault");
};

describe("the rules for a card", () => {
  it("take a card with panels, columns, a form and a table, and count what counts", () => {
    const form = { tag: "form", name: "f", elements: [{ tag: "input", name: "i" }, { tag: "select_static", name: "s", options: [{ text: { tag: "plain_text", content: "o" }, value: "o" }] }, button({ name: "b", form_action_type: "submit" })] };
    const columns = { tag: "column_set", columns: [{ tag: "column", elements: [button({ element_id: "yes" })] }] };
    const facts = check(card(panel([panel([panel([text("|a|b|\n|-|-|\n|1|2|")])])]), columns, form, { tag: "table", columns: [], rows: [] }, text("![i](img_known)")));
    expect(facts).toMatchObject({ elements: 20, tables: 2, depth: 3, images: ["img_known"], advice: [] });
  });

  it.each([
    ["nothing", {}, 300307],
    ["another schema", { schema: "1.0", body: {} }, 300303],
    ["a card for one reader", { ...card(), config: { update_multi: false } }, 300302],
    ["an unknown property", card(text("x", { corner_radius: "8px" })), 200621],
    ["an unknown property of a column", card({ tag: "column_set", columns: [{ tag: "column", corner_radius: "8px", elements: [] }] }), 200621],
    ["an unknown component", card({ tag: "toggle" }), 200621],
    ["a component of schema 1", card({ tag: "note", elements: [] }), 200861],
    ["the same id twice", card(text("x", { element_id: "a" }), panel([text("y", { element_id: "a" })])), 300301],
    ["an id of a wrong form", card(text("x", { element_id: "1a" })), 200621],
    ["an id that is too long", card(text("x", { element_id: "a".repeat(21) })), 200621],
    ["a form inside a panel", card(panel([{ tag: "form", name: "f", elements: [] }])), 200621],
    ["a form without a submit button", card({ tag: "form", name: "f", elements: [{ tag: "input", name: "i" }] }), 200621],
    ["a nameless input in a form", card({ tag: "form", name: "f", elements: [{ tag: "input" }, button({ name: "b", form_action_type: "submit" })] }), 200530],
    ["a choice without options", card({ tag: "select_static", options: [] }), 200621],
    ["an image that was not uploaded", card(text("![i](https://x/y.png)")), 200570],
    ["a callback value that is no object", card(button({ behaviors: [{ type: "callback", value: "x" }] })), 200621],
    ["a button text over 100 characters", card(button({ text: { tag: "plain_text", content: "长".repeat(101) } })), 200621],
    ["a ping of everyone", card(text("<at id=all></at>")), 230099],
    ["six levels", card([1, 2, 3, 4, 5].reduce((inner) => panel([inner]), panel([text()]))), 200621],
  ] as const)("refuse %s", (_name, value, code) => {
    expect(fault(value).code).toBe(code);
  });

  it("count bytes of the request, not characters of the card", () => {
    const chinese = (count: number) => card(text("长".repeat(count)));
    expect(() => check(chinese(9_000))).not.toThrow();
    expect(fault(chinese(10_200))).toMatchObject({ code: 200860, rule: "card.size" });
    // A quotation mark costs four bytes: it is escaped in the card and again in the request.
    expect(fault(card(text('"'.repeat(8_000)))).code).toBe(200860);
  });

  it("count 200 elements and three tables, and say which limit it was", () => {
    const many = (count: number) => card(...Array.from({ length: count }, () => ({ tag: "hr" })));
    expect(() => check(many(199))).not.toThrow();
    expect(fault(many(200))).toMatchObject({ code: 300305, errCode: 11310 });
    const table = "|a|b|\n|-|-|\n|1|2|\n";
    expect(() => check(card(text(`${table}\n${table}\n${table}\n\`\`\`\n${table}\`\`\``)))).not.toThrow();
    expect(fault(card(text(`${table}\n${table}`), text(`${table}\n${table}`)))).toMatchObject({ rule: "card.tables", message: expect.stringContaining("table") });
  });
});

describe("reading markdown", () => {
  const advice = (content: string) => readMarkdown(content).advice.map(([name]) => name);

  it("finds what clients show wrongly", () => {
    expect(advice("text\n```js\ncode\n```\nmore")).toEqual(["fence.glued", "fence.glued"]);
    expect(advice("- a\n\n  ```\n  code\n  ```")).toEqual(["fence.indented"]);
    expect(advice("```sh\necho ${HOME}\n```")).toEqual(["fence.template"]);
    expect(advice("see https://a.example/x看这里")).toEqual(["link.glued"]);
    expect(advice("[x](/local/path)")).toEqual(["link.scheme"]);
    expect(advice("a <Component> b")).toEqual(["vanishing.tag"]);
    expect(advice("****bold****")).toEqual(["stars"]);
  });

  it("finds nothing in what is right", () => {
    expect(advice("# T\n\n```js\nconst a = `<b>`;\n```\n\n    echo ${HOME}\n\n`<T>` [x](https://a.example) <font color='red'>r</font> &#60;T&#62;")).toEqual([]);
  });

  it("sees tables outside of code only", () => {
    expect(readMarkdown("a|b\n-|-\n1|2").tables).toBe(1);
    expect(readMarkdown("```\n|a|b|\n|-|-|\n```\n\n    |a|b|\n    |-|-|").tables).toBe(0);
    expect(readMarkdown("a\n---\nb | c").tables).toBe(0);
  });
});
