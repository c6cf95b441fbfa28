import { JSONRPCClient, type JSONRPCResponse } from "json-rpc-2.0";
import { parseFrame, type RequestId } from "@foldcast/protocol-core/wire";
import { FrameRecorder } from "./recording.ts";
import type { Transport } from "./transport.ts";
import { until } from "./wait.ts";

export interface ReceivedNotification {
  method: string;
  params: Record<string, unknown>;
}
export interface ReceivedRequest extends ReceivedNotification {
  id: RequestId;
}

/** An error answer of the server. */
export class RpcFault extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.name = "RpcFault";
    this.code = code;
    this.data = data;
  }
}

export interface WireClientOptions {
  /** Names the recording. */
  label?: string;
  /** Makes request ids; integers from 1 by default. */
  nextId?: () => string | number;
  requestTimeoutMs?: number;
  /** False for a connection to a program that is not ours: its frames are not ours to judge. Default true. */
  record?: boolean;
}

/**
 * A client that knows the framing and nothing else. Everything that goes over its connection is recorded and judged
 * against the real program's schema (see `recording.ts`). Use it with `await using`.
 */
export class WireClient implements AsyncDisposable {
  /** Everything received since the start, oldest first. */
  readonly notifications: ReceivedNotification[] = [];
  readonly requests: ReceivedRequest[] = [];
  /** Why the connection ended; null while it is open. */
  closed: string | null = null;
  readonly #transport: Transport;
  readonly #rpc: JSONRPCClient;
  readonly #recorder: FrameRecorder | null;
  readonly #listeners = new Set<(frame: ReceivedNotification | ReceivedRequest) => void>();
  readonly #timeoutMs: number;

  constructor(transport: Transport, options: WireClientOptions = {}) {
    this.#transport = transport;
    this.#recorder = options.record === false ? null : FrameRecorder.forTest(options.label ?? "client");
    this.#timeoutMs = options.requestTimeoutMs ?? 60_000;
    this.#rpc = new JSONRPCClient((payload: object) => {
      // The real clients send no `jsonrpc` member.
      this.send(Object.fromEntries(Object.entries(payload).filter(([name]) => name !== "jsonrpc")));
    }, options.nextId);
    transport.listen((text) => this.#receive(text), (why) => {
      this.closed = why;
      this.#recorder?.flush();
      this.#rpc.rejectAllPendingRequests(why);
    });
  }

  /** Sends one frame as it stands. */
  send(frame: object): void {
    this.#recorder?.record("c2s", frame);
    this.#transport.send(JSON.stringify(frame));
  }

  /** Sends one text as it stands, for frames that no client should send. */
  sendText(text: string): void {
    this.#transport.send(text);
  }

  /** Resolves with the result; rejects with an `RpcFault`, or when the connection ends or nothing comes in time. */
  async request<T = Record<string, unknown>>(method: string, params?: unknown): Promise<T> {
    if (this.closed !== null) throw new Error(this.closed);
    try {
      return (await this.#rpc.timeout(this.#timeoutMs).request(method, params)) as T;
    } catch (error) {
      const { code, data } = error as { code?: number; data?: unknown };
      if (code === undefined) throw error;
      throw new RpcFault(code, (error as Error).message, data);
    }
  }

  notify(method: string, params?: unknown): void {
    this.send(params === undefined ? { method } : { method, params });
  }

  /** Answers a request of the server. */
  respond(id: RequestId, result: unknown): void {
    this.send({ id, result });
  }

  /** Calls `listener` for each later notification and server request. Returns the way to stop. */
  on(listener: (frame: ReceivedNotification | ReceivedRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The first notification of this method that passes `test`, already received or still to come. */
  waitFor(method: string, test: (params: Record<string, unknown>) => boolean = () => true, timeoutMs = 60_000): Promise<Record<string, unknown>> {
    return until(method, () => this.notifications.find((frame) => frame.method === method && test(frame.params))?.params, {
      timeoutMs,
      everyMs: 5,
      describe: () => `received: ${this.notifications.slice(-30).map((frame) => frame.method).join(", ")}; ${this.closed ?? "open"}`,
    });
  }

  async close(): Promise<void> {
    await this.#transport.close();
    this.#recorder?.flush();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #receive(text: string): void {
    const frame = parseFrame(text);
    if (frame.kind === "ignored") {
      this.#recorder?.record("s2c", text);
      return;
    }
    this.#recorder?.record("s2c", JSON.parse(text));
    if (frame.kind === "response" || frame.kind === "error") {
      this.#rpc.receive({ ...(JSON.parse(text) as JSONRPCResponse), jsonrpc: "2.0" });
      return;
    }
    const received = { method: frame.method, params: (frame.params ?? {}) as Record<string, unknown> };
    if (frame.kind === "request") this.requests.push({ ...received, id: frame.id });
    else this.notifications.push(received);
    for (const listener of this.#listeners) listener(frame.kind === "request" ? { ...received, id: frame.id } : received);
  }
}
