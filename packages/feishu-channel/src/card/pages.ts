import type { FoldVerdict } from "@foldcast/protocol-core/folding";
import { CARD_LIMITS, type CardSize, fits, measure, withRoom } from "./budget.ts";
import type { TurnCard } from "./document.ts";
import { CLOSING_LEVEL, LAST_RESORT, LEVELS } from "./levels.ts";
import { cutMarkdown } from "./markdown/split.ts";
import { type Page, renderPage, summary, type TurnCardInput } from "./render.ts";
import { isSameUnit, type Unit, unitsOf } from "./units.ts";

/** Where a card begins: at a unit, or inside of its text. Plain JSON, kept with the turn's ledger. */
export interface PageBreak {
  readonly key: string;
  /** Units of the text that earlier cards hold; 0 = the unit begins here. */
  readonly offset: number;
  /** What opens the code block again that the cut has closed. */
  readonly prefix: string;
}

export interface TurnCards {
  readonly cards: readonly TurnCard[];
  /** One for each card but the first; hand them in again, so that nothing moves from one card to another. */
  readonly breaks: readonly PageBreak[];
}

/** A closed card keeps this much room for tools on it that still run and for its folded title. */
const CLOSED_SHARE = 0.85;

/**
 * All cards of a turn, each within the limits. A card takes what fits, at the richest level that fits; what does not
 * fit even at the closing level goes on a further card. Work is bounded by what the open card holds.
 */
export function layoutTurn(input: TurnCardInput, known: readonly PageBreak[] = [], limits: CardSize = CARD_LIMITS, memo: ClosedPages = new ClosedPages()): TurnCards {
  const { units, verdict } = unitsOf(input.turn);
  const frame = frameOf(input, verdict, limits);
  const breaks = [...known];
  const cards: TurnCard[] = [];
  let rest: readonly Unit[] = units;
  for (let number = 0; ; number += 1) {
    const next = breaks[number];
    if (next !== undefined) {
      const [held, after] = divideAt(rest, next);
      cards.push(memo.card(number, frame, held, () => closedCard(input, verdict, { units: held, number, isLast: false }, limits)));
      rest = after;
      continue;
    }
    const whole = isFarTooMuch(rest, limits) ? null : renderFitting(input, verdict, { units: rest, number, isLast: true }, limits);
    if (whole !== null) {
      cards.push(whole);
      return { cards, breaks };
    }
    const made = longestPrefix(input, verdict, rest, number, withRoom(limits, CLOSED_SHARE));
    breaks.push(made);
    const [held, after] = divideAt(rest, made);
    cards.push(memo.card(number, frame, held, () => closedCard(input, verdict, { units: held, number, isLast: false }, limits)));
    rest = after;
  }
}

/** What a closed page shows beside its own units. */
function frameOf(input: TurnCardInput, verdict: FoldVerdict, { bytes, elements }: CardSize): string {
  const { turn, title, subtitle, locale, cwd, maskMail, tables, mark } = input;
  return JSON.stringify([turn.status, title, subtitle, locale, cwd, maskMail, tables, mark, verdict.folds, verdict.divider, summary(input, verdict), bytes, elements]);
}

/**
 * The closed pages of one turn as they were drawn last. A turn is drawn at each of its news, and of a long one all pages
 * but the last hardly ever change: each is drawn again only when something on it did, and else is the same object.
 */
export class ClosedPages {
  readonly #kept: { readonly frame: string; readonly units: readonly Unit[]; readonly card: TurnCard }[] = [];

  card(number: number, frame: string, units: readonly Unit[], draw: () => TurnCard): TurnCard {
    const kept = this.#kept[number];
    if (kept !== undefined && kept.frame === frame && kept.units.length === units.length && kept.units.every((unit, index) => isSameUnit(unit, units[index]!))) return kept.card;
    const card = draw();
    this.#kept[number] = { frame, units, card };
    return card;
  }
}

function renderFitting(input: TurnCardInput, verdict: FoldVerdict, page: Page, limits: CardSize): TurnCard | null {
  for (const level of LEVELS) {
    const card = renderPage(input, verdict, page, level);
    if (fits(measure(card), limits)) return card;
  }
  return null;
}

function closedCard(input: TurnCardInput, verdict: FoldVerdict, page: Page, limits: CardSize): TurnCard {
  return renderFitting(input, verdict, page, limits) ?? renderPage(input, verdict, page, LAST_RESORT);
}

/** Texts are shown in full at each level, and take about as much room as they are long: of far longer ones nothing need be drawn to know. */
function isFarTooMuch(units: readonly Unit[], { bytes }: CardSize): boolean {
  let length = 0;
  for (const unit of units) if (unit.kind === "text") length += unit.text.length;
  return length > 2 * bytes;
}

/** The break after as many units as fit on a closed card, the last of them cut when it is a text. */
function longestPrefix(input: TurnCardInput, verdict: FoldVerdict, units: readonly Unit[], number: number, limits: CardSize): PageBreak {
  const isHeld = (held: readonly Unit[]): boolean =>
    !isFarTooMuch(held, limits) && fits(measure(renderPage(input, verdict, { units: held, number, isLast: false }, LEVELS[CLOSING_LEVEL]!)), limits);
  let low = 0;
  let high = units.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isHeld(units.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const before = units.slice(0, low);
  const next = units[low];
  if (next === undefined) {
    // All of it fits a closed card and yet not the last one, with its plan and status: the last unit moves on.
    return { key: units.length > 1 ? units[low - 1]!.key : END, offset: 0, prefix: "" };
  }
  if (next.kind !== "text") return low === 0 ? afterUnit(units, 0) : { key: next.key, offset: 0, prefix: "" };
  for (let bytes = limits.bytes; bytes > MIN_PIECE; bytes = Math.floor(bytes * 0.8)) {
    const { head, rest } = cutMarkdown(next.text, bytes);
    if (rest === "" || !isHeld([...before, { ...next, text: head }])) continue;
    const prefixLength = commonTail(next.text, rest);
    return { key: next.key, offset: next.text.length - prefixLength, prefix: rest.slice(0, rest.length - prefixLength) };
  }
  return low === 0 ? afterUnit(units, 0) : { key: next.key, offset: 0, prefix: "" };
}

/** Below this a card would hold a scrap only. */
const MIN_PIECE = 600;

/** A unit that fits no card at all is shown in the last resort's way, alone. */
function afterUnit(units: readonly Unit[], index: number): PageBreak {
  const next = units[index + 1];
  return next === undefined ? { key: END, offset: 0, prefix: "" } : { key: next.key, offset: 0, prefix: "" };
}
const END = "end";

function commonTail(whole: string, rest: string): number {
  let length = 0;
  const most = Math.min(whole.length, rest.length);
  while (length < most && whole.charCodeAt(whole.length - 1 - length) === rest.charCodeAt(rest.length - 1 - length)) length += 1;
  return length;
}

function divideAt(units: readonly Unit[], { key, offset, prefix }: PageBreak): readonly [readonly Unit[], readonly Unit[]] {
  const at = units.findIndex((unit) => unit.key === key);
  if (at === -1) return [units, []];
  const unit = units[at]!;
  if (offset === 0 || unit.kind !== "text") return [units.slice(0, at), units.slice(at)];
  const tail = { ...unit, text: prefix + unit.text.slice(offset) };
  const fence = prefix === "" ? "" : `\n${/^[ \t]*(`+|~+)/.exec(prefix)?.[1] ?? "```"}`;
  return [[...units.slice(0, at), { ...unit, text: unit.text.slice(0, offset).trimEnd() + fence }], [tail, ...units.slice(at + 1)]];
}
