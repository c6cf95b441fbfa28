import type { TokenCounts, UsageReport } from "@foldcast/protocol-core/harness";
import type { ThreadTokenUsage, TokenUsageBreakdown } from "@foldcast/protocol-core/wire";

const NONE: TokenUsageBreakdown = {
  totalTokens: 0, inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0,
};

function breakdown(counts: TokenCounts): TokenUsageBreakdown {
  return {
    totalTokens: counts.input + counts.output,
    inputTokens: counts.input,
    cachedInputTokens: counts.cachedInput ?? 0,
    cacheWriteInputTokens: counts.cacheWrite ?? 0,
    outputTokens: counts.output,
    reasoningOutputTokens: counts.reasoning ?? 0,
  };
}

function sum(a: TokenUsageBreakdown, b: TokenUsageBreakdown): TokenUsageBreakdown {
  return {
    totalTokens: a.totalTokens + b.totalTokens,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    cacheWriteInputTokens: a.cacheWriteInputTokens + b.cacheWriteInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningOutputTokens: a.reasoningOutputTokens + b.reasoningOutputTokens,
  };
}

/** Token totals of a thread: the harness's own total where it reports one, else the sum of its responses. */
export class UsageTotals {
  #latest: ThreadTokenUsage | null = null;

  /** Null before the first report. */
  get latest(): ThreadTokenUsage | null {
    return this.#latest;
  }

  add(report: UsageReport): ThreadTokenUsage {
    const last = breakdown(report.last);
    const total = report.total === undefined ? sum(this.#latest?.total ?? NONE, last) : breakdown(report.total);
    this.#latest = { total, last, modelContextWindow: report.contextWindow ?? this.#latest?.modelContextWindow ?? null };
    return this.#latest;
  }
}
