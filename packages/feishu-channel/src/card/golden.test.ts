import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { describe, expect, it } from "vitest";
import { interactionCard } from "../approvals/card.ts";
import { checkCard, strictCardLimits } from "../fake/cards/card-rules.ts";
import { measure } from "./budget.ts";
import type { TurnElement } from "./document.ts";
import { layoutTurn } from "./pages.ts";
import { commandItem, inputOf, messageItem, turnWith, userItem } from "./testing.ts";

const answer = messageItem("answer", "Done.", "final_answer");
const command = (id: string, text: string, extra: object = {}): ThreadItem => commandItem(id, text, extra);
const action = (id: string, text: string, commandActions: object[]): ThreadItem => commandItem(id, text, { commandActions: commandActions as never });
const changes = (...list: [path: string, kind: "add" | "update" | "delete", diff: string][]): ThreadItem => ({
  type: "fileChange", id: "edits", status: "completed",
  changes: list.map(([path, kind, diff]) => ({ path, kind: kind === "update" ? { type: kind, move_path: null } : { type: kind }, diff })),
});
const table = (n: number): string => `| n | square |\n| --- | --- |\n| ${n} | ${n * n} |`;

/** Items of a finished turn; `running` and others change what the turn is. */
const TURNS: Readonly<Record<string, () => Parameters<typeof inputOf>>> = {
  "every kind of tool": () => [turnWith([
    userItem("u", "go"),
    command("run", "npm test"),
    action("read", "cat src/a.ts", [{ type: "read", command: "cat src/a.ts", name: "a.ts", path: "/w/src/a.ts" }]),
    action("list", "ls src", [{ type: "listFiles", command: "ls src", path: "src" }]),
    action("search", "rg foo src", [{ type: "search", command: "rg foo src", query: "foo", path: "src" }]),
    changes(["/w/src/a.ts", "update", "@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n"]),
    { type: "mcpToolCall", id: "mcp", server: "docs", environmentId: null, tool: "find", status: "completed", arguments: { query: "fold" }, appContext: null, mcpAppUi: null, pluginId: null, readOnlyHint: null, result: null, error: null, durationMs: 900 },
    { type: "dynamicToolCall", id: "dyn", namespace: null, tool: "mystery", arguments: { level: 3 }, status: "completed", contentItems: null, success: true, durationMs: null },
    { type: "collabAgentToolCall", id: "agent", tool: "spawnAgent", status: "completed", senderThreadId: "t", receiverThreadIds: [], prompt: "Look at the tests", model: null, reasoningEffort: null, agentsStates: {} },
    { type: "imageView", id: "img", path: "/w/shot.png" },
    answer,
  ])],
  "parallel tools, one of them failed": () => [turnWith([
    userItem("u", "go"),
    command("a", "npm test", { status: "failed", exitCode: 1 }), command("b", "npm run lint"), command("c", "npm run build"),
    messageItem("m", "Two pass, one fails.", "commentary"), answer,
  ])],
  "a long diff in several files, one with a template": () => [turnWith([
    userItem("u", "go"),
    changes(
      ["/w/src/long.ts", "update", `@@ -1,90 +1,90 @@\n${Array.from({ length: 90 }, (_, index) => `-line ${index}\n+LINE ${index}\n`).join("")}`],
      ["/w/src/template.ts", "add", "export const hi = `Hello ${name}`;\nexport const bye = 1;\n"],
      ["/w/old.py", "delete", "print('old')\n"],
    ),
    answer,
  ])],
  "seven tables": () => [turnWith([userItem("u", "go"), command("c", "ls"), messageItem("answer", Array.from({ length: 7 }, (_, n) => `Table ${n}:\n\n${table(n)}`).join("\n\n"), "final_answer")])],
  "a web search with sources": () => [turnWith([
    userItem("u", "go"),
    { type: "webSearch", id: "w", query: "folding cards", action: { type: "search", query: "folding cards", queries: null }, results: [{ url: "https://example.org/a", title: "Cards [and] folds" }, { url: "https://example.org/b" }] },
    answer,
  ])],
  "a plan and reasoning while it runs": () => [
    turnWith([userItem("u", "go"), { type: "reasoning", id: "r", summary: ["First I look."], content: [] }, command("c", "ls", { status: "inProgress", exitCode: null, durationMs: null }), messageItem("m", "I am wri")], {
      status: "inProgress", plan: [{ step: "Look", status: "completed" }, { step: "Fix", status: "inProgress" }, { step: "Test", status: "pending" }],
    }),
    { elapsedMs: 65_000, locale: "zh", subtitle: "Claude Code · sonnet" },
  ],
  "cancelled": () => [turnWith([userItem("u", "go"), command("c", "sleep 100", { status: "failed", exitCode: null }), messageItem("m", "I was about to")], { status: "interrupted" })],
  "failed": () => [turnWith([userItem("u", "go"), command("c", "ls")], { status: "failed", error: { message: "429 <rate> limit", codexErrorInfo: null, additionalDetails: null, misalignment: null } }), { locale: "zh" }],
  "a native Codex turn with code mode": () => [turnWith([
    userItem("u", "go"),
    { ...command("exec-1", "npm test"), foldcast: { rawName: "exec", rawInput: "const r = await tools.exec_command({ cmd: \"npm test\" });\ntext(r.output);", canonicalName: "exec_command", canonicalArguments: { cmd: "npm test" } } } as unknown as ThreadItem,
    { type: "dynamicToolCall", id: "exec-2", namespace: null, tool: "exec", arguments: { source: "const [a, b] = await Promise.all([tools.exec_command({ cmd: `ls ${dir}` }), tools.web__run({ search_query: [{ q: \"fold\" }] })]);" }, status: "completed", contentItems: null, success: true, durationMs: 2_000 },
    changes(["/w/a.txt", "add", "one\n"]),
    answer,
  ]), { subtitle: "gpt-5.5" }],
  "an answer full of traps": () => [turnWith([
    userItem("u", "go"), command("c", "ls"),
    messageItem("answer", "# Title\n\n<at id=all></at> see https://example.org/x，and ![shot](./a.png)\n- item\n  ```ts\n  const a = `${b}`;\n  ```\n\n> quote\n\n&reg **bold**", "final_answer"),
  ])],
};

