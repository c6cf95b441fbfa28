import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { InteractionPayload } from "@foldcast/protocol-core/interaction";
import type { Locale } from "@foldcast/protocol-core/tools";
import { interactionCard } from "../../packages/feishu-channel/src/approvals/card.ts";
import { layoutTurn } from "../../packages/feishu-channel/src/card/pages.ts";
import type { TurnCardInput } from "../../packages/feishu-channel/src/card/render.ts";
import { commandItem, inputOf, messageItem, turnWith, userItem } from "../../packages/feishu-channel/src/card/testing.ts";
import { CHANNEL_TEXTS } from "../../packages/feishu-channel/src/channel/texts.ts";
import type { CardDocument } from "../../packages/feishu-channel/src/platform/port.ts";

export interface Scene {
  /** Of the picture's file. */
  readonly name: string;
  readonly card: CardDocument;
  /** Panels less deep than this are opened, as a reader would. */
  readonly open: number;
}

type Turn = Parameters<typeof turnWith>[1];

/** The ten pictures of the guide, in one language. */
export function scenes(locale: Locale): readonly Scene[] {
  const say = (en: string, zh: string): string => (locale === "zh" ? zh : en);
  const title = say("Why does the build fail?", "构建为什么失败？");
  const prompt = userItem("u", title);
  const turn = (name: string, open: number, items: readonly ThreadItem[], changes: Turn = {}, extra: Partial<TurnCardInput> = {}): Scene => {
    const input = inputOf(turnWith([prompt, ...items], { durationMs: 94_000, ...changes }), { locale, title, subtitle: "Claude Code · sonnet", mark: "2d86b6ca", elapsedMs: 41_000, ...extra });
    const { cards } = layoutTurn(input);
    return { name, open, card: cards[0]! };
  };
  const thought: ThreadItem = { type: "reasoning", id: "r", summary: [say("The log names a type error, so the compiler is where to look first.", "日志里是类型错误，先从编译器看起。")], content: [] };
  const read = commandItem("read", "cat src/round.ts", { commandActions: [{ type: "read", command: "cat src/round.ts", name: "round.ts", path: "/w/src/round.ts" }] });
  const search = commandItem("search", "rg toFixed src", { commandActions: [{ type: "search", command: "rg toFixed src", query: "toFixed", path: "src" }] });
  const edit: ThreadItem = {
    type: "fileChange", id: "edit", status: "completed",
    changes: [
      { path: "/w/src/round.ts", kind: { type: "update", move_path: null }, diff: "@@ -1,3 +1,3 @@\n-export function round(value: number): string {\n-  return value.toFixed(1);\n+export function round(value: number): number {\n+  return Math.round(value * 10) / 10;\n }\n" },
      { path: "/w/src/label.ts", kind: { type: "add" }, diff: "export const label = (value: number): string => `${value} °C`;\nexport const none = \"—\";\n" },
    ],
  };
  const work = [
    thought,
    messageItem("m1", say("I run the build first and then look at what it names.", "先运行构建，再看它指出的位置。"), "commentary"),
    commandItem("build", "npm run build", { status: "failed", exitCode: 2, durationMs: 8_400 }), read, search, edit,
    commandItem("test", "npm test", { durationMs: 12_800 }),
  ];
  const answer = messageItem("answer", say(
    "The build failed because `round` gave a **text** where a number was expected.\n\n- `src/round.ts` rounds with `Math.round` now.\n- `src/label.ts` is new and holds the label.\n\nAll 48 tests pass.",
    "构建失败是因为 `round` 返回了**字符串**，而调用处需要数字。\n\n- `src/round.ts` 改用 `Math.round` 取整。\n- 新增 `src/label.ts`，存放标签。\n\n48 个测试全部通过。",
  ), "final_answer");
  const spent = { totalTokens: 21_480, inputTokens: 20_000, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 1_480, reasoningOutputTokens: 0 };
  const usage = { total: spent, last: spent, modelContextWindow: 200_000 };
  const square = (n: number): string => `| ${say("n", "数")} | ${say("square", "平方")} |\n| --- | --- |\n| ${n} | ${n * n} |\n| ${n + 1} | ${(n + 1) ** 2} |`;
  return [
    turn("running", 1, [thought, work[1]!, work[2]!, commandItem("test", "npm test -- --watch=false", { status: "inProgress", exitCode: null, durationMs: null }), messageItem("m", say("The type error is in `round`; I am", "类型错误在 `round`，我正在"))], {
      status: "inProgress", durationMs: null,
      plan: [{ step: say("Find the cause", "找到原因"), status: "completed" }, { step: say("Mend it", "修复"), status: "inProgress" }, { step: say("Run all tests", "运行全部测试"), status: "pending" }],
    }),
    turn("done", 0, [...work, answer], {}, { usage }),
    turn("history", 2, [...work, answer], {}, { usage }),
    turn("diff", 3, [edit, messageItem("a", say("Two files are changed.", "改动了两个文件。"), "final_answer")]),
    turn("web-search", 3, [
      { type: "webSearch", id: "w", query: say("rounding half away from zero", "四舍五入 规则"), action: { type: "search", query: say("rounding half away from zero", "四舍五入 规则"), queries: null }, results: [{ url: "https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/Math/round", title: "Math.round() - JavaScript | MDN" }, { url: "https://en.wikipedia.org/wiki/Rounding", title: "Rounding - Wikipedia" }] },
      messageItem("a", say("`Math.round` rounds halves **up**, also below zero.", "`Math.round` 遇到一半时总是**向上**取整，负数也一样。"), "final_answer"),
    ]),
    turn("tables", 0, [commandItem("c", "node squares.js"), messageItem("a", Array.from({ length: 4 }, (_, index) => `${say("Table", "表")} ${index + 1}\n\n${square(index * 2 + 1)}`).join("\n\n"), "final_answer")]),
    turn("failed", 1, [work[1]!, work[2]!], { status: "failed", durationMs: 9_100, error: { message: say("The model refuses the request: the usage limit is reached. Try again at 6 pm.", "模型拒绝了请求：已达到用量上限，请在 18:00 后重试。"), codexErrorInfo: null, additionalDetails: null, misalignment: null } }),
    { name: "approval", open: 0, card: interactionCard({ key: "i0", locale, payload: approval(locale), settled: null, expiresInMinutes: 30 }) },
    { name: "approved", open: 0, card: interactionCard({ key: "i0", locale, payload: approval(locale), settled: { outcome: CHANNEL_TEXTS[locale].outcomes.approve, by: say("Ada", "李雷") }, expiresInMinutes: null }) },
    { name: "questions", open: 0, card: interactionCard({ key: "i0", locale, payload: questions(locale), settled: null, expiresInMinutes: 30 }) },
  ];
}

