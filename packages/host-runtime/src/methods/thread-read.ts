import { ErrorCode, invalidRequest, notSupported, WireError } from "@foldcast/protocol-core/wire";
import { BackgroundTerminalsListParams, pageParams, threadIdParams, ThreadItemsListParams, ThreadItemsReadParams, ThreadListParams, ThreadReadParams, ThreadTurnsListParams } from "@foldcast/protocol-core/wire/params";
import type { Host } from "../host.ts";
import { decodePlace, START } from "../native/cursors.ts";
import { textAt } from "../native/json-bytes.ts";
import { listJson, mergedPage } from "../native/merge.ts";
import type { NativeSession } from "../native/session.ts";
import { RawJson } from "../rpc/raw-json.ts";
import type { ThreadRecord } from "../store/store.ts";
import { cursorAt } from "../threads/list.ts";
import { itemEntry, itemsPage, turnsPage } from "../threads/pages.ts";
import { toWireThread } from "../threads/wire-thread.ts";
import type { KnownThread } from "../threads/registry.ts";
import { mergedThreads, nativeOf, nativePage, secondsOf } from "./behind.ts";
import { method } from "./method.ts";
import type { Method } from "./method.ts";
import { parseThreadId } from "./thread-id.ts";
import { readableThread } from "./thread-lookup.ts";
import { threadResult, writeTurns } from "./whole-thread.ts";

const MAX_ITEM_IDS = 100;

const isMaterialized = ({ record }: KnownThread): boolean => record.harness !== null;

const NO_THREADS = { entries: [], hasMore: false, backwardsCursor: null };

/** A filter that a later Codex may have: what it asks for is nothing that our threads could be. */
function hasUnknownFilter(params: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(params).some(([name, value]) => !(name in ThreadListParams.shape) && value != null && value !== false);
}

/** Measured: in a list of ids a wrong one is a wrong parameter, with a code of its own. */
function demandThreadIds(ids: readonly string[] | null | undefined, what: string): void {
  try {
    for (const id of ids ?? []) parseThreadId(id, what);
  } catch (error) {
    throw error instanceof WireError ? new WireError(ErrorCode.invalidParams, error.message) : error;
  }
}

function loadedPage(host: Host, cursor: string | null, limit: number | null): { data: string[]; hasMore: boolean } {
  const ids = host.threads.loadedIds.toSorted();
  const from = cursor === null ? 0 : ids.indexOf(cursor) + 1;
  if (cursor !== null && from === 0) throw invalidRequest(`invalid cursor: ${cursor}`);
  const data = ids.slice(from, limit === null ? undefined : from + Math.max(limit, 1));
  return { data, hasMore: from + data.length < ids.length };
}

/** The real server's first, then ours. */
async function loadedOfBoth(native: NativeSession, { cursor, limit }: { cursor: string | null; limit: number | null }, host: Host): Promise<RawJson> {
  const page = await mergedPage({
    place: cursor === null ? START : decodePlace(cursor),
    limit: limit === null ? null : Math.max(limit, 1),
    sign: 1,
    native: (at, count) => nativePage(native, "thread/loaded/list", {}, at, count),
    ours: (at, count) => {
      const { data, hasMore } = loadedPage(host, at, count);
      return Promise.resolve({ entries: data.map((id) => ({ time: 0, cursor: id, value: id })), hasMore, backwardsCursor: null });
    },
    keyOf: (element) => {
      const id = textAt(element, 0, element.length);
      return id === null || host.native?.isAdopted(id) === true ? null : { id, time: 0 };
    },
  });
  return new RawJson(listJson(page.data, [["nextCursor", JSON.stringify(page.nextCursor)]]));
}

