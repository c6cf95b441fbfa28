import { open } from "node:fs/promises";
import type { HistorySource } from "@foldcast/protocol-core/harness";
import type { ThreadSearchParams } from "@foldcast/protocol-core/wire/params";
import type { ThreadRecord } from "../store/store.ts";
import { backwardsCursor, cursorAt, listThreads, pageLimit } from "./list.ts";
import type { Page, TurnList } from "./pages.ts";
import { messagesOf, snippetOf } from "./snippets.ts";

/** A page of a search takes no longer than this; its cursor goes on with the thread where it stopped. */
const BUDGET_MS = 2_000;
const TURNS_AT_ONCE = 8;
const RECORDS_AT_ONCE = 200;
const CHUNK_BYTES = 1024 * 1024;
/** So much of a term is looked for in the bytes. */
const MAX_PART = 1_000;

export interface Match {
  record: ThreadRecord;
  snippet: string;
}

export interface SearchOptions {
  records: Iterable<ThreadRecord>;
  params: ThreadSearchParams;
  /** The turns of a thread. Rejects where they cannot be read: then only its name and first prompt are searched. */
  readonly turnsOf: (record: ThreadRecord) => Promise<TurnList>;
  /** What reads its file, if that is all there is of it. */
  readonly sourceOf: (record: ThreadRecord) => Promise<HistorySource | null>;
  budgetMs?: number;
}

/**
 * One page of the threads in which something was said, in the order of a list. As Codex 0.171 it looks at what a person
 * sent and what the agent said, in any case of letters; beyond that at names. The work is bounded: a page may end before
 * it is full, with a cursor.
 */
export async function searchThreads(options: SearchOptions): Promise<Page<Match>> {
  const { params } = options;
  const deadline = performance.now() + (options.budgetMs ?? BUDGET_MS);
  const term = params.searchTerm.trim().toLowerCase();
  const limit = pageLimit(params.limit);
  const records = [...options.records];
  const found: Match[] = [];
  let looked: ThreadRecord | null = null;
  for (let cursor = params.cursor ?? null; ;) {
    const page = listThreads(records, { ...params, searchTerm: null, cursor, limit: RECORDS_AT_ONCE });
    for (const record of page.data) {
      if (found.length === limit) return pageOf(found, params, cursorAt(looked!, params));
      // The first one is looked at however long it takes: a page that ends where it began would never end.
      const snippet = await snippetIn(record, term, looked === null ? Infinity : deadline, options);
      if (snippet === LATE) return pageOf(found, params, cursorAt(looked!, params));
      if (snippet !== null) found.push({ record, snippet });
      looked = record;
    }
    if (page.nextCursor === null) return pageOf(found, params, null);
    cursor = page.nextCursor;
  }
}

function pageOf(found: Match[], params: ThreadSearchParams, nextCursor: string | null): Page<Match> {
  const first = found[0];
  return { data: found, nextCursor, backwardsCursor: first === undefined ? null : backwardsCursor(first.record, params) };
}

const LATE = Symbol("there is no time left to look further");

async function snippetIn(record: ThreadRecord, term: string, deadline: number, { turnsOf, sourceOf }: SearchOptions): Promise<string | typeof LATE | null> {
  if (performance.now() > deadline) return LATE;
  const known = (record.name === null ? null : snippetOf(record.name, term)) ?? snippetOf(record.preview, term);
  if (known !== null) return known;
  try {
    const source = await sourceOf(record);
    if (record.file !== null && source?.wholeTexts === true && !(await mayHold(record.file, term))) return null;
    const list = await turnsOf(record);
    for (let from = 0; from < list.ids.length; from += TURNS_AT_ONCE) {
      if (performance.now() > deadline) return LATE;
      for (const turn of await list.take(from, Math.min(from + TURNS_AT_ONCE, list.ids.length))) {
        for (const { text } of messagesOf(turn)) {
          const snippet = snippetOf(text, term);
          if (snippet !== null) return snippet;
        }
      }
    }
  } catch {
    // A session that cannot be read hides no other.
  }
  return null;
}

/**
 * Whether the bytes of a file with JSON texts may hold the term: its longest part that stands in a JSON string as it is,
 * whoever wrote that. False is certain.
 */
export async function mayHold(file: string, term: string): Promise<boolean> {
  let part = (term.match(/[a-z0-9!#$%'()*+,\-.:;=?@[\]^_`{|}~]+/g) ?? []).reduce((longest, each) => (each.length > longest.length ? each : longest), "");
  if (part === "") return true;
  if (part.length > MAX_PART) part = part.slice(0, MAX_PART);
  const handle = await open(file);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let at = 0; ; at += CHUNK_BYTES - part.length) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, at);
      // One byte a character: the same letters have the same bytes, and no other byte becomes one of them.
      if (buffer.toString("latin1", 0, bytesRead).toLowerCase().includes(part)) return true;
      if (bytesRead < CHUNK_BYTES) return false;
    }
  } finally {
    await handle.close();
  }
}