function approval(locale: Locale): InteractionPayload {
  const say = (en: string, zh: string): string => (locale === "zh" ? zh : en);
  return {
    interactionId: "x", kind: "approval", title: null, body: say("Command: rm -r build\nFolder: /home/ada/project", "命令：rm -r build\n目录：/home/lilei/project"), fields: [], expiresAt: null,
    actions: [
      { id: "approve", label: say("Approve", "批准"), value: "approve", style: "primary" },
      { id: "deny", label: say("Deny", "拒绝"), value: "deny", style: "danger" },
      { id: "always", label: say("Always approve", "总是批准"), value: "always", style: "default" },
    ],
  };
}

function questions(locale: Locale): InteractionPayload {
  const say = (en: string, zh: string): string => (locale === "zh" ? zh : en);
  const field = { description: null, type: "text" as const, required: true, default: null };
  const option = (label: string): { label: string; value: string } => ({ label, value: label });
  return {
    interactionId: "x", kind: "formSubmit", title: say("Before I begin", "开始之前"), body: "", actions: [], expiresAt: null,
    fields: [
      { ...field, id: "side", label: say("Which branch shall I work on?", "在哪个分支上工作？"), options: [option("main"), option("fix/round")], multiple: false, freeText: false },
      { ...field, id: "parts", label: say("Which checks shall I run?", "运行哪些检查？"), options: [option(say("tests", "测试")), option(say("types", "类型检查")), option(say("lint", "代码规范"))], multiple: true, freeText: false },
      { ...field, id: "why", label: say("Anything else?", "还有其他要求吗？"), options: [], multiple: false, freeText: true },
    ],
  };
}
