import { languageOfPath, type Locale, PATCH_LIMITS, presentTool, type Preview, type PreviewLimits, previewInput, previewShared, previewText, type ToolCallDetail } from "@foldcast/protocol-core/tools";
import type { FileUpdateChange, ThreadItem } from "@foldcast/protocol-core/wire";
import { markdown, panel, type PanelElement, type TurnElement } from "./document.ts";
import { codeBlock } from "./markdown/code.ts";
import { plainInline, safeInline } from "./markdown/inline.ts";
import { joinBlocks } from "./markdown/safe.ts";
import { CARD_TEXTS } from "./texts.ts";
import type { Unit } from "./units.ts";

export interface ToolStyle {
  readonly locale: Locale;
  readonly cwd: string;
  /** Share of the ordinary preview limits that is shown; the raw content is cut, never what was rendered. */
  readonly scale: number;
}

export type ToolUnit = Extract<Unit, { kind: "tool" }>;

const MAX_SOURCES = 20;

export function toolTitle(unit: ToolUnit, { locale, cwd }: ToolStyle): string {
  return presentTool(unit.detail, cwd).title(locale);
}

/** Kept by item, as its detail is: what did not change is the same object in the next drawing, and need not be compared. */
const PANELS = new WeakMap<ThreadItem, Map<string, PanelElement>>();

/** One tool: a closed panel whose title tells it all, the real input inside. */
export function toolPanel(unit: ToolUnit, style: ToolStyle): PanelElement {
  const kept = PANELS.get(unit.item) ?? new Map<string, PanelElement>();
  PANELS.set(unit.item, kept);
  const way = `${unit.key} ${style.scale} ${style.locale} ${style.cwd}`;
  const made = kept.get(way) ?? drawPanel(unit, style);
  kept.set(way, made);
  return made;
}

function drawPanel(unit: ToolUnit, style: ToolStyle): PanelElement {
  const { key, detail } = unit;
  const texts = CARD_TEXTS[style.locale];
  const content = joinBlocks([...inputBlocks(unit, style), ...cwdLine(unit, style), ...sourceLines(detail, style)]);
  const elements: TurnElement[] = [markdown(`${key}b`, content === "" ? plainInline(toolTitle(unit, style)) : content)];
  if (detail.rawName !== null && detail.rawName !== detail.canonicalName) {
    elements.push(markdown(`${key}n`, `${texts.rawName} ${plainInline(previewText(detail.rawName, { chars: 200, lines: 1 }).text)}`, "notation"));
  }
  return panel(key, toolTitle(unit, style), false, elements);
}

interface ShownBlock {
  readonly path: string | null;
  readonly language: string | null;
  readonly preview: Preview;
}

function inputBlocks(unit: ToolUnit, style: ToolStyle): string[] {
  const blocks = shownBlocks(unit, style.scale);
  const texts = CARD_TEXTS[style.locale];
  const shown: string[] = [];
  let hidden = 0;
  for (const { path, language, preview } of blocks) {
    if (preview.text === "" && preview.totalChars > 0) {
      hidden += 1;
      continue;
    }
    if (path !== null) shown.push(`**${plainInline(path)}**`);
    if (preview.text !== "") shown.push(codeBlock(preview.text, language));
    if (preview.limit !== null) shown.push(`<font color='grey'>${texts.shownOf(preview.shownChars, preview.totalChars)}</font>`);
  }
  if (hidden > 0) shown.push(`<font color='grey'>${texts.moreNotShown(hidden)}</font>`);
  return shown;
}

function shownBlocks({ item, detail }: ToolUnit, scale: number): readonly ShownBlock[] {
  if (item.type === "fileChange") return changeBlocks(item.changes, scaled(PATCH_LIMITS, scale));
  const { blocks, limits } = previewInput(detail);
  if (blocks.length === 0) return argumentBlocks(item, scaled(limits, scale));
  if (scale === 1) return blocks;
  const previews = previewShared(blocks.map(({ text }) => text), scaled(limits, scale));
  return blocks.map((block, index) => ({ ...block, preview: previews[index]! }));
}

function changeBlocks(changes: readonly FileUpdateChange[], limits: PreviewLimits): ShownBlock[] {
  const previews = previewShared(changes.map(({ diff }) => diff), limits);
  return changes.map(({ path, kind }, index) => {
    const moved = kind.type === "update" && kind.move_path !== null ? kind.move_path : null;
    return { path: moved === null ? path : `${path} → ${moved}`, language: languageOfPath(moved ?? path), preview: previews[index]! };
  });
}

function argumentBlocks(item: ThreadItem, limits: PreviewLimits): ShownBlock[] {
  const input = "arguments" in item ? item.arguments : null;
  if (input === null || (typeof input === "object" && Object.keys(input).length === 0)) return [];
  return [{ path: null, language: "json", preview: previewText(JSON.stringify(input, null, 2), limits) }];
}

function cwdLine({ item }: ToolUnit, { locale }: ToolStyle): string[] {
  return item.type === "commandExecution" && item.cwd !== "" ? [`${CARD_TEXTS[locale].cwd} ${plainInline(item.cwd)}`] : [];
}

function sourceLines({ view }: ToolCallDetail, { locale, scale }: ToolStyle): string[] {
  if (view.card !== "web" || view.kind !== "search" || view.sources.length === 0) return [];
  const shown = view.sources.slice(0, Math.max(1, Math.floor(MAX_SOURCES * scale)));
  const lines = shown.map(({ url, title }) => `- ${safeInline(`[${(title ?? url).replaceAll(/[[\]]/g, " ")}](${url})`)}`);
  return [`**${CARD_TEXTS[locale].sources}**\n\n${lines.join("\n")}`];
}

function scaled({ chars, lines }: PreviewLimits, scale: number): PreviewLimits {
  return { chars: Math.max(1, Math.floor(chars * scale)), lines: Math.max(1, Math.floor(lines * scale)) };
}
