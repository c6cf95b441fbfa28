import type { Entry } from "./entries.ts";
import type { ItemDetail } from "./outputs.ts";

/** The audit part of a tool call's output; nothing for items that are no tool call and have no native reference. */
export function detailOf(entry: Entry): { detail?: ItemDetail } {
  const { source, reading } = entry;
  if (reading === null && source.ref === undefined && !entry.truncated) return {};
  const call = source.kind === "tool" && reading !== null
    ? { rawName: source.name, rawInput: source.input, kind: reading.kind, canonicalName: reading.canonicalName, canonicalArguments: reading.canonicalArguments }
    : {};
  const result = entry.resultReading === null ? {} : { evidence: entry.resultReading.evidence, view: entry.resultReading.view };
  return { detail: { ...call, ...result, ...(source.ref === undefined ? {} : { ref: source.ref }), ...(entry.truncated ? { truncated: true } : {}) } };
}
