import type { FileEdit, ItemOutcome } from "../harness/items.ts";
import type { ToolContentItem } from "../wire/index.ts";
import type { CallReading } from "./reading.ts";
import type { ToolResultView, WebSource } from "./result-view.ts";

/** How a call ended, as the harness reports it; null = not known. */
export interface CallResult {
  output: string | null;
  structured: unknown;
  content: readonly ToolContentItem[] | null;
  outcome: ItemOutcome | null;
  edits: readonly FileEdit[] | null;
  exitCode: number | null;
  durationMs: number | null;
}

/** Countable facts of a result; null = not known. Never a repetition of what the call itself says. */
export interface ToolEvidence {
  /** Lines of a file that was read. */
  lines: number | null;
  /** Hits of a search. */
  hits: number | null;
  /** Files found or changed. */
  files: number | null;
  sources: number | null;
  exitCode: number | null;
  durationMs: number | null;
  truncated: boolean;
}

/** What the result adds to the reading of its call. */
export interface ResultReading {
  /** Better evidence of the change than the call's own; null where there is none. */
  edits: readonly FileEdit[] | null;
  /** Sources of a web search, for `webSearch.results`. */
  sources: readonly WebSource[] | null;
  /** The output without the transport's envelope. */
  output: string | null;
  exitCode: number | null;
  durationMs: number | null;
  /** Id of the command or task that goes on in the background; a later wait names it. */
  backgroundId: string | null;
  /** Why the call failed, one line; null when it did not or does not say. */
  reason: string | null;
  evidence: ToolEvidence;
  view: ToolResultView;
}

/** What the result of a call tells. Pure; never throws. */
export function interpretResult(reading: CallReading, result: CallResult): ResultReading {
  void reading;
  const { output, exitCode, durationMs } = result;
  return {
    edits: result.edits,
    sources: null,
    output,
    exitCode,
    durationMs,
    backgroundId: null,
    reason: null,
    evidence: { lines: null, hits: null, files: null, sources: null, exitCode, durationMs, truncated: false },
    view: { card: "generic" },
  };
}
