import type { ThreadListParams } from "@foldcast/protocol-core/wire/params";
import { decodePlace, START } from "../native/cursors.ts";
import { membersOf, textAt } from "../native/json-bytes.ts";
import type { Span } from "../native/json-bytes.ts";
import { listJson, mergedPage, readNativePage, withMember } from "../native/merge.ts";
import type { NativePage, OurPage } from "../native/merge.ts";
import { NativeGoneError, NativeSilentError } from "../native/session.ts";
import type { NativeSession } from "../native/session.ts";
import { RawJson } from "../rpc/raw-json.ts";
import { pageLimit } from "../threads/list.ts";
import type { MethodContext } from "./method.ts";

/** This client's connection with the real server; null where we answer alone. */
export function nativeOf({ host, connection }: MethodContext): NativeSession | null {
  return host.native?.gateOf(connection)?.session ?? null;
}

/**
 * What the real server answers. Asked once more where it went away in the middle: another one is on its way. Null where
 * it cannot be had at all; what it refuses, it refuses.
 */
export async function askNative(native: NativeSession, method: string, params: object): Promise<Buffer | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await native.ask(method, params);
    } catch (error) {
      if (!(error instanceof NativeGoneError)) throw error;
      if (attempt === 2 || error instanceof NativeSilentError) return null;
    }
  }
}

const NOTHING: NativePage = { data: [], nextCursor: null, backwardsCursor: null, rest: new Map() };

/** A page of the real server's list; an empty one where it cannot be had. */
export async function nativePage(native: NativeSession, method: string, params: object, cursor: string | null, limit: number | null): Promise<NativePage> {
  const result = await askNative(native, method, { ...params, cursor, limit });
  return result === null ? { ...NOTHING, rest: new Map() } : readNativePage(result);
}

type Order = Pick<ThreadListParams, "sortKey" | "sortDirection">;

export interface ThreadsOptions {
  context: MethodContext;
  native: NativeSession;
  method: "thread/list" | "thread/search";
  params: Order & Pick<ThreadListParams, "cursor" | "limit">;
  ours(cursor: string | null, limit: number): Promise<OurPage>;
  /** Where in an element of the list its thread is; null = the element is the thread. */
  member: "thread" | null;
  /** Read states of those of ours that are in the list, by thread; null = the list has none. */
  readStates(): Readonly<Record<string, object>> | null;
}

/** Native and foreign threads in one list. One without a thread of ours is the real server's own answer, to the byte. */
export async function mergedThreads(options: ThreadsOptions): Promise<RawJson> {
  const { context, native, method, params, member } = options;
  const { cursor } = params;
  const { sortKey, sortDirection } = params;
  const size = pageLimit(params.limit);
  const first = cursor == null ? await options.ours(null, size) : null;
  if (first?.entries.length === 0 && !first.hasMore) {
    const result = await askNative(native, method, params);
    if (result !== null) return new RawJson(result);
  }
  const page = await mergedPage({
    place: cursor == null ? START : decodePlace(cursor),
    limit: size,
    sign: (sortDirection ?? (sortKey === "section_position" ? "asc" : "desc")) === "asc" ? 1 : -1,
    native: (at, limit) => nativePage(native, method, params, at, limit),
    ours: (at) => (first !== null ? Promise.resolve(first) : options.ours(at, size)),
    keyOf: (element) => {
      const thread = member === null ? element : inside(element, membersOf(element)?.get(member));
      const members = thread === null ? null : membersOf(thread);
      const id = members === null ? undefined : members.get("id");
      const text = id === undefined ? null : textAt(thread!, id.start, id.end);
      if (text === null || context.host.native?.isAdopted(text) === true) return null;
      return { id: text, time: timeIn(thread!, members!, sortKey) };
    },
  });
  const ours = options.readStates();
  let states = page.rest.get("readStates") ?? Buffer.from("{}");
  page.rest.delete("readStates");
  for (const [id, state] of Object.entries(ours ?? {})) states = withMember(states, id, JSON.stringify(state));
  return new RawJson(listJson(page.data, [
    ...page.rest,
    ...(ours === null ? [] : [["readStates", states] as const]),
    ["nextCursor", JSON.stringify(page.nextCursor)], ["backwardsCursor", JSON.stringify(page.backwardsCursor)],
  ]));
}

function inside(element: Buffer, span: Span | undefined): Buffer | null {
  return span === undefined ? null : element.subarray(span.start, span.end);
}

/** In seconds, as threads on the wire have it. Sections have their own order, which no thread tells: there ours come last. */
function timeIn(thread: Buffer, members: ReadonlyMap<string, Span>, sortKey: Order["sortKey"]): number {
  if (sortKey === "section_position") return 0;
  const number = (name: string): number | null => {
    const span = members.get(name);
    const value = span === undefined ? NaN : Number(thread.toString("latin1", span.start, span.end));
    return span === undefined || Number.isNaN(value) || value === 0 ? null : value;
  };
  if (sortKey === "updated_at") return number("updatedAt") ?? 0;
  if (sortKey === "recency_at") return number("recencyAt") ?? number("updatedAt") ?? 0;
  return number("createdAt") ?? 0;
}

/** The same of a record of ours, whose times are milliseconds. */
export function secondsOf(record: { createdAt: number; updatedAt: number; recencyAt: number }, sortKey: Order["sortKey"]): number {
  if (sortKey === "section_position") return 0;
  return Math.floor((sortKey === "updated_at" ? record.updatedAt : sortKey === "recency_at" ? record.recencyAt : record.createdAt) / 1000);
}
