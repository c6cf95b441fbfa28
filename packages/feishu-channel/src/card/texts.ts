import type { Locale } from "@foldcast/protocol-core/tools";
import type { Turn } from "@foldcast/protocol-core/wire";

interface CardTexts {
  running: string;
  waiting(count: number): string;
  done: string;
  failed: string;
  cancelled: string;
  history: string;
  workedFor(duration: string): string;
  previousMessages(count: number): string;
  tools(count: number): string;
  plan(done: number, total: number): string;
  reasoning: string;
  compacted: string;
  steer: string;
  continued(part: number): string;
  continues: string;
  rawName: string;
  cwd: string;
  shownOf(shown: number, total: number): string;
  moreNotShown(count: number): string;
  sources: string;
  tokens(input: string, output: string): string;
  noAnswer: string;
  answerBelow: string;
  unknownItem: string;
}

/** All words of a turn's card. */
export const CARD_TEXTS: Readonly<Record<Locale, CardTexts>> = {
  zh: {
    running: "运行中",
    waiting: (count) => (count === 1 ? "等待处理" : `等待处理 ${count} 项`),
    done: "已完成",
    failed: "失败",
    cancelled: "已中断",
    history: "历史记录",
    workedFor: (duration) => `用时 ${duration}`,
    previousMessages: (count) => `之前的 ${count} 条消息`,
    tools: (count) => `工具调用 · ${count}`,
    plan: (done, total) => `计划 · ${done}/${total}`,
    reasoning: "思考",
    compacted: "上下文已压缩",
    steer: "补充消息",
    continued: (part) => `续 ${part}`,
    continues: "下接后续卡片",
    rawName: "原始工具",
    cwd: "目录",
    shownOf: (shown, total) => `已显示 ${shown} / ${total} 字符`,
    moreNotShown: (count) => `另有 ${count} 个文件未显示`,
    sources: "来源",
    tokens: (input, output) => `输入 ${input} · 输出 ${output}`,
    noAnswer: "没有最终回复",
    answerBelow: "回复见后续消息",
    unknownItem: "其他记录",
  },
  en: {
    running: "Running",
    waiting: (count) => (count === 1 ? "Waiting for an answer" : `Waiting for ${count} answers`),
    done: "Done",
    failed: "Failed",
    cancelled: "Interrupted",
    history: "History",
    workedFor: (duration) => `Worked for ${duration}`,
    previousMessages: (count) => (count === 1 ? "1 previous message" : `${count} previous messages`),
    tools: (count) => `Tool calls · ${count}`,
    plan: (done, total) => `Plan · ${done}/${total}`,
    reasoning: "Thinking",
    compacted: "Context compacted",
    steer: "Added message",
    continued: (part) => `Part ${part}`,
    continues: "Continues on the next card",
    rawName: "raw tool",
    cwd: "in",
    shownOf: (shown, total) => `${shown} of ${total} characters shown`,
    moreNotShown: (count) => `${count} more ${count === 1 ? "file" : "files"} not shown`,
    sources: "Sources",
    tokens: (input, output) => `${input} in · ${output} out`,
    noAnswer: "No final answer",
    answerBelow: "the answer is in the messages below",
    unknownItem: "Other record",
  },
};

/** How a turn has ended, in a word. */
export function endWord(status: Turn["status"], { done, failed, cancelled }: CardTexts): string {
  return status === "failed" ? failed : status === "interrupted" ? cancelled : done;
}
