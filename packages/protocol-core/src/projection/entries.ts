import { durationOrNull } from "../harness/index.ts";
import type { ChildAgent, FileEdit, HarnessItem, ItemOutcome, ItemResult } from "../harness/index.ts";
import type { JsonValue, ThreadItem, ToolContentItem } from "../wire/index.ts";
import type { CallReading, ResultReading } from "../tools/index.ts";
import type { CappedText } from "./capped-text.ts";
import type { Shape } from "./shapes.ts";

/** Part of an item id; n counts the given-out items of its kind. */
export type IdKind = "user" | "message" | "reasoning" | "command" | "edit" | "files" | "mcp" | "tool" | "search" | "image" | "plan" | "agent" | "compaction";

/** What the projector remembers of one harness item. `item` is what clients have; null while nothing was shown. */
export interface Entry {
  readonly source: HarnessItem;
  /** How a `tool` item is read; null for the typed kinds. */
  reading: CallReading | null;
  resultReading: ResultReading | null;
  /** The wire form; fixed as soon as the item is shown, since clients cannot change an item's type. */
  shape: Shape | null;
  item: ThreadItem | null;
  open: boolean;
  outcome: ItemOutcome | null;
  startedAt: number | null;
  /** Message and reasoning text so far. */
  text: string;
  output: CappedText | null;
  edits: readonly FileEdit[];
  children: readonly ChildAgent[];
  /** An approval was asked for this edit: it stays an item of its own. */
  ownItem: boolean;
  /** This edit's change is in the turn's summary. */
  merged: boolean;
  /** The start was sent to clients that merge edits. */
  shownToMerging: boolean;
  result: ItemResult | null;
  /** Id of the item whose background work this call waits for, where it is one of this turn. */
  waitsFor: string | null;
  truncated: boolean;
}

/** A record of a kind that nobody knows. */
export function isUnknown(source: HarnessItem): boolean {
  return source.kind === "tool" && source.unknown === true;
}

/** Tool output as the content of a generic tool item; null when the call gave none. */
export function contentItems(result: ItemResult | null, output: string | null): ToolContentItem[] | null {
  if (result?.content !== undefined) return [...result.content];
  return output === null || output === "" ? null : [{ type: "inputText", text: output }];
}

/** Milliseconds by the harness, else between the two times, never negative; null when not known. */
export function durationOf(result: ItemResult | null, startedAt: number | null, completedAt: number | null): number | null {
  const told = durationOrNull(result?.durationMs);
  if (told !== null) return told;
  return startedAt === null || completedAt === null ? null : Math.max(0, completedAt - startedAt);
}

/** A harness's free value as JSON. It was read from JSON, so only an absent one needs a form. */
export function asJson(value: unknown): JsonValue {
  return (value ?? null) as JsonValue;
}

/** An item that is still open, with what it has so far: for a client that joins in mid-turn. */
export function currentItem(entry: Entry): ThreadItem | null {
  const { item } = entry;
  if (item === null || !entry.open) return item;
  if (item.type === "agentMessage") return { ...item, text: entry.text };
  if (item.type === "reasoning") return { ...item, summary: [entry.text] };
  return item;
}
