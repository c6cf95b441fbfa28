import type { FileEdit, ItemOutcome } from "../harness/items.ts";
import type { ToolContentItem } from "../wire/index.ts";
import { isJsonObject } from "../wire/json.ts";
import { type ExecEnvelope, readExecOutput } from "./exec-wrapper/index.ts";
import type { CallReading } from "./reading.ts";
import { firstLine } from "./readings/others.ts";
import { resultView, type ToolResultView, type WebSource } from "./result-view.ts";
import { structuredEdits } from "./results/edits.ts";
import { measureLook, type ToolEvidence } from "./results/evidence.ts";

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
  /** The same of an output in several parts. */
  content: readonly ToolContentItem[] | null;
  exitCode: number | null;
  durationMs: number | null;
  /** True when the transport says that the call failed, whatever its harness made of it. */
  failed: boolean;
  /** Id of the command or task that goes on in the background; a later wait names it. */
  backgroundId: string | null;
  /** Why the call failed, one line; null when it did not or does not say. */
  reason: string | null;
  evidence: ToolEvidence;
  view: ToolResultView;
}

/** What the result of a call tells. Pure; never throws. */
export function interpretResult(reading: CallReading, given: CallResult): ResultReading {
  const envelope = reading.enveloped === true ? readExecOutput(given.content === null ? given.output : given.content.map(asTransportItem)) : null;
  const result = envelope === null ? given : opened(given, envelope);
  const { output, outcome, durationMs } = result;
  const failed = outcome !== null && outcome.status !== "succeeded";
  const exitCode = result.exitCode ?? (failed && reading.facts.command !== null ? exitCodeInText(output) : null);
  const found: Partial<ToolEvidence> = failed || isBad(exitCode) ? {} : measureLook(reading, result.structured, output);
  const view = resultView(reading, result, failed, exitCode);
  const sources = view.card === "web" && view.kind === "search" ? view.sources : null;
  return {
    edits: result.edits ?? (reading.as.item === "edits" && !failed ? structuredEdits(result.structured, reading.as.edits) : null),
    sources,
    output,
    content: result.content,
    exitCode,
    durationMs,
    failed,
    backgroundId: envelope?.backgroundId ?? backgroundId(result.structured, output),
    reason: failed ? (firstLine(envelope?.error ?? null) ?? failureReason(result)) : null,
    evidence: {
      lines: found.lines ?? null,
      hits: found.hits ?? null,
      files: found.files ?? null,
      sources: sources?.length ?? null,
      directory: found.directory === true,
      exitCode,
      durationMs,
      truncated: found.truncated === true || (view.card === "web" && view.truncated),
    },
    view,
  };
}

function isBad(exitCode: number | null): boolean {
  return exitCode !== null && exitCode !== 0;
}

/** The result without its transport's lines. What the harness itself says about exit code and time goes first. */
function opened(given: CallResult, envelope: ExecEnvelope): CallResult {
  const isFailed = envelope.state === "failed" && given.outcome?.status === "succeeded";
  const images = (envelope.images ?? []).map((imageUrl): ToolContentItem => ({ type: "inputImage", imageUrl }));
  // What a failed script says last is part of what it gave.
  const said = [envelope.text, envelope.error ?? ""].filter((part) => part !== "").join("\n");
  const text: ToolContentItem[] = said === "" ? [] : [{ type: "inputText", text: said }];
  return {
    ...given,
    output: given.output === null && given.content === null ? null : said,
    content: given.content === null ? null : [...text, ...images],
    outcome: isFailed ? { status: "failed", ...(envelope.error === null ? {} : { message: envelope.error }) } : given.outcome,
    exitCode: given.exitCode ?? envelope.exitCode,
    durationMs: given.durationMs ?? envelope.durationMs,
  };
}

function asTransportItem(part: ToolContentItem): Readonly<Record<string, unknown>> {
  return part.type === "inputText" ? { text: part.text } : part.type === "inputImage" ? { image_url: part.imageUrl } : {};
}

const EXIT_CODE = /\b(?:exit(?:ed with)?(?: status)? code:? |exit status:? )(\d{1,3})\b/i;

/** The exit code that a harness writes at the head or the end of a failed command's output. */
function exitCodeInText(output: string | null): number | null {
  if (output === null) return null;
  const told = EXIT_CODE.exec(output.slice(0, 60)) ?? EXIT_CODE.exec(output.slice(-200));
  return told === null ? null : Number(told[1]);
}

const BACKGROUND_FIELDS = ["backgroundTaskId", "background_task_id", "task_id", "session_id", "shellId", "agentId"] as const;

const TASK_TEXT = /^task_id: (\S+)\n(?:[^\n]*\n){0,4}?status: running/;
const BACKGROUND_TEXT = /\brunning in background with ID: ([\w-]+)/;

function backgroundId(structured: unknown, output: string | null): string | null {
  if (isJsonObject(structured)) return backgroundField(structured);
  if (output === null) return null;
  if (output.startsWith("task_id: ")) return TASK_TEXT.exec(output.slice(0, 400))?.[1] ?? null;
  // These words stand at the head of the harness's own short answer.
  return output.length < 1_000 && output.includes("running in background") ? (BACKGROUND_TEXT.exec(output)?.[1] ?? null) : null;
}

function backgroundField(structured: Readonly<Record<string, unknown>>): string | null {
  for (const field of BACKGROUND_FIELDS) {
    const value = structured[field];
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return null;
}

/** The harness's message, else the first line of the output, without markup and the word "Error". */
function failureReason({ outcome, output }: CallResult): string | null {
  const told = outcome?.status === "failed" ? (outcome.message ?? null) : null;
  const line = firstLine((told ?? output ?? "").replaceAll(/<\/?[a-z_]+>/g, ""));
  if (line === null) return null;
  const bare = line.replace(/^(?:error|fatal)\s*:\s*/i, "");
  return bare === "" ? null : bare;
}
