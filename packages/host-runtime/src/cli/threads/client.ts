import { RpcClient, RpcError } from "@foldcast/protocol-core/client";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { VERSION } from "../../version.ts";
import type { Thread, Turn } from "@foldcast/protocol-core/wire";

/** The server's own most. */
const THREADS_A_PAGE = 200;
/** Turns come whole; few at a time, so that a long session costs no more memory than a short one. */
const TURNS_A_PAGE = 20;
const NOT_SUPPORTED = -32601;

export interface ThreadFilter {
  cwd: readonly string[] | null;
  search: string | null;
  archived: boolean;
}

interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

/** What scripts do with threads, over the protocol. Rejects with an `RpcError` where the server refuses. */
export class ThreadsClient {
  readonly #rpc: RpcClient;

  constructor(transport: ClientTransport) {
    this.#rpc = new RpcClient(transport, {
      notification: () => undefined,
      request: ({ id, method }) => this.#rpc.refuse(id, NOT_SUPPORTED, `nobody is here to answer ${method}`),
      closed: () => undefined,
    });
  }

  async initialize(): Promise<void> {
    await this.#rpc.request("initialize", { clientInfo: { name: "foldcast-threads", title: "foldcast threads", version: VERSION }, capabilities: { experimentalApi: true } });
    this.#rpc.notify("initialized");
  }

  /** Those that changed last come first. */
  async *list({ cwd, search, archived }: ThreadFilter, limit: number): AsyncGenerator<Thread> {
    // Whoever answers for the model: Codex alone would leave out what is not of its current provider.
    const params = { archived, modelProviders: [], sortKey: "updated_at", sortDirection: "desc", ...(cwd === null ? {} : { cwd }), ...(search === null ? {} : { searchTerm: search }) };
    yield* this.#pages<Thread>("thread/list", params, limit, THREADS_A_PAGE);
  }

  /** Without its turns; null when there is no such thread. */
  async read(threadId: string): Promise<Thread | null> {
    try {
      return (await this.#rpc.request<{ thread: Thread }>("thread/read", { threadId })).thread;
    } catch (error) {
      if (error instanceof RpcError) return null;
      throw error;
    }
  }

  /** Newest first. */
  async *turns(threadId: string, limit: number): AsyncGenerator<Turn> {
    let isEmpty = true;
    for await (const turn of this.#pages<Turn>("thread/turns/list", { threadId, sortDirection: "desc", itemsView: "full" }, limit, TURNS_A_PAGE)) {
      isEmpty = false;
      yield turn;
    }
    if (isEmpty) yield* await this.#turnsOfOldKind(threadId, limit);
  }

  /**
   * Codex 0.171 has no pages of a session whose `historyMode` is not "paginated", but gives it whole. To open such a
   * thread instead would change its file.
   */
  async #turnsOfOldKind(threadId: string, limit: number): Promise<Turn[]> {
    try {
      const { thread } = await this.#rpc.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: true });
      return thread.turns.slice(-limit).reverse();
    } catch (error) {
      if (error instanceof RpcError) return [];
      throw error;
    }
  }

  async archive(threadId: string): Promise<void> {
    await this.#rpc.request("thread/archive", { threadId });
  }

  async unarchive(threadId: string): Promise<void> {
    await this.#rpc.request("thread/unarchive", { threadId });
  }

  async rename(threadId: string, name: string): Promise<void> {
    await this.#rpc.request("thread/name/set", { threadId, name });
  }

  close(): void {
    this.#rpc.close();
  }

  async *#pages<T>(method: string, params: object, limit: number, pageSize: number): AsyncGenerator<T> {
    let cursor: string | null = null;
    let left = limit;
    do {
      const page: Page<T> = await this.#rpc.request<Page<T>>(method, { ...params, cursor, limit: Math.min(left, pageSize) });
      yield* page.data.slice(0, left);
      left -= page.data.length;
      cursor = page.data.length === 0 ? null : page.nextCursor;
    } while (cursor !== null && left > 0);
  }
}