describe("golden cards of turns", () => {
  it.each(Object.keys(TURNS))("%s", async (name) => {
    const { cards } = layoutTurn(inputOf(...TURNS[name]!()));
    for (const card of cards) checkCard(card, strictCardLimits, () => false);
    await expect(`${JSON.stringify(cards, null, 1)}\n`).toMatchFileSnapshot(`golden/${name.replaceAll(/\W+/g, "-")}.json`);
  });
});

/** Too long to be kept whole: how they are laid out, how large each card is, and where each text begins and ends. */
const LONG_TURNS: Readonly<Record<string, () => Parameters<typeof inputOf>>> = {
  "five hundred tools": () => [turnWith([userItem("u", "go"), ...Array.from({ length: 500 }, (_, index) => command(`c${index}`, `run step-${index} --with some --more arguments`)), answer])],
  "an answer of 200 KB": () => [turnWith([
    userItem("u", "go"), command("c", "ls"),
    messageItem("answer", Array.from({ length: 1_400 }, (_, index) => (index % 100 === 50 ? `\`\`\`ts\n${`const n${index} = 1;\n`.repeat(200)}\`\`\`` : `第${index}段：${"这是一个很长的中文段落。".repeat(3)}`)).join("\n\n"), "final_answer"),
  ])],
};
const ends = (text: string): string => (text.length <= 120 ? text : `${text.slice(0, 60)} … ${text.slice(-60)}`);
const outlineOf = (elements: readonly TurnElement[]): unknown[] =>
  elements.map((element) => (element.tag === "markdown" ? ends(element.content) : { [element.header.title.content]: element.elements.length > 12 ? `${element.elements.length} elements` : outlineOf(element.elements) }));

describe("golden layouts of long turns", () => {
  it.each(Object.keys(LONG_TURNS))("%s", async (name) => {
    const { cards } = layoutTurn(inputOf(...LONG_TURNS[name]!()));
    for (const card of cards) checkCard(card, strictCardLimits, () => false);
    const outline = cards.map((card) => ({ title: card.header?.title.content, ...measure(card), summary: card.config.summary.content, body: outlineOf(card.body.elements) }));
    await expect(`${JSON.stringify(outline, null, 1)}\n`).toMatchFileSnapshot(`golden/${name.replaceAll(/\W+/g, "-")}.json`);
  });
});

const approval: InteractionPayload = {
  interactionId: "x", kind: "approval", title: null, body: "Command: rm -r build\nFolder: /w", fields: [], expiresAt: null,
  actions: [
    { id: "approve", label: "Approve", value: "approve", style: "primary" },
    { id: "deny", label: "Deny", value: "deny", style: "danger" },
    { id: "always", label: "Always approve", value: "always", style: "default" },
  ],
};
const field = { description: null, type: "text" as const, required: true, default: null };
const question: InteractionPayload = {
  interactionId: "x", kind: "formSubmit", title: "Before I begin", body: "", actions: [], expiresAt: null,
  fields: [
    { ...field, id: "side", label: "Which side?", options: [{ label: "left", value: "left" }, { label: "right", value: "right" }], multiple: false, freeText: false },
    { ...field, id: "parts", label: "Which parts?", options: [{ label: "a", value: "a" }, { label: "b", value: "b" }], multiple: true, freeText: false },
    { ...field, id: "why", label: "Why?", options: [], multiple: false, freeText: true },
  ],
};
const settled = (outcome: string, by: string | null): { readonly outcome: string; readonly by: string | null } => ({ outcome, by });
const CARDS = {
  "approval pending": { payload: approval, settled: null, expiresInMinutes: 30 },
  "approval given": { payload: approval, settled: settled("Approved", "Ada"), expiresInMinutes: null },
  "approval declined": { payload: approval, settled: settled("Denied", "Ada"), expiresInMinutes: null },
  "approval expired": { payload: approval, settled: settled("Expired", null), expiresInMinutes: null },
  "approval answered elsewhere": { payload: approval, settled: settled("Answered elsewhere", "codex-tui"), expiresInMinutes: null },
  "question with three parts": { payload: question, settled: null, expiresInMinutes: 30 },
} as const;

describe("golden cards of interactions", () => {
  it.each(Object.entries(CARDS))("%s", async (name, view) => {
    const card = interactionCard({ key: "i0", locale: "en", ...view });
    expect(checkCard(card, strictCardLimits, () => false).advice).toEqual([]);
    await expect(`${JSON.stringify(card, null, 1)}\n`).toMatchFileSnapshot(`golden/${name.replaceAll(/\W+/g, "-")}.json`);
  });
});
