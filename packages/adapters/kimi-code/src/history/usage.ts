import type { UsageReport } from "@foldcast/protocol-core/harness";
import { objectOf } from "@foldcast/adapter-kit";

/**
 * Token counts of one answer; null where nothing was counted. kimi-code writes `inputOther, output, inputCacheRead,
 * inputCacheCreation`, kimi-cli the same in snake case; `inputOther` leaves out what the cache gave and took.
 */
export function usageOf(value: unknown, contextWindow: number | null = null): UsageReport | null {
  const usage = objectOf(value);
  const cachedInput = count(usage["inputCacheRead"] ?? usage["input_cache_read"]);
  const cacheWrite = count(usage["inputCacheCreation"] ?? usage["input_cache_creation"]);
  const input = count(usage["inputOther"] ?? usage["input_other"]) + cachedInput + cacheWrite;
  const output = count(usage["output"]);
  if (input + output === 0) return null;
  return { last: { input, cachedInput, cacheWrite, output }, ...(contextWindow === null ? {} : { contextWindow }) };
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
