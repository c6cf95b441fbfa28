import { type ClientTransport, RpcClient } from "@foldcast/protocol-core/client";
import type { RequestId } from "@foldcast/protocol-core/wire";

export interface HostClientOptions {
  /** Opens a link to the server; rejects with words for the log. */
  readonly connect: () => Promise<ClientTransport>;
  readonly version: string;
  /** People who may answer whatever is asked, besides whoever started the turn. */
  readonly approvers: readonly string[];
  /** Called after each (re)connection, before anything else is sent. */
  readonly onConnected: () => Promise<void>;
  readonly onNotification: (method: string, params: unknown) => void;
  readonly onRequest: (id: RequestId, method: string, params: unknown) => void;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 15_000;
export const CHANNEL = "feishu";

/** The channel's connection to the server: a client like any other, which comes back by itself. */
export class HostClient {
  readonly #options: HostClientOptions;
  #rpc: RpcClient | null = null;
  #closed = false;
  #waiters: (() => void)[] = [];

  constructor(options: HostClientOptions) {
    this.#options = options;
  }

  /** Resolves with the first connection, rejects when that one fails; later ones are retried for ever. */
  async start(): Promise<void> {
    await this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#rpc?.close();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Waits for a connection, then asks. Rejects with the server's words, or when the connection ends meanwhile. `read` as in `RpcClient`. */
  async request<T, R = T>(method: string, params: object, read?: (result: T) => R): Promise<R> {
    while (this.#rpc === null && !this.#closed) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    if (this.#rpc === null) throw new Error("the channel is closed");
    return this.#rpc.request<T, R>(method, params, read);
  }

  /** False: there is no connection, and the answer did not leave. */
  respond(id: RequestId, result: object): boolean {
    if (this.#rpc === null) return false;
    this.#rpc.respond(id, result);
    return true;
  }

  refuse(id: RequestId, message: string): void {
    this.#rpc?.refuse(id, -32601, message);
  }

  async #open(): Promise<void> {
    const { connect, version, approvers, onConnected, onNotification, onRequest } = this.#options;
    const rpc = new RpcClient(await connect(), {
      notification: ({ method, params }) => onNotification(method, params),
      request: ({ id, method, params }) => onRequest(id, method, params),
      closed: (reason) => void this.#lost(reason),
    });
    await rpc.request("initialize", {
      clientInfo: { name: "foldcast-feishu", title: "foldcast Feishu", version },
      capabilities: { experimentalApi: true, extensions: { foldcast: { detail: true, interaction: true, channel: { name: CHANNEL, approvers } } } },
    });
    rpc.notify("initialized");
    this.#rpc = rpc;
    for (const wake of this.#waiters.splice(0)) wake();
    await onConnected();
  }

  async #lost(reason: string): Promise<void> {
    if (this.#rpc === null) return;
    this.#rpc = null;
    const { sleep, log } = this.#options;
    if (!this.#closed) log("the server is gone", { reason });
    for (let wait = FIRST_RETRY_MS; !this.#isClosed(); wait = Math.min(wait * 2, LAST_RETRY_MS)) {
      await sleep(wait);
      if (this.#isClosed()) return;
      try {
        await this.#open();
        log("the server is back", {});
        return;
      } catch (error) {
        this.#rpc = null;
        log("the server cannot be reached", { reason: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  #isClosed(): boolean {
    return this.#closed;
  }
}
