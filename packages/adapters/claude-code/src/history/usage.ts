import type { UsageReport } from "@foldcast/protocol-core/harness";
import { filledString, objectOf } from "@foldcast/adapter-kit";
import { messageOf, type SessionRecord } from "./record.ts";

/**
 * Token counts of the API's answers. Every line of a message repeats them, in older versions with what was known by
 * then; so they are given once, with the message's last line.
 */
export class UsageReports {
  readonly #lastLine = new Map<string, SessionRecord>();

  constructor(records: readonly SessionRecord[]) {
    for (const record of records) {
      const id = filledString(messageOf(record)["id"]);
      if (record["type"] === "assistant" && id !== null) this.#lastLine.set(id, record);
    }
  }

  /** The counts to give with this line; null for most. */
  at(record: SessionRecord): UsageReport | null {
    const message = messageOf(record);
    const id = filledString(message["id"]);
    if ((id !== null && this.#lastLine.get(id) !== record) || message["model"] === "<synthetic>") return null;
    return usageReport(objectOf(message["usage"]));
  }
}

/** Counts in the API's own form; null where there are none. */
export function usageReport(usage: Readonly<Record<string, unknown>>): UsageReport | null {
  if (usage["output_tokens"] === undefined && usage["input_tokens"] === undefined) return null;
  const cachedInput = count(usage["cache_read_input_tokens"]);
  const cacheWrite = count(usage["cache_creation_input_tokens"]);
  // The API counts what it read from its cache and wrote to it apart from `input_tokens`.
  return { last: { input: count(usage["input_tokens"]) + cachedInput + cacheWrite, cachedInput, cacheWrite, output: count(usage["output_tokens"]) } };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
