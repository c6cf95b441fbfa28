import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { ThreadListParams } from "@foldcast/protocol-core/wire/params";
import type { ThreadRecord } from "../store/store.ts";
import type { Page } from "./pages.ts";
import { MODEL_PROVIDER } from "./settings.ts";

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 1000;

/** Whether a thread passes the filters of `thread/list`. A filter for what foldcast has none of lets nothing pass. */
function passes(record: ThreadRecord, params: ThreadListParams): boolean {
  const { sourceKinds, modelProviders, cwd, searchTerm, originators, includedThreadIds, excludedThreadIds } = params;
  if (params.projectId != null) return false;
  if (params.sectionId != null && record.section?.id !== params.sectionId) return false;
  if (params.parentThreadId != null || params.ancestorThreadId != null || params.attachedToThreadId != null) return false;
  if (record.archived !== (params.archived ?? false)) return false;
  if (isFilter(sourceKinds) && !sourceKinds.includes("vscode")) return false;
  if (isFilter(modelProviders) && !modelProviders.includes(MODEL_PROVIDER)) return false;
  if (isFilter(originators) && (record.originator === null || !originators.includes(record.originator))) return false;
  if (includedThreadIds != null && !includedThreadIds.includes(record.id)) return false;
  if (excludedThreadIds?.includes(record.id) === true) return false;
  if (cwd != null && !(typeof cwd === "string" ? [cwd] : cwd).includes(record.cwd)) return false;
  if (searchTerm != null && searchTerm !== "") {
    const term = searchTerm.toLowerCase();
    if (!record.preview.toLowerCase().includes(term) && record.name?.toLowerCase().includes(term) !== true) return false;
  }
  return true;
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
  if (match?.[1] === undefined) throw invalidRequest(`invalid cursor: ${cursor}`);
  return { time: Date.parse(match[1]), id: match[2] ?? null };
}

/** One page of threads, filtered and sorted as `thread/list` of Codex 0.171 does. */
export function listThreads(records: Iterable<ThreadRecord>, params: ThreadListParams): Page<ThreadRecord> {
  const { sortKey, sectionId } = params;
  if (sortKey === "section_position" && sectionId == null) throw invalidRequest("section-position sorting requires a section filter");
  const position = params.cursor == null ? null : parsePosition(params.cursor);
  const sign = (params.sortDirection ?? (sortKey === "section_position" ? "asc" : "desc")) === "asc" ? 1 : -1;
  const compare = (timeA: number, idA: string, timeB: number, idB: string): number => sign * (timeA - timeB || (idA < idB ? -1 : idA > idB ? 1 : 0));

  const sorted = [...records].filter((record) => passes(record, params))
    .sort((a, b) => compare(sortValue(a, sortKey), a.id, sortValue(b, sortKey), b.id));
  const rest = position === null ? sorted : sorted.filter((record) => {
    const time = sortValue(record, sortKey);
    return position.id === null ? sign * (time - position.time) > 0 : compare(time, record.id, position.time, position.id) > 0;
  });
  const limit = Math.min(Math.max(params.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT);
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  const first = data[0];
  const timeOf = (record: ThreadRecord): string => new Date(sortValue(record, sortKey)).toISOString();
  return {
    data,
    nextCursor: last !== undefined && rest.length > limit ? `${timeOf(last)}|${last.id}` : null,
    backwardsCursor: first === undefined ? null : timeOf(first),
  };
}
