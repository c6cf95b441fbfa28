import { invalidRequest, isJsonObject } from "@foldcast/protocol-core/wire";
import { encodeCursor } from "./cursors.ts";
import type { TurnList } from "./pages.ts";
import { around, messagesOf, placesOf } from "./snippets.ts";

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 1000;
const BUDGET_MS = 2_000;
const TURNS_AT_ONCE = 8;

/** A place where a term stands in a message, as Codex 0.171 tells it. The range is in UTF-16 units of the snippet. */
export interface Occurrence {
  turnId: string;
  itemId: string;
  snippet: string;
  snippetMatchRange: { start: number; end: number };
  /** Accepted by `thread/turns/list`. */
  turnCursor: string;
}
interface Place {
  turnId: string;
  itemId: string;
  /** Which occurrence in the item comes next. */
  index: number;
}

/** One page of the places where a term stands in a thread, oldest first. A page may end before it is full, with a cursor. */
export async function occurrencesPage(
  list: TurnList, request: { searchTerm: string; cursor: string | null; limit: number | null; budgetMs?: number },
): Promise<{ data: Occurrence[]; nextCursor: string | null }> {
  const deadline = performance.now() + (request.budgetMs ?? BUDGET_MS);
  const term = request.searchTerm.toLowerCase();
  const limit = Math.min(Math.max(request.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
  const from = request.cursor === null ? null : decode(request.cursor, list.threadId, request.searchTerm);
  const encode = (place: Place): string => JSON.stringify({ threadId: list.threadId, searchTerm: request.searchTerm, ...place });
  const start = from === null ? 0 : Math.max(list.ids.indexOf(from.turnId), 0);
  const data: Occurrence[] = [];
  for (let at = start; at < list.ids.length; at += TURNS_AT_ONCE) {
    for (const turn of await list.take(at, Math.min(at + TURNS_AT_ONCE, list.ids.length))) {
      const messages = messagesOf(turn);
      const resumed = from?.turnId === turn.id ? Math.max(messages.findIndex(({ itemId }) => itemId === from.itemId), 0) : 0;
      for (const { itemId, text } of messages.slice(resumed)) {
        const skipped = from?.turnId === turn.id && from.itemId === itemId ? from.index : 0;
        for (const [index, place] of placesOf(text, term).entries()) {
          if (index < skipped) continue;
          if (data.length === limit) return { data, nextCursor: encode({ turnId: turn.id, itemId, index }) };
          const { text: snippet, start: begins, end } = around(text, place, term.length);
          const turnCursor = encodeCursor(list.threadId, { turnId: turn.id, itemId: null, include: true });
          data.push({ turnId: turn.id, itemId, snippet, snippetMatchRange: { start: begins, end }, turnCursor });
        }
      }
    }
    const next = list.ids[at + TURNS_AT_ONCE];
    if (next !== undefined && performance.now() > deadline) return { data, nextCursor: encode({ turnId: next, itemId: "", index: 0 }) };
  }
  return { data, nextCursor: null };
}

/** Null for a cursor of another search: it begins at the head. What is none is refused. */
function decode(text: string, threadId: string, searchTerm: string): Place | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest(`invalid cursor: ${text}`);
  }
  if (!isJsonObject(value)) throw invalidRequest(`invalid cursor: ${text}`);
  const { turnId, itemId, index } = value;
  if (value["threadId"] !== threadId || value["searchTerm"] !== searchTerm) return null;
  return typeof turnId === "string" && typeof itemId === "string" && typeof index === "number" ? { turnId, itemId, index } : null;
}
