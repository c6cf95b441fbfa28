import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { ThreadListParams } from "@foldcast/protocol-core/wire/params";
import type { ThreadRecord } from "../store/store.ts";
import type { Page } from "./pages.ts";
import { MODEL_PROVIDER } from "./settings.ts";

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 1000;

/** What passes the filters of `thread/list`. A filter for what foldcast has none of lets nothing pass. */
function filterOf(params: ThreadListParams): (record: ThreadRecord) => boolean {
  const { sourceKinds, modelProviders, originators, includedThreadIds, excludedThreadIds, sectionId } = params;
  if (params.projectId != null || params.parentThreadId != null || params.ancestorThreadId != null || params.attachedToThreadId != null) return () => false;
  if (isFilter(sourceKinds) && !sourceKinds.includes("vscode")) return () => false;
  if (isFilter(modelProviders) && !modelProviders.includes(MODEL_PROVIDER)) return () => false;
  const archived = params.archived ?? false;
  const folders = params.cwd == null ? null : new Set((typeof params.cwd === "string" ? [params.cwd] : params.cwd).map(withoutSlash));
  const included = includedThreadIds == null ? null : new Set(includedThreadIds);
  const excluded = new Set(excludedThreadIds);
  const term = params.searchTerm?.toLowerCase() ?? "";
  return (record) =>
    record.archived === archived
    && (sectionId == null || record.section?.id === sectionId)
    && (!isFilter(originators) || (record.originator !== null && originators.includes(record.originator)))
    && (included === null || included.has(record.id))
    && !excluded.has(record.id)
    && (folders === null || folders.has(withoutSlash(record.cwd)))
    && (term === "" || record.preview.toLowerCase().includes(term) || record.name?.toLowerCase().includes(term) === true);
}

/** Folders are compared as Codex 0.171 does: whatever stands at their end. */
function withoutSlash(folder: string): string {
  return folder.length > 1 && folder.endsWith("/") ? folder.replace(/\/+$/, "") || "/" : folder;
}

function isFilter<T>(list: readonly T[] | null | undefined): list is readonly T[] {
  return list != null && list.length > 0;
}

function sortValue(record: ThreadRecord, key: ThreadListParams["sortKey"]): number {
  if (key === "section_position") return record.section?.position ?? 0;
  if (key === "updated_at") return record.updatedAt;
  return key === "recency_at" ? record.recencyAt : record.createdAt;
}

/** `time|id` of the last thread of a page; `time` alone looks back from a page's first. Milliseconds, so that none repeats. */
interface Position {
  time: number;
  id: string | null;
}

function parsePosition(cursor: string): Position {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)(?:\|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$/i.exec(cursor);
  const time = Date.parse(match?.[1] ?? "");
  if (Number.isNaN(time)) throw invalidRequest(`invalid cursor: ${cursor}`);
  return { time, id: match?.[2] ?? null };
}

/** One page of threads, filtered and sorted as `thread/list` of Codex 0.171 does. */
export function listThreads(records: Iterable<ThreadRecord>, params: ThreadListParams): Page<ThreadRecord> {
  const { sortKey, sectionId } = params;
  if (sortKey === "section_position" && sectionId == null) throw invalidRequest("section-position sorting requires a section filter");
  const position = params.cursor == null ? null : parsePosition(params.cursor);
  const sign = directionOf(params);
  const compare = (timeA: number, idA: string, timeB: number, idB: string): number => sign * (timeA - timeB || (idA < idB ? -1 : idA > idB ? 1 : 0));

  const isLeft = (record: ThreadRecord): boolean => {
    if (position === null) return true;
    const time = sortValue(record, sortKey);
    return position.id === null ? sign * (time - position.time) > 0 : compare(time, record.id, position.time, position.id) > 0;
  };
  const limit = pageLimit(params.limit);
  const passes = filterOf(params);
  const rest = firstOf(records, limit + 1, (record) => isLeft(record) && passes(record), (a, b) => compare(sortValue(a, sortKey), a.id, sortValue(b, sortKey), b.id));
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  const first = data[0];
  return {
    data,
    nextCursor: last !== undefined && rest.length > limit ? cursorAt(last, params) : null,
    backwardsCursor: first === undefined ? null : backwardsCursor(first, params),
  };
}

type Order = Pick<ThreadListParams, "sortKey" | "sortDirection">;

function directionOf({ sortKey, sortDirection }: Order): 1 | -1 {
  return (sortDirection ?? (sortKey === "section_position" ? "asc" : "desc")) === "asc" ? 1 : -1;
}

const timeOf = (record: ThreadRecord, { sortKey }: Order, shift = 0): string => new Date(sortValue(record, sortKey) + shift).toISOString();

/** The cursor of what comes behind a thread in a list. */
export function cursorAt(record: ThreadRecord, order: Order): string {
  return `${timeOf(record, order)}|${record.id}`;
}

/** Measured: looking back, a page begins with the first of this one, and with all others of the same moment. */
export function backwardsCursor(first: ThreadRecord, order: Order): string {
  return timeOf(first, order, directionOf(order));
}

export function pageLimit(limit: number | null | undefined): number {
  return Math.min(Math.max(limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
}

/** The first `count` in order, of those that are wanted. A page of thousands does not need all of them sorted. */
function firstOf<T>(values: Iterable<T>, count: number, isWanted: (value: T) => boolean, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const value of values) {
    if (!isWanted(value)) continue;
    if (first.length === count && compare(value, first[count - 1]!) >= 0) continue;
    let [low, high] = [0, first.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(first[middle]!, value) <= 0) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, value);
    if (first.length > count) first.pop();
  }
  return first;
}
