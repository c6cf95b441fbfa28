import type { ConnectionState } from "./port.ts";
import type { PlatformLog, Redactor } from "./redact.ts";
import type { SdkWsClient, SdkWsOptions } from "./sdk.ts";

export interface ConnectionOptions {
  /** Makes a client that is not started. */
  readonly makeClient: (callbacks: Pick<SdkWsOptions, "onReady" | "onError" | "onReconnecting" | "onReconnected">) => SdkWsClient;
  readonly dispatch: { invoke(body: unknown): Promise<unknown> };
  readonly log: PlatformLog;
  readonly redactor: Redactor;
  /** First and longest pause after the SDK gave up. */
  readonly retryFromMs: number;
  readonly retryToMs: number;
  /** How often the client's own state is looked at, and how long it may be neither connected nor trying. */
  readonly watchMs: number;
  readonly stuckMs: number;
}

/**
 * Keeps one long connection alive for as long as it is wanted. The SDK reconnects by itself after an ordinary loss, but
 * gives up for good on several answers of the server (too many connections, wrong secret, "busy"), and there are races
 * in which it stands still without a socket: then this makes a new client, with growing pauses.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = { state: "closed", reason: null, connectedSinceMs: null, nextTryAtMs: null, connections: 0 };
  #client: SdkWsClient | null = null;
  #retry: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #failures = 0;
  #lastAliveMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  onChange(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  open(): void {
    if (this.#state.state !== "closed") return;
    this.#connect();
    this.#watch = setInterval(() => this.#lookAtClient(), this.#options.watchMs);
    this.#watch.unref();
  }

  close(): void {
    clearTimeout(this.#retry);
    clearInterval(this.#watch);
    this.#drop();
    this.#become({ state: "closed", reason: null, connectedSinceMs: null, nextTryAtMs: null });
  }

  #connect(): void {
    this.#become({ state: "connecting", connectedSinceMs: null, nextTryAtMs: null });
    this.#lastAliveMs = Date.now();
    const current = (act: () => void) => (): void => {
      // Callbacks of a client that was replaced come late and mean nothing.
      if (this.#client === client) act();
    };
    const client = this.#options.makeClient({
      onReady: current(() => this.#connected()),
      onReconnected: current(() => this.#connected()),
      onReconnecting: current(() => this.#become({ state: "waiting", reason: "the connection was lost", connectedSinceMs: null, nextTryAtMs: null })),
      onError: (error) => {
        if (this.#client === client) this.#replace(this.#options.redactor.describe(error));
      },
    });
    this.#client = client;
    client.start({ eventDispatcher: this.#options.dispatch }).catch((error: unknown) => {
      if (this.#client === client) this.#replace(this.#options.redactor.describe(error));
    });
  }

  #connected(): void {
    this.#failures = 0;
    this.#lastAliveMs = Date.now();
    this.#become({ state: "connected", reason: null, connectedSinceMs: Date.now(), nextTryAtMs: null, connections: this.#state.connections + 1 });
  }

  #replace(reason: string): void {
    this.#drop();
    const { retryFromMs, retryToMs } = this.#options;
    // A random part keeps several processes from knocking at the same moment.
    const pause = Math.min(retryToMs, retryFromMs * 2 ** this.#failures) * (0.75 + Math.random() / 2);
    this.#failures += 1;
    this.#options.log.warn(`no connection to Feishu: ${reason}; next try in ${Math.ceil(pause / 1_000)} s`);
    this.#become({ state: "waiting", reason, connectedSinceMs: null, nextTryAtMs: Date.now() + pause });
    this.#retry = setTimeout(() => this.#connect(), pause);
  }

  #lookAtClient(): void {
    if (this.#client === null) return;
    const { state, nextConnectTime } = this.#client.getConnectionStatus();
    const now = Date.now();
    const waitsUntil = state === "reconnecting" || state === "connecting" ? (nextConnectTime ?? 0) : 0;
    if (state === "connected") this.#lastAliveMs = now;
    else if (now - Math.max(this.#lastAliveMs, waitsUntil) > this.#options.stuckMs) this.#replace(`the connection stands still (${state})`);
  }

  #drop(): void {
    const client = this.#client;
    this.#client = null;
    client?.close({ force: true });
  }

  #become(change: Partial<ConnectionState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    if (before.state === this.#state.state && before.reason === this.#state.reason) return;
    for (const listener of [...this.#listeners]) listener(this.#state);
  }
}
