import type { TurnCard, TurnElement } from "./document.ts";
import { readBlocks, tablesIn } from "./markdown/blocks.ts";

/** What Feishu counts of a card. `bytes`: UTF-8 bytes of the serialised request that carries it. */
export interface CardSize {
  readonly bytes: number;
  readonly elements: number;
  readonly tables: number;
  readonly depth: number;
}

/**
 * Limits below the platform's own (30 KB, 200 elements, 5 tables, 5 levels): field reports show refusals well before
 * those, and a card that is full must still take its last status.
 */
export const CARD_LIMITS: CardSize = { bytes: 25_000, elements: 120, tables: 3, depth: 4 };

export function fits(size: CardSize, limits: CardSize): boolean {
  return size.bytes <= limits.bytes && size.elements <= limits.elements && size.tables <= limits.tables && size.depth <= limits.depth;
}

/** The same limits with some room left, for a card that is closed now but whose running tools still end. */
export function withRoom(limits: CardSize, share: number): CardSize {
  return { ...limits, bytes: Math.floor(limits.bytes * share), elements: Math.floor(limits.elements * share) };
}

export function measure(card: TurnCard): CardSize {
  const counted = { elements: 0, tables: 0, depth: 0 };
  if (card.header !== undefined) counted.elements += card.header.subtitle === undefined ? 1 : 2;
  count(card.body.elements, 1, counted);
  // The card is a JSON string inside the JSON of the request, so its quotes and line ends count twice.
  return { bytes: Buffer.byteLength(JSON.stringify({ type: "card_json", data: JSON.stringify(card) })), ...counted };
}

function count(elements: readonly TurnElement[], depth: number, into: { elements: number; tables: number; depth: number }): void {
  into.depth = Math.max(into.depth, depth);
  for (const element of elements) {
    into.elements += 1;
    if (element.tag === "markdown") into.tables += countTables(element.content);
    else {
      into.elements += 1;
      count(element.elements, depth + 1, into);
    }
  }
}

/** A table that is shown as code is none. */
function countTables(content: string): number {
  return content.includes("|") ? readBlocks(content).reduce((sum, block) => sum + tablesIn(block), 0) : 0;
}
