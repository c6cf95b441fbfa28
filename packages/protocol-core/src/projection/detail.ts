import type { Entry } from "./entries.ts";
import type { ItemDetail } from "./outputs.ts";

/** The audit part of an item's output; undefined for items that are no tool call and have no native reference. */
export function detailOf(entry: Entry): ItemDetail | undefined {
  const { source, reading, resultReading } = entry;
  if (reading === null && source.ref === undefined && !entry.truncated) return undefined;
  const detail: Record<string, unknown> = {};
  if (source.kind === "tool" && reading !== null) {
    detail["rawName"] = source.name;
    detail["rawInput"] = source.input;
    detail["kind"] = reading.kind;
    detail["canonicalName"] = reading.canonicalName;
    detail["canonicalArguments"] = reading.canonicalArguments;
  }
  if (resultReading !== null) {
    detail["evidence"] = resultReading.evidence;
    detail["view"] = resultReading.view;
  }
  if (source.ref !== undefined) detail["ref"] = source.ref;
  if (entry.truncated) detail["truncated"] = true;
  return detail;
}
