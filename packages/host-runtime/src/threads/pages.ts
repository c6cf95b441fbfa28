import type { ThreadItem, Turn, TurnItemsView } from "@foldcast/protocol-core/wire";
import { decodeCursor, encodeCursor } from "./cursors.ts";

export interface Page<T> {
  data: T[];
  nextCursor: string | null;
  backwardsCursor: string | null;
}
export interface ItemEntry {
  turnId: string;
  item: ThreadItem;
  startedAtMs: number | null;
  completedAtMs: number | null;
}
export interface PageRequest {
  cursor: string | null;
  limit: number | null;
  direction: "asc" | "desc";
}

/** The turns of a thread at one moment. Ids are known at once; a turn is projected when it is taken. */
export interface TurnList {
  threadId: string;
  /** Oldest first. */
  ids: readonly string[];
  /** Turns `from` ≤ i < `to`, in order, with all their items. */
  take(from: number, to: number): Promise<Turn[]>;
}

export interface LongTurnList extends TurnList {
  /** Calls `use` with the same turns, each as soon as it is projected: they need not be in memory together. */
  each(from: number, to: number, use: (turn: Turn) => void): Promise<void>;
}

const DEFAULT_TURNS = 25;
const DEFAULT_ITEMS = 100;
const MAX_PAGE = 1000;
/** How many turns at most are projected at a time while a page of items fills up. */
const MAX_TURNS_AT_ONCE = 16;

const pageSize = (limit: number | null, fallback: number): number => Math.min(Math.max(limit ?? fallback, 1), MAX_PAGE);

/** `summary` = the first user message and the last agent message, as Codex 0.171 shows a turn in lists. */
export function viewTurn(turn: Turn, itemsView: TurnItemsView): Turn {
  if (itemsView === "full") return { ...turn, itemsView };
  if (itemsView === "notLoaded") return { ...turn, items: [], itemsView };
  const first = turn.items.find((item) => item.type === "userMessage");
  const last = turn.items.findLast((item) => item.type === "agentMessage");
  return { ...turn, items: [first, last].filter((item) => item !== undefined), itemsView };
}

/** Cursors on the two ends of the history's newest turn, for a client that wants to page back from there. */
export function newestCursors(threadId: string, newest: Turn | undefined): { turns: string | null; items: string | null } {
  if (newest === undefined) return { turns: null, items: null };
  const item = newest.items.at(-1);
  return {
    turns: encodeCursor(threadId, { turnId: newest.id, itemId: null, include: true }),
    items: item === undefined ? null : encodeCursor(threadId, { turnId: newest.id, itemId: item.id, include: true }),
  };
}

export async function turnsPage(list: TurnList, request: PageRequest, itemsView: TurnItemsView): Promise<Page<Turn>> {
  const size = pageSize(request.limit, DEFAULT_TURNS);
  const start = startOf(list, request);
  const ascending = request.direction === "asc";
  const [from, to] = ascending ? [start, Math.min(start + size, list.ids.length)] : [Math.max(start + 1 - size, 0), start + 1];
  const taken = from < to ? await list.take(from, to) : [];
  if (!ascending) taken.reverse();
  const first = taken[0];
  const last = taken.at(-1);
  const more = ascending ? to < list.ids.length : from > 0;
  return {
    data: taken.map((turn) => viewTurn(turn, itemsView)),
    nextCursor: last !== undefined && more ? encodeCursor(list.threadId, { turnId: last.id, itemId: null, include: false }) : null,
    backwardsCursor: first === undefined ? null : encodeCursor(list.threadId, { turnId: first.id, itemId: null, include: true }),
  };
}

/** Index of the first turn of the page; out of range when nothing is left. */
function startOf(list: TurnList, request: PageRequest): number {
  const ascending = request.direction === "asc";
  const head = ascending ? 0 : list.ids.length - 1;
  if (request.cursor === null) return head;
  const anchor = decodeCursor(request.cursor, list.threadId, "turns");
  const at = anchor === null ? -1 : list.ids.indexOf(anchor.turnId);
  if (anchor === null || at === -1) return head;
  return anchor.include ? at : at + (ascending ? 1 : -1);
}

/** Items across turns, or of one turn (`turnId`), in order. */
export async function itemsPage(list: TurnList, request: PageRequest, turnId: string | null): Promise<Page<ItemEntry>> {
  const size = pageSize(request.limit, DEFAULT_ITEMS);
  const ascending = request.direction === "asc";
  const scope = scopeOf(list, turnId);
  const anchor = request.cursor === null ? null : decodeCursor(request.cursor, list.threadId, "items");
  const anchorTurn = anchor === null ? -1 : list.ids.indexOf(anchor.turnId);
  const head = ascending ? scope.from : scope.to - 1;
  const inOrder = (turn: Turn): ThreadItem[] => (ascending ? turn.items : turn.items.toReversed());

  const entries: ItemEntry[] = [];
  let at = head;
  if (anchor !== null && anchorTurn >= scope.from && anchorTurn < scope.to) {
    const [turn] = await list.take(anchorTurn, anchorTurn + 1);
    const items = turn === undefined ? [] : inOrder(turn);
    const place = items.findIndex((item) => item.id === anchor.itemId);
    // An item that is not there is one of the other dialect: the page begins at the head, as for any cursor from elsewhere.
    if (place !== -1) {
      for (const item of items.slice(anchor.include ? place : place + 1)) entries.push(itemEntry(anchor.turnId, item));
      at = anchorTurn + (ascending ? 1 : -1);
    }
  }
  for (let taken = 1; entries.length <= size && at >= scope.from && at < scope.to; ) {
    // As many as fill the page if they are like those before; a turn may have ten items, or ten thousand.
    const expected = at === head ? 1 : Math.ceil(((size + 1 - entries.length) * taken) / Math.max(entries.length, 1));
    const count = Math.min(expected, MAX_TURNS_AT_ONCE);
    const [from, to] = ascending ? [at, Math.min(at + count, scope.to)] : [Math.max(at + 1 - count, scope.from), at + 1];
    const turns = await list.take(from, to);
    if (!ascending) turns.reverse();
    for (const turn of turns) for (const item of inOrder(turn)) entries.push(itemEntry(turn.id, item));
    taken += at === head ? 0 : to - from;
    at = ascending ? to : from - 1;
  }
  const data = entries.slice(0, size);
  const cursorOf = (entry: ItemEntry | undefined, include: boolean): string | null =>
    entry === undefined ? null : encodeCursor(list.threadId, { turnId: entry.turnId, itemId: entry.item.id, include });
  return { data, nextCursor: entries.length > size ? cursorOf(data.at(-1), false) : null, backwardsCursor: cursorOf(data[0], true) };
}

function scopeOf(list: TurnList, turnId: string | null): { from: number; to: number } {
  if (turnId === null) return { from: 0, to: list.ids.length };
  const at = list.ids.indexOf(turnId);
  return at === -1 ? { from: 0, to: 0 } : { from: at, to: at + 1 };
}

export function itemEntry(turnId: string, item: ThreadItem): ItemEntry {
  return { turnId, item, startedAtMs: item.startedAtMs ?? null, completedAtMs: item.completedAtMs ?? null };
}
