import type { TokenCounts, UsageReport } from "@foldcast/protocol-core/harness";
import { finiteNumber, objectOf } from "@foldcast/adapter-kit";
import { type SessionRecord } from "./record.ts";

/** Of a `token_count` event; null where it tells rate limits alone. */
export function usageOfEvent(payload: SessionRecord): UsageReport | null {
  const info = objectOf(payload["info"]);
  if (payload["info"] === null || info["last_token_usage"] === undefined) return null;
  return { last: counts(info["last_token_usage"]), total: counts(info["total_token_usage"]), contextWindow: finiteNumber(info["model_context_window"]) };
}

/** Of a `token_usage_record` line (0.171), which says nothing of the context's size. */
export function usageOfRecord(payload: SessionRecord): UsageReport | null {
  if (payload["usage"] === undefined) return null;
  const total = payload["thread_token_usage"];
  return { last: counts(payload["usage"]), ...(total === undefined ? {} : { total: counts(total) }) };
}

function counts(value: unknown): TokenCounts {
  const usage = objectOf(value);
  const cacheWrite = count(usage["cache_write_input_tokens"]);
  return {
    input: count(usage["input_tokens"]),
    cachedInput: count(usage["cached_input_tokens"]),
    ...(cacheWrite === 0 ? {} : { cacheWrite }),
    output: count(usage["output_tokens"]),
    reasoning: count(usage["reasoning_output_tokens"]),
  };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
