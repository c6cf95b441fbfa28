import type { FoldVerdict } from "@foldcast/protocol-core/folding";
import { type Locale, previewText } from "@foldcast/protocol-core/tools";
import type { TurnView } from "@foldcast/protocol-core/view";
import type { ThreadTokenUsage } from "@foldcast/protocol-core/wire";
import { type HeaderTemplate, markdown, panel, type TurnCard, type TurnElement } from "./document.ts";
import { duration } from "./duration.ts";
import { historyElements } from "./history.ts";
import type { Level } from "./levels.ts";
import { plainInline } from "./markdown/inline.ts";
import { ledBy, type MarkdownAllowance, safeMarkdown } from "./markdown/safe.ts";
import { planBlock } from "./plan-block.ts";
import { CARD_TEXTS, endWord } from "./texts.ts";
import { toolTitle } from "./tool-panel.ts";
import { isOutside, type Unit } from "./units.ts";

/** Everything that a turn's cards are made from. No clock: `elapsedMs` is how long the turn has run, null unknown. */
export interface TurnCardInput {
  readonly turn: TurnView;
  readonly locale: Locale;
  readonly cwd: string;
  /** The thread's name or the beginning of the prompt. */
  readonly title: string;
  /** Harness and model, as the reader should see them. */
  readonly subtitle: string | null;
  readonly usage: ThreadTokenUsage | null;
  readonly elapsedMs: number | null;
  /** Requests that wait for somebody's answer. */
  readonly openRequests: number;
  /** Feishu refused a mail address. */
  readonly maskMail: boolean;
  /** Tables that one card may draw; 0 after a refusal. */
  readonly tables: number;
  /** Tells this turn's messages from others, in small print. */
  readonly mark: string;
}

/** A part of the turn's units: one card. */
export interface Page {
  readonly units: readonly Unit[];
  /** Counted from 0. */
  readonly number: number;
  readonly isLast: boolean;
}

/** One card of a turn. Pure: the same input gives the same card. */
export function renderPage(input: TurnCardInput, verdict: FoldVerdict, page: Page, level: Level): TurnCard {
  const { locale, turn } = input;
  const texts = CARD_TEXTS[locale];
  const allowance: MarkdownAllowance = { tables: input.tables, maskMail: input.maskMail };
  const outside = page.units.filter((unit) => isOutside(unit));
  // The answer is what is read: it takes its tables first.
  const answers = new Map(outside.map((unit) => [unit.key, unit.kind === "text" ? safeMarkdown(unit.text, allowance) : ""]));
  const elements: TurnElement[] = [];
  const sections = sectionsOf(page.units);
  const count = page.units.filter((unit) => unit.kind === "tool").length;
  let toolsBefore = 0;
  for (const [index, section] of sections.entries()) {
    if (section.kind === "outside") {
      const shown = answers.get(section.unit.key) ?? "";
      const content = section.unit.kind === "text" && section.unit.role === "steer" ? ledBy(`**${texts.steer}**`, shown) : shown;
      elements.push(markdown(section.unit.key, content));
      continue;
    }
    const first = section.units[0]!.key;
    const inside = historyElements(section.units, { input, level, allowance, toolsBefore, tools: count });
    toolsBefore += section.units.filter((unit) => unit.kind === "tool").length;
    elements.push(panel(`h${first}`, historyTitle(input, verdict, page, index === 0), !verdict.folds, inside));
  }
  if (page.isLast) {
    if (turn.plan.length > 0 && !verdict.folds) elements.push(planBlock(turn.plan, locale, level.scale < 1));
    if (turn.error !== null && turn.status === "failed") elements.push(markdown("error", `**${texts.failed}** ${plainInline(previewText(turn.error.message, { chars: 1_000, lines: 8 }).text)}`));
  }
  elements.push(markdown("status", statusLine(input, page), "notation"));
  return {
    schema: "2.0",
    config: {
      update_multi: true,
      streaming_mode: page.isLast && turn.status === "inProgress",
      summary: { content: summary(input, verdict) },
      enable_forward_interaction: false,
    },
    header: header(input, page),
    body: { elements },
  };
}