export const threadReadMethods: readonly Method[] = [
  method("thread/read", {
    owner: "thread",
    params: ThreadReadParams,
    async handler({ threadId, includeTurns }, { host, connection }) {
      const known = await readableThread(host, threadId);
      const readState = known.actor?.readState.toWire() ?? null;
      if (includeTurns !== true) return { thread: known.actor?.toWire() ?? toWireThread(known.record, null), readState };
      if (known.record.ephemeral) throw invalidRequest("ephemeral threads do not support includeTurns");
      if (!isMaterialized(known)) throw notSupported("list_turns");
      const list = await host.threads.turns(known, host.viewerOf(connection));
      const turns = await writeTurns(list);
      return threadResult({ thread: known.actor?.toWire() ?? toWireThread(known.record, null), readState }, turns);
    },
  }),
  method("thread/list", {
    owner: "host",
    params: ThreadListParams,
    experimentalFields: ["includeAttachedThreads", "projectId", "parentThreadId", "ancestorThreadId", "attachedToThreadId"],
    async handler(params, { host, connection }) {
      const { parentThreadId, ancestorThreadId } = params;
      if (parentThreadId != null) parseThreadId(parentThreadId, "parent thread id");
      if (ancestorThreadId != null) parseThreadId(ancestorThreadId, "ancestor thread id");
      if (parentThreadId != null && ancestorThreadId != null) throw invalidRequest("parentThreadId and ancestorThreadId are mutually exclusive");
      if (params.attachedToThreadId != null) parseThreadId(params.attachedToThreadId, "attached thread parent id");
      demandThreadIds(params.includedThreadIds, "included thread id");
      demandThreadIds(params.excludedThreadIds, "excluded thread id");
      const wireOf = (record: ThreadRecord): object => host.threads.loaded(record.id)?.toWire() ?? toWireThread(record, null);
      const readStates = (ids: readonly string[]): Record<string, object> => Object.fromEntries(ids.flatMap((id) => {
        const state = host.threads.loaded(id)?.readState.toWire();
        return state === undefined ? [] : [[id, state]];
      }));
      // What belongs to a thread of ours is nothing that the real server could know of.
      const isOfOurs = [parentThreadId, ancestorThreadId, params.attachedToThreadId].some((id) => id != null && host.owns(id));
      const native = isOfOurs ? null : nativeOf({ host, connection });
      if (native === null) {
        const page = await host.threads.list(params);
        return { ...page, data: page.data.map(wireOf), readStates: readStates(page.data.map(({ id }) => id)) };
      }
      const listed: string[] = [];
      return mergedThreads({
        context: { host, connection },
        native,
        method: "thread/list",
        params,
        member: null,
        async ours(cursor, limit) {
          if (hasUnknownFilter(params)) return NO_THREADS;
          const page = await host.threads.list({ ...params, cursor, limit });
          listed.push(...page.data.map(({ id }) => id));
          return {
            entries: page.data.map((record) => ({ time: secondsOf(record, params.sortKey), cursor: cursorAt(record, params), value: wireOf(record) })),
            hasMore: page.nextCursor !== null,
            backwardsCursor: page.backwardsCursor,
          };
        },
        readStates: () => readStates(listed),
      });
    },
  }),
  method("thread/loaded/list", {
    owner: "host",
    params: pageParams("ThreadLoadedListParams"),
    async handler({ cursor, limit }, context) {
      const { host } = context;
      const native = nativeOf(context);
      if (native !== null) return loadedOfBoth(native, { cursor: cursor ?? null, limit: limit ?? null }, host);
      const page = loadedPage(host, cursor ?? null, limit ?? null);
      return { data: page.data, nextCursor: page.hasMore ? (page.data.at(-1) ?? null) : null };
    },
  }),
  method("thread/turns/list", {
    owner: "thread",
    params: ThreadTurnsListParams,
    async handler({ threadId, cursor, limit, sortDirection, itemsView }, { host, connection }) {
      const known = await readableThread(host, threadId);
      if (known.record.ephemeral) throw invalidRequest("ephemeral threads do not support thread/turns/list");
      if (!isMaterialized(known)) {
        throw invalidRequest(`thread ${known.record.id} is not materialized yet; thread/turns/list is unavailable before first user message`);
      }
      const list = await host.threads.turns(known, host.viewerOf(connection));
      return turnsPage(list, { cursor: cursor ?? null, limit: limit ?? null, direction: sortDirection ?? "desc" }, itemsView ?? "summary");
    },
  }),
  method("thread/items/list", {
    owner: "thread",
    params: ThreadItemsListParams,
    async handler({ threadId, turnId, cursor, limit, sortDirection }, { host, connection }) {
      const known = await host.threads.find(parseThreadId(threadId));
      if (known === null || known.record.ephemeral || !isMaterialized(known)) throw notSupported("thread/items/list");
      const list = await host.threads.turns(known, host.viewerOf(connection));
      // An anchor object is another server's way to name a place: it starts at the head, as a foreign cursor does.
      const position = typeof cursor === "string" ? cursor : null;
      return itemsPage(list, { cursor: position, limit: limit ?? null, direction: sortDirection ?? "asc" }, turnId ?? null);
    },
  }),
  method("thread/items/read", {
    owner: "thread",
    params: ThreadItemsReadParams,
    experimental: true,
    async handler({ threadId, turnId, itemIds }, { host, connection }) {
      if (itemIds.length === 0 || itemIds.length > MAX_ITEM_IDS) throw invalidRequest(`itemIds must contain 1 to ${MAX_ITEM_IDS} IDs`);
      const known = await host.threads.find(parseThreadId(threadId));
      if (known === null || known.record.ephemeral || !isMaterialized(known)) throw notSupported("thread/items/read");
      const list = await host.threads.turns(known, host.viewerOf(connection));
      const at = list.ids.indexOf(turnId);
      const [turn] = at === -1 ? [] : await list.take(at, at + 1);
      return { data: (turn?.items ?? []).filter((item) => itemIds.includes(item.id)).map((item) => itemEntry(turnId, item)) };
    },
  }),
  method("thread/goal/get", {
    owner: "thread",
    params: threadIdParams("ThreadGoalGetParams"),
    async handler({ threadId }, { host }) {
      const id = parseThreadId(threadId);
      if ((await host.threads.find(id)) === null) throw invalidRequest(`thread not found: ${id}`);
      return { goal: null };
    },
  }),
  method("thread/backgroundTerminals/list", {
    owner: "thread",
    params: BackgroundTerminalsListParams,
    experimental: true,
    async handler({ threadId }, { host }) {
      const id = parseThreadId(threadId);
      if ((await host.threads.find(id)) === null) throw invalidRequest(`thread not found: ${id}`);
      return { data: [], nextCursor: null };
    },
  }),
];
