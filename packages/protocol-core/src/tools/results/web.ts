import { isJsonObject } from "../../wire/json.ts";
import type { WebSource } from "../result-view.ts";

export interface SearchResult {
  sources: readonly WebSource[];
  answer: string | null;
  truncated: boolean;
}

export interface FetchResult {
  url: string | null;
  statusCode: number | null;
  truncated: boolean;
}

/** Sources kept at most; what comes after them makes the result count as truncated. */
const MAX_SOURCES = 200;

/**
 * The sources of a search from its structured result: `{sources: […]}`, `{results: […]}` (a list of sources, or of
 * groups with a `content` list and texts of an answer, as Claude Code writes it), or the list itself. Null when any
 * of it is malformed; an empty list is a result.
 */
export function readSearchResult(structured: unknown): SearchResult | null {
  const holder = isJsonObject(structured) ? structured : {};
  const list = Array.isArray(structured) ? (structured as unknown[]) : (holder["sources"] ?? holder["results"]);
  if (!Array.isArray(list)) return null;
  const answer = holder["answer"] ?? null;
  const truncated = holder["truncated"] ?? false;
  if ((answer !== null && typeof answer !== "string") || typeof truncated !== "boolean") return null;
  const sources: WebSource[] = [];
  const texts: string[] = [];
  for (const entry of list as unknown[]) {
    if (typeof entry === "string" && "results" in holder) {
      texts.push(entry);
      continue;
    }
    const group = isJsonObject(entry) && Array.isArray(entry["content"]) ? (entry["content"] as unknown[]) : [entry];
    for (const one of group) {
      const source = readSource(one);
      if (source === null) return null;
      sources.push(source);
    }
  }
  return {
    sources: sources.slice(0, MAX_SOURCES),
    answer: typeof answer === "string" ? answer : texts.length === 0 ? null : texts.join("\n\n"),
    truncated: truncated || sources.length > MAX_SOURCES,
  };
}

const SNIPPET = ["snippet", "description", "content", "text"] as const;
const PUBLISHED = ["publishedAt", "published_date", "publishedDate", "page_age", "date"] as const;

function readSource(value: unknown): WebSource | null {
  if (!isJsonObject(value)) return null;
  const url = value["url"] ?? value["link"];
  if (typeof url !== "string" || url === "") return null;
  const title = optionalText(value, ["title"]);
  const snippet = optionalText(value, SNIPPET);
  const publishedAt = optionalText(value, PUBLISHED);
  if (title === null || snippet === null || publishedAt === null) return null;
  return {
    url,
    ...(title === undefined ? {} : { title }),
    ...(snippet === undefined ? {} : { snippet }),
    ...(publishedAt === undefined ? {} : { publishedAt }),
  };
}

/** Undefined = absent, null = there but not a text. */
function optionalText(object: Readonly<Record<string, unknown>>, fields: readonly string[]): string | null | undefined {
  for (const field of fields) {
    const value = object[field];
    if (value === undefined || value === null) continue;
    return typeof value === "string" ? value : null;
  }
  return undefined;
}

/** Facts of a fetch from its structured result; null when it is malformed or tells none. */
export function readFetchResult(structured: unknown): FetchResult | null {
  if (!isJsonObject(structured)) return null;
  const url = structured["url"] ?? structured["finalUrl"] ?? null;
  const status = structured["statusCode"] ?? structured["status_code"] ?? structured["code"] ?? null;
  const truncated = structured["truncated"] ?? false;
  if ((url !== null && typeof url !== "string") || (url === null && status === null)) return null;
  if (status !== null && (typeof status !== "number" || !Number.isInteger(status))) return null;
  return typeof truncated === "boolean" ? { url, statusCode: status, truncated } : null;
}
