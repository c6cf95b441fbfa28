import { previewText } from "@foldcast/protocol-core/tools";
import { markdown, panel, type TurnElement } from "./document.ts";
import type { Level } from "./levels.ts";
import { codeBlock } from "./markdown/code.ts";
import { plainInline } from "./markdown/inline.ts";
import { followedBy, ledBy, type MarkdownAllowance, safeMarkdown } from "./markdown/safe.ts";
import type { TurnCardInput } from "./render.ts";
import { CARD_TEXTS } from "./texts.ts";
import { toolPanel, toolTitle, type ToolUnit } from "./tool-panel.ts";
import type { Unit } from "./units.ts";

export interface HistoryStyle {
  readonly input: TurnCardInput;
  readonly level: Level;
  readonly allowance: MarkdownAllowance;
  /** Tools of the page before these units, and on the whole page. */
  readonly toolsBefore: number;
  readonly tools: number;
}

/** What was done before the answer: texts as they came, tools in groups. */
export function historyElements(units: readonly Unit[], style: HistoryStyle): TurnElement[] {
  const elements: TurnElement[] = [];
  let group: Unit[] = [];
  let toolsBefore = style.toolsBefore;
  const flush = (): void => {
    if (group.length === 0) return;
    elements.push(toolGroup(group, { ...style, toolsBefore }));
    toolsBefore += group.filter((unit) => unit.kind === "tool").length;
    group = [];
  };
  for (const unit of units) {
    // Thoughts between tools do not break a group: they belong to the work there.
    if (unit.kind === "tool" || (unit.kind === "reasoning" && group.length > 0)) group.push(unit);
    else {
      flush();
      elements.push(...loose(unit, style));
    }
  }
  flush();
  return elements;
}

function toolGroup(units: readonly Unit[], style: HistoryStyle): TurnElement {
  const { input, level, tools } = style;
  const toolStyle = { locale: input.locale, cwd: input.cwd, scale: level.scale };
  const inside: TurnElement[] = [];
  let lines: ToolUnit[] = [];
  let index = style.toolsBefore;
  const flush = (): void => {
    if (lines.length === 0) return;
    const content = level.countOnly ? counted(lines, style) : lines.map((unit) => plainInline(toolTitle(unit, toolStyle))).join("\n\n");
    inside.push(markdown(`${lines[0]!.key}l`, content));
    lines = [];
  };
  for (const unit of units) {
    if (unit.kind === "tool") {
      index += 1;
      if (index > tools - level.panels) {
        flush();
        inside.push(toolPanel(unit, toolStyle));
      } else lines.push(unit);
    } else {
      const shown = loose(unit, style);
      if (shown.length > 0) flush();
      inside.push(...shown);
    }
  }
  flush();
  const count = units.filter((unit) => unit.kind === "tool").length;
  return panel(`g${units[0]!.key}`, CARD_TEXTS[input.locale].tools(count), false, inside);
}

/** Icons and how often: what is left of titles when there is no room for them. */
function counted(units: readonly ToolUnit[], { input }: HistoryStyle): string {
  const counts = new Map<string, number>();
  for (const unit of units) {
    const icon = toolTitle(unit, { locale: input.locale, cwd: input.cwd, scale: 1 }).split(" ", 1)[0] ?? "";
    counts.set(icon, (counts.get(icon) ?? 0) + 1);
  }
  return [...counts].map(([icon, count]) => `${icon} × ${count}`).join(" · ");
}

function loose(unit: Unit, { input, level, allowance }: HistoryStyle): TurnElement[] {
  const texts = CARD_TEXTS[input.locale];
  switch (unit.kind) {
    case "text":
      return [markdown(unit.key, safeMarkdown(unit.text, allowance))];
    case "reasoning": {
      const { text, limit } = previewText(unit.text, { chars: level.reasoningChars, lines: 80 });
      if (text.trim() === "") return [];
      const shown = ledBy("💭", safeMarkdown(text, allowance));
      return [markdown(unit.key, limit === null ? shown : followedBy(shown, "…"), "notation")];
    }
    case "compaction":
      return [markdown(unit.key, texts.compacted, "notation")];
    case "other": {
      const { text } = previewText(safeJson(unit.item), { chars: 1_000 * level.scale, lines: 20 });
      return [markdown(unit.key, `**${texts.unknownItem} ${plainInline(unit.type)}**\n\n${codeBlock(text, "json")}`)];
    }
    case "tool":
      return [];
  }
}

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return String(value);
  }
}
