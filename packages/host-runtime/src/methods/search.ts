import { DEFAULT_POLICY } from "@foldcast/protocol-core/delivery";
import { invalidRequest, notSupported } from "@foldcast/protocol-core/wire";
import { ThreadSearchCancelParams, ThreadSearchOccurrencesParams, ThreadSearchParams } from "@foldcast/protocol-core/wire/params";
import { occurrencesPage } from "../threads/occurrences.ts";
import { cursorAt } from "../threads/list.ts";
import type { Page } from "../threads/pages.ts";
import { searchThreads } from "../threads/search.ts";
import type { Match } from "../threads/search.ts";
import { toWireThread } from "../threads/wire-thread.ts";
import { mergedThreads, nativeOf, secondsOf } from "./behind.ts";
import { method } from "./method.ts";
import type { Method, MethodContext } from "./method.ts";
import { parseThreadId } from "./thread-id.ts";

/** Messages are the same in every dialect. */
const VIEWER = { policy: DEFAULT_POLICY, detail: false };
const MAX_STREAM_TERM_BYTES = 65_536;

function demandTerm(request: string, term: string): void {
  if (term.trim() === "") throw invalidRequest(`${request} requires a non-empty searchTerm`);
}

async function search(request: string, params: ThreadSearchParams, context: MethodContext): Promise<object> {
  demandTerm(request, params.searchTerm);
  const { host } = context;
  const wireOf = ({ record, snippet }: Match): object => ({ thread: host.threads.loaded(record.id)?.toWire() ?? toWireThread(record, null), snippet });
  const records = await host.threads.records();
  const ours = (cursor: string | null, limit: number | null): Promise<Page<Match>> => searchThreads({
    records,
    params: { ...params, cursor, limit },
    turnsOf: (record) => host.threads.turns({ record, actor: host.threads.loaded(record.id) }, VIEWER),
    sourceOf: async ({ id, harness }) => (harness === null || host.threads.loaded(id) !== null ? null : ((await host.catalogue.adapters()).get(harness)?.history ?? null)),
  });
  const native = nativeOf(context);
  if (native === null) {
    const page = await ours(params.cursor ?? null, params.limit ?? null);
    return { ...page, data: page.data.map(wireOf) };
  }
  return mergedThreads({
    context,
    native,
    method: "thread/search",
    params,
    member: "thread",
    async ours(cursor, limit) {
      const page = await ours(cursor, limit);
      return {
        entries: page.data.map((match) => ({ time: secondsOf(match.record, params.sortKey), cursor: cursorAt(match.record, params), value: wireOf(match) })),
        hasMore: page.nextCursor !== null,
        backwardsCursor: page.backwardsCursor,
      };
    },
    readStates: () => null,
  });
}

export const searchMethods: readonly Method[] = [
  method("thread/search", {
    owner: "host",
    params: ThreadSearchParams,
    experimental: true,
    handler: (params, context) => search("thread/search", params, context),
  }),
  // Partial results are there for a server that takes long; this one answers with what it has.
  method("thread/search/stream", {
    owner: "host",
    params: ThreadSearchParams,
    experimental: true,
    handler(params, context) {
      if (Buffer.byteLength(params.searchTerm.trim()) > MAX_STREAM_TERM_BYTES) throw invalidRequest(`thread/search/stream searchTerm exceeds ${MAX_STREAM_TERM_BYTES} bytes`);
      return search("thread/search/stream", params, context);
    },
  }),
  // A search ends by itself before a cancellation could help.
  ...["thread/search/cancel", "thread/search/stream/cancel"].map((name) =>
    method(name, { owner: "host", params: ThreadSearchCancelParams, experimental: true, handler: () => ({}) })),
  method("thread/searchOccurrences", {
    owner: "thread",
    params: ThreadSearchOccurrencesParams,
    experimental: true,
    async handler({ threadId, searchTerm, cursor, limit }, { host }) {
      const id = parseThreadId(threadId);
      demandTerm("thread/searchOccurrences", searchTerm);
      const known = await host.threads.find(id);
      if (known === null || known.record.ephemeral || known.record.harness === null) throw notSupported("thread/searchOccurrences");
      return occurrencesPage(await host.threads.turns(known, VIEWER), { searchTerm, cursor: cursor ?? null, limit: limit ?? null });
    },
  }),
];