type Section = { readonly kind: "history"; readonly units: readonly Unit[] } | { readonly kind: "outside"; readonly unit: Unit };

/** Neighbours that fold together, and what stands between them. */
function sectionsOf(units: readonly Unit[]): Section[] {
  const sections: Section[] = [];
  let open: Unit[] | null = null;
  for (const unit of units) {
    if (isOutside(unit)) {
      sections.push({ kind: "outside", unit });
      open = null;
    } else if (open === null) sections.push({ kind: "history", units: (open = [unit]) });
    else open.push(unit);
  }
  return sections;
}

function historyTitle({ locale }: TurnCardInput, verdict: FoldVerdict, page: Page, isFirst: boolean): string {
  const texts = CARD_TEXTS[locale];
  const part = page.number > 0 ? ` · ${texts.continued(page.number + 1)}` : "";
  const { divider } = verdict;
  if (!isFirst || divider === null) return `${texts.history}${part}`;
  return `${texts.history}${part} · ${divider.kind === "workedFor" ? texts.workedFor(duration(divider.value)) : texts.previousMessages(divider.value)}`;
}

function statusLine(input: TurnCardInput, page: Page): string {
  const { turn, locale, usage, elapsedMs, openRequests } = input;
  const texts = CARD_TEXTS[locale];
  const mark = `#${input.mark}.${page.number + 1}`;
  if (!page.isLast) return `${texts.continues} · ${mark}`;
  const parts: string[] = [];
  if (turn.status === "inProgress") {
    parts.push(openRequests > 0 ? texts.waiting(openRequests) : texts.running);
    const tool = page.units.findLast((unit) => unit.kind === "tool" && unit.detail.state === "running");
    if (tool?.kind === "tool") parts.push(plainInline(toolTitle(tool, { locale, cwd: input.cwd, scale: 1 })));
    if (elapsedMs !== null) parts.push(duration(elapsedMs));
  } else {
    parts.push(endWord(turn.status, texts));
    if (turn.durationMs !== null) parts.push(duration(turn.durationMs));
  }
  if (usage !== null) parts.push(texts.tokens(thousands(usage.last.inputTokens), thousands(usage.last.outputTokens)));
  return [...parts, mark].join(" · ");
}

function thousands(count: number): string {
  return count < 1_000 ? String(count) : count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

const TEMPLATES = { inProgress: "blue", completed: "green", interrupted: "grey", failed: "red" } as const;

function header({ turn, title, subtitle, locale }: TurnCardInput, page: Page): NonNullable<TurnCard["header"]> {
  // Of the turn's status alone: a header changes only with the whole card, and that closes what the reader has opened.
  const template: HeaderTemplate = TEMPLATES[turn.status];
  const part = page.number > 0 ? ` · ${CARD_TEXTS[locale].continued(page.number + 1)}` : "";
  const line = previewText(title.replaceAll(/\s+/g, " ").trim(), { chars: 100, lines: 1 });
  return {
    title: { tag: "plain_text", content: `${line.text}${line.limit === null ? "" : "…"}${part}` },
    ...(subtitle === null ? {} : { subtitle: { tag: "plain_text", content: subtitle } }),
    template,
  };
}

/** The line of the chat list. */
export function summary({ turn, locale, openRequests }: TurnCardInput, verdict: FoldVerdict): string {
  const texts = CARD_TEXTS[locale];
  if (turn.status === "inProgress") return openRequests > 0 ? texts.waiting(openRequests) : texts.running;
  const answer = verdict.finalAnswerId === null ? undefined : turn.items.get(verdict.finalAnswerId)?.item;
  if (answer?.type === "agentMessage") {
    const line = answer.text.split("\n").map((text) => text.replaceAll(/^[#>\s*-]+|[*`]/g, "").trim()).find((text) => text !== "");
    if (line !== undefined) return previewText(line, { chars: 120, lines: 1 }).text;
  }
  return turn.status === "failed" ? `${texts.failed}: ${previewText(turn.error?.message ?? "", { chars: 100, lines: 1 }).text.trim()}` : turn.status === "interrupted" ? texts.cancelled : texts.noAnswer;
}

