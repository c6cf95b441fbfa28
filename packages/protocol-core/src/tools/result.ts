import type { FileEdit, ItemOutcome } from "../harness/items.ts";
import type { ToolContentItem } from "../wire/index.ts";
import { isJsonObject } from "../wire/json.ts";
import type { CallReading } from "./reading.ts";
import { firstLine } from "./readings/others.ts";
import { resultView, type ToolResultView, type WebSource } from "./result-view.ts";
import { structuredEdits } from "./results/edits.ts";
import { measureLook, NO_EVIDENCE, type ToolEvidence } from "./results/evidence.ts";

export type { ToolEvidence } from "./results/evidence.ts";

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

/** A result that says nothing. */
export const NO_RESULT: CallResult = {
  output: null, structured: null, content: null, outcome: null, edits: null, exitCode: null, durationMs: null,
};

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
  const { output } = result;
  const exitCode = result.exitCode;
  const durationMs = result.durationMs;
  const failed = result.outcome !== null && result.outcome.status !== "succeeded";
  const found = failed ? {} : measureLook(reading, result.structured, output);
  const view = resultView(reading, { failed, structured: result.structured, content: contentOf(result, output), exitCode, durationMs });
  const sources = view.card === "web" && view.kind === "search" ? view.sources : null;
  const edits = result.edits ?? (reading.as.item === "edits" && !failed ? structuredEdits(result.structured, reading.as.edits, "/") : null);
  return {
    edits,
    sources,
    output,
    exitCode,
    durationMs,
    backgroundId: backgroundId(result.structured),
    reason: failed ? failureReason(result, output) : null,
    evidence: {
      ...NO_EVIDENCE,
      ...found,
      sources: sources?.length ?? null,
      exitCode,
      durationMs,
      truncated: found.truncated === true || (view.card === "web" && view.truncated),
    },
    view,
  };
}

function contentOf(result: CallResult, output: string | null): readonly ToolContentItem[] | null {
  if (result.content !== null) return result.content;
  return output === null || output === "" ? null : [{ type: "inputText", text: output }];
}

const BACKGROUND_FIELDS = ["backgroundTaskId", "background_task_id", "task_id", "session_id", "shellId"] as const;

function backgroundId(structured: unknown): string | null {
  if (!isJsonObject(structured)) return null;
  for (const field of BACKGROUND_FIELDS) {
    const value = structured[field];
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return null;
}

/** The harness's message, else the first line of the output, without markup and the word "Error". */
function failureReason(result: CallResult, output: string | null): string | null {
  const told = result.outcome?.status === "failed" ? (result.outcome.message ?? null) : null;
  const line = firstLine((told ?? output ?? "").replaceAll(/<\/?[a-z_]+>/g, ""));
  if (line === null) return null;
  const bare = line.replace(/^(?:error|fatal)\s*:\s*/i, "");
  return bare === "" ? null : bare;
}
