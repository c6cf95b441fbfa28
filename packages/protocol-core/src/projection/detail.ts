import { detailOf, itemDetail } from "../tools/index.ts";
import type { Entry } from "./entries.ts";
import type { ItemDetail } from "./outputs.ts";

/**
 * The audit part of an item's output: the call's detail, where the item stands in the harness's store, and whether its
 * output was cut. Undefined for items that have nothing of it.
 */
export function auditOf(entry: Entry): ItemDetail | undefined {
  const { source, reading, resultReading, outcome } = entry;
  if (reading === null && source.ref === undefined && !entry.truncated) return undefined;
  const call = source.kind === "tool" && reading !== null
    ? itemDetail(detailOf({ callId: source.id, rawName: source.name, rawInput: source.input }, reading, outcome, resultReading))
    : {};
  return {
    ...call,
    ...(entry.waitsFor === null ? {} : { parentId: entry.waitsFor }),
    ...(source.ref === undefined ? {} : { ref: source.ref }),
    ...(entry.truncated ? { truncated: true } : {}),
  };
}
