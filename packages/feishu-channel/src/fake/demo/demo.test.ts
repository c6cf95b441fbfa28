import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { startDemo, type Demo } from "../index.ts";

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}
const page = new URL("page/", import.meta.url);
const { parseMarkdown, parseInline } = (await import(new URL("markdown.js", page).href)) as {
  readonly parseMarkdown: (text: string) => Node[];
  readonly parseInline: (text: string) => (Node | string)[];
};

let demo: Demo | undefined;
afterEach(async () => {
  await demo?.close();
  demo = undefined;
});

describe("the demo", () => {
  it("serves its page with nothing from elsewhere, and every file that the page asks for", async () => {
    demo = await startDemo();
    const index = await fetch(demo.url);
    expect(index.headers.get("content-security-policy")).toContain("default-src 'none'");
    const asked = new Set([...(await index.text()).matchAll(/(?:href|src)="(\/[^"]+)"/g)].map((found) => found[1]!));
    for (const file of readdirSync(page)) for (const [, name] of readFileSync(new URL(file, page), "utf8").matchAll(/from "\.\/([^"]+)"/g)) asked.add(`/demo/${name!}`);
    expect(asked.size).toBe(6);
    for (const path of asked) expect((await fetch(demo.url + path)).status, path).toBe(200);
    for (const file of readdirSync(page)) expect(readFileSync(new URL(file, page), "utf8")).not.toMatch(/(?:src|href|url\(|import|fetch\()\s*=?\s*["'(]?https?:\/\//);
    expect((await fetch(`${demo.url}/demo/../start-demo.ts`)).status).toBe(404);
  });

  it("has people and chats, and gives pictures as pictures and other files as downloads only", async () => {
    demo = await startDemo();
    const { fake, directChatId, person, groupChatId } = demo;
    expect(fake.chats().map(({ chatId, people }) => [chatId, people.length])).toEqual([[directChatId, 1], [groupChatId, 2]]);
    const { key } = fake.attach({ chatId: directChatId, from: person.openId, kind: "file", name: "x.html", base64: Buffer.from("<script>").toString("base64") });
    const file = await fetch(`${demo.url}/demo/file/${key}`);
    expect([file.headers.get("content-type"), file.headers.get("x-content-type-options")]).toEqual(["application/octet-stream", "nosniff"]);
    expect((await fetch(`${demo.url}/demo/file/none`)).status).toBe(404);
  });
});

describe("the demo's markdown", () => {
  const types = (text: string) => parseMarkdown(text).map(({ type }) => type);

  it("knows the blocks of a card", () => {
    expect(types("# T\ntext\n\n- a\n    - b\n\n1. x\n\n> q\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n```ts\nx\n```\n\n    code")).toEqual(["heading", "paragraph", "list", "list", "quote", "table", "hr", "code", "code"]);
    expect(parseMarkdown("```ts\na\n\nb\n```")).toEqual([{ type: "code", language: "ts", text: "a\n\nb" }]);
    expect(parseMarkdown("- a\n    - b\n- c")).toMatchObject([{ items: [{ inline: ["a"], blocks: [{ items: [{ inline: ["b"] }] }] }, { inline: ["c"] }] }]);
  });

  it("shows what the clients show wrongly as wrong as they do", () => {
    expect(types("text\n```\ncode\n```")).toEqual(["paragraph"]);
    expect(parseMarkdown("```sh\necho ${A}\nls\n```")).toMatchObject([{ text: "echo ${A} ls" }]);
    expect(parseMarkdown("    echo ${A}\n    ls")).toMatchObject([{ text: "echo ${A}\nls" }]);
    expect(parseInline("a <Component> b &reg &#60;T&#62;")).toEqual(["a  b ® <T>"]);
  });

  it("makes links of http addresses only, and never loses plain text", () => {
    expect(parseInline("[a](https://x.example/y_z) [b](javascript:alert)")).toEqual([{ type: "link", url: "https://x.example/y_z", inline: ["a"] }, " [b](javascript:alert)"]);
    expect(parseInline("snake_case_name 2 * 3 * 4 `a*b` **b** ~~d~~ _e_")).toEqual(["snake_case_name 2 * 3 * 4 ", { type: "code", text: "a*b" }, " ", { type: "strong", inline: ["b"] }, " ", { type: "del", inline: ["d"] }, " ", { type: "em", inline: ["e"] }]);
    expect(parseInline("x https://a.example/b, y")).toEqual(["x ", { type: "link", url: "https://a.example/b", inline: ["https://a.example/b"] }, ", y"]);
  });

  it("is done with long texts", () => {
    // Going back from each opening mark would take minutes: the limit of the test is the measure.
    expect(parseMarkdown("word *x _y [z](a <b `c ".repeat(3_000))).toHaveLength(1);
  });
});
