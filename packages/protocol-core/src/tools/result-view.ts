import type { ToolContentItem } from "../wire/index.ts";
import { INPUT_LIMITS, previewShared } from "./presentation/preview.ts";
import type { CallReading } from "./reading.ts";
import type { CallResult } from "./result.ts";
import { readFetchResult, readSearchResult } from "./results/web.ts";

/** One citable source of a web search. */
export interface WebSource {
  url: string;
  title?: string;
  snippet?: string;
  publishedAt?: string;
}

/**
 * How a call or its result is rendered. A pending call has the card (and `kind`) of its result. `content` is the
 * fallback for a client that does not know the card; it is there for calls of the web alone, cut to the preview
 * limits, because the wire's item of every other call carries the output itself.
 */
export type ToolResultView =
  | { card: "generic"; content?: readonly ToolContentItem[] }
  | { card: "terminal"; command: string; exitCode: number | null; durationMs: number | null }
  | { card: "diff"; paths: readonly string[] }
  | {
      card: "web";
      kind: "search";
      query: string;
      sources: readonly WebSource[];
      answer?: string;
      truncated: boolean;
      content?: readonly ToolContentItem[];
    }
  | { card: "web"; kind: "fetch"; url: string; statusCode: number | null; truncated: boolean };

/** The view of a call that has no result yet. */
export function pendingView(reading: CallReading): ToolResultView {
  const shape = reading.as;
  switch (shape.item) {
    case "command":
      return { card: "terminal", command: shape.command, exitCode: null, durationMs: null };
    case "edits":
      return { card: "diff", paths: (shape.edits ?? []).map((edit) => edit.path) };
    case "webSearch":
      return shape.action.type === "openPage"
        ? { card: "web", kind: "fetch", url: shape.action.url ?? shape.query, statusCode: null, truncated: false }
        : { card: "web", kind: "search", query: shape.query, sources: [], truncated: false };
    default:
      return { card: "generic" };
  }
}

/**
 * The view of a finished call. Web cards come from structured results only: an error, a missing or a malformed one
 * is `generic` with the content as it is. Never throws.
 */
export function resultView(reading: CallReading, result: CallResult, failed: boolean, exitCode: number | null): ToolResultView {
  if (reading.as.item === "command") {
    return { card: "terminal", command: reading.as.command, exitCode, durationMs: result.durationMs };
  }
  const pending = pendingView(reading);
  if (pending.card !== "web") return pending;
  const content = previewContent(result);
  if (failed) return { card: "generic", ...content };
  if (pending.kind === "search") {
    const found = readSearchResult(result.structured);
    if (found === null) return { card: "generic", ...content };
    const answer = found.answer === null ? {} : { answer: found.answer };
    return { ...pending, sources: found.sources, ...answer, truncated: found.truncated, ...content };
  }
  const fetched = readFetchResult(result.structured);
  if (fetched === null) return { card: "generic", ...content };
  return { ...pending, url: fetched.url ?? pending.url, statusCode: fetched.statusCode, truncated: fetched.truncated };
}

/** Texts within one shared budget; pictures and sound stay out. */
function previewContent({ content, output }: CallResult): { content?: readonly ToolContentItem[] } {
  const texts = content === null ? [output ?? ""] : content.flatMap((part) => (part.type === "inputText" ? [part.text] : []));
  const shown = previewShared(texts, INPUT_LIMITS).flatMap(({ text }) => (text === "" ? [] : [{ type: "inputText" as const, text }]));
  return shown.length === 0 ? {} : { content: shown };
}
