import type { ToolContentItem } from "../wire/index.ts";

/** One citable source of a web search. */
export interface WebSource {
  url: string;
  title?: string;
  snippet?: string;
  publishedAt?: string;
}

/**
 * How a call or its result is rendered. `content` is the fallback for a client that does not know the card.
 * A pending call has the card (and `kind`) of its result.
 */
export type ToolResultView =
  | { card: "generic"; content?: readonly ToolContentItem[] }
  | { card: "terminal"; command: string; exitCode: number | null; durationMs: number | null; content?: readonly ToolContentItem[] }
  | { card: "diff"; paths: readonly string[]; content?: readonly ToolContentItem[] }
  | {
      card: "web";
      kind: "search";
      query: string;
      sources: readonly WebSource[];
      answer?: string;
      truncated: boolean;
      content?: readonly ToolContentItem[];
    }
  | { card: "web"; kind: "fetch"; url: string; statusCode: number | null; truncated: boolean; content?: readonly ToolContentItem[] };
