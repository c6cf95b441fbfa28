import { isDeepStrictEqual } from "node:util";
import type { CardBatchAction } from "../platform/port.ts";
import type { MarkdownElement, PanelElement, TurnCard, TurnElement } from "./document.ts";

/** One request that brings a card nearer to what it should be. */
export type CardChange =
  | { readonly kind: "content"; readonly elementId: string; readonly content: string }
  | { readonly kind: "batch"; readonly actions: readonly CardBatchAction[] }
  | { readonly kind: "full"; readonly card: TurnCard };

type MutableMarkdown = { -readonly [Key in keyof MarkdownElement]: MarkdownElement[Key] };

/** More than this in one request is as large as the card itself. */
const MAX_ACTIONS = 40;

/**
 * The next request that leads from what the card is to what it should be; null when nothing differs. Structure goes in
 * one batch, text that grows while the card streams in `content`. A full update is the last choice: it would undo what
 * the reader has opened.
 */
export function nextChange(shadow: TurnCard, desired: TurnCard): CardChange | null {
  // A card that is closed is kept as it is from one drawing to the next.
  if (shadow === desired) return null;
  const live = grownText(shadow, desired);
  const actions: CardBatchAction[] = [];
  if (!isDeepStrictEqual(shadow.config, desired.config)) {
    const { streaming_mode, summary } = desired.config;
    actions.push({ action: "partial_update_setting", params: { settings: { config: { streaming_mode, summary } } } });
  }
  // The header is no element: it changes with the whole card only.
  const isPossible = isDeepStrictEqual(shadow.header, desired.header) && diffChildren(null, shadow.body.elements, desired.body.elements, live, actions);
  if (!isPossible || actions.length > MAX_ACTIONS) return { kind: "full", card: desired };
  if (actions.length > 0) return { kind: "batch", actions };
  return live === null ? null : { kind: "content", ...live };
}

/** What the card is after the change was accepted. */
export function afterChange(shadow: TurnCard, desired: TurnCard, change: CardChange): TurnCard {
  if (change.kind === "full") return change.card;
  const live = grownText(shadow, desired);
  if (change.kind === "content" || live === null) return desired;
  // The batch left the growing text as it was.
  return { ...desired, body: { elements: desired.body.elements.map((element) => (element.element_id === live.elementId ? (shadow.body.elements.find((old) => old.element_id === live.elementId) ?? element) : element)) } };
}

/** The text at the card's root that was continued, while the card streams and goes on streaming. */
function grownText(shadow: TurnCard, desired: TurnCard): { readonly elementId: string; readonly content: string } | null {
  if (!shadow.config.streaming_mode || !desired.config.streaming_mode) return null;
  for (const element of desired.body.elements) {
    if (element.tag !== "markdown" || element.element_id === undefined || element.content === "") continue;
    const old = shadow.body.elements.find((candidate) => candidate.element_id === element.element_id);
    if (old?.tag === "markdown" && old.text_size === element.text_size && old.content !== element.content && element.content.startsWith(old.content)) {
      return { elementId: element.element_id, content: element.content };
    }
  }
  return null;
}

/** False when the order of elements changed or one has no id: no list of actions does that. */
function diffChildren(container: string | null, old: readonly TurnElement[], wanted: readonly TurnElement[], live: { readonly elementId: string } | null, actions: CardBatchAction[]): boolean {
  const before = new Map(old.map((element) => [element.element_id, element]));
  const after = new Set(wanted.map((element) => element.element_id));
  if (before.has(undefined) || after.has(undefined) || before.size !== old.length || after.size !== wanted.length) return false;
  const kept = old.filter((element) => after.has(element.element_id) && canStay(element, wanted));
  const order = wanted.filter((element) => kept.some((candidate) => candidate.element_id === element.element_id));
  if (!kept.every((element, index) => element.element_id === order[index]?.element_id)) return false;
  const removed = old.filter((element) => !kept.includes(element)).map((element) => element.element_id!);
  if (removed.length > 0) actions.push({ action: "delete_elements", params: { element_ids: removed } });
  return addAndChange(container, new Map(kept.map((element) => [element.element_id, element])), wanted, live, actions);
}

/** An element may change everything but its tag. */
function canStay(element: TurnElement, wanted: readonly TurnElement[]): boolean {
  return wanted.find((candidate) => candidate.element_id === element.element_id)?.tag === element.tag;
}

function addAndChange(container: string | null, kept: ReadonlyMap<string | undefined, TurnElement>, wanted: readonly TurnElement[], live: { readonly elementId: string } | null, actions: CardBatchAction[]): boolean {
  let previous: string | null = null;
  let run: TurnElement[] = [];
  const flush = (next: string | null): void => {
    if (run.length === 0) return;
    if (next !== null) actions.push({ action: "add_elements", params: { type: "insert_before", target_element_id: next, elements: run } });
    else if (previous !== null) actions.push({ action: "add_elements", params: { type: "insert_after", target_element_id: previous, elements: run } });
    else actions.push({ action: "add_elements", params: { type: "append", ...(container === null ? {} : { target_element_id: container }), elements: run } });
    run = [];
  };
  for (const element of wanted) {
    const old = kept.get(element.element_id);
    if (old === undefined) {
      run.push(element);
      continue;
    }
    flush(element.element_id!);
    if (!changeElement(old, element, live, actions)) return false;
    previous = element.element_id!;
  }
  flush(null);
  return true;
}

function changeElement(old: TurnElement, wanted: TurnElement, live: { readonly elementId: string } | null, actions: CardBatchAction[]): boolean {
  if (wanted.element_id === live?.elementId || isDeepStrictEqual(old, wanted)) return true;
  if (old.tag === "collapsible_panel" && wanted.tag === "collapsible_panel") return changePanel(old, wanted, live, actions);
  // The tag cannot change, and an id in the change would rename the element.
  const partial: Partial<MutableMarkdown> = { ...(wanted as MarkdownElement) };
  delete partial.tag;
  delete partial.element_id;
  actions.push({ action: "partial_update_element", params: { element_id: wanted.element_id!, partial_element: partial } });
  return true;
}

function changePanel(old: PanelElement, wanted: PanelElement, live: { readonly elementId: string } | null, actions: CardBatchAction[]): boolean {
  const changed: Record<string, unknown> = {};
  // Only what differs: naming `expanded` would close what the reader has opened.
  if (old.expanded !== wanted.expanded) changed["expanded"] = wanted.expanded;
  if (!isDeepStrictEqual(old.header, wanted.header)) changed["header"] = wanted.header;
  if (Object.keys(changed).length > 0) actions.push({ action: "partial_update_element", params: { element_id: wanted.element_id, partial_element: changed } });
  return diffChildren(wanted.element_id, old.elements, wanted.elements, live, actions);
}
