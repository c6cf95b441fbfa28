import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { VirtualClock } from "../clock.ts";
import { isJson } from "../refusal.ts";
import { decodeFrame, encodeFrame, headerOf, type Frame } from "./frame-codec.ts";

/** Seconds, as the server tells them to its clients. */
export interface ClientConfig {
  readonly PingInterval: number;
  readonly ReconnectCount: number;
  readonly ReconnectInterval: number;
  readonly ReconnectNonce: number;
}

/** The answer of a client to a pushed frame: its own code (200, or 500 when its handler failed) and result. */
export interface ClientAnswer {
  readonly code: number;
  readonly result: unknown;
}

interface Socket {
  readonly ws: WebSocket;
  readonly appId: string;
  /** A client that has not pinged yet may not listen yet either: what is for it waits here. Null once it has. */
  backlog: Uint8Array[] | null;
  /** Takes everything and answers nothing, as a half-open link does. */
  silent: boolean;
}

/** How long a client may take to answer a pushed frame, unless a fake is told otherwise. */
export const defaultAnswerMs = 3_000;
const maxSockets = 50;

/**
 * What became of a pushed frame: the client's answer in time; no connection; not answered in time by a client that had
 * it (`late`); or lost on the way, by a cut or silent socket or a jump of the clock, which is no fault of the client.
 */
export type PushOutcome = ClientAnswer | "noConnection" | "late" | "lost";

/** The long connection's server side: discovery, sockets, pings, pushing frames and matching their answers. */
export class LongConnection {
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sockets = new Set<Socket>();
  readonly #waiting = new Map<string, (answer: ClientAnswer) => void>();
  readonly #clock: VirtualClock;
  readonly #config: ClientConfig;
  readonly #fragmentBytes: number;
  readonly #onReady: (appId: string) => void;
  #count = 0;
  #turn = 0;
  pings = 0;
  readonly answerMs: number;

  constructor(parts: { readonly clock: VirtualClock; readonly config: ClientConfig; readonly fragmentBytes: number; readonly answerMs: number; readonly onReady: (appId: string) => void }) {
    this.#clock = parts.clock;
    this.#config = parts.config;
    this.#fragmentBytes = parts.fragmentBytes;
    this.answerMs = parts.answerMs;
    this.#onReady = parts.onReady;
  }

  get clientConfig(): ClientConfig {
    return this.#config;
  }

  /** The address for one connection; discovery hands it out. Null when the app has all the connections it may have. */
  address(host: string, appId: string): string | null {
    if (this.#of(appId).length >= maxSockets) return null;
    this.#count += 1;
    return `ws://${host}/ws/v2?fpid=493&aid=552564&device_id=${this.#count}&access_key=key${this.#count}secret&service_id=1&ticket=ticket-${this.#count}-of-${appId}`;
  }

  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const appId = new URL(request.url ?? "/", "ws://localhost").searchParams.get("ticket")?.replace(/^ticket-\d+-of-/, "");
    if (appId === undefined) return void stream.destroy();
    this.#server.handleUpgrade(request, stream, head, (ws) => {
      const socket: Socket = { ws, appId, backlog: [], silent: false };
      this.#sockets.add(socket);
      ws.on("message", (data: Buffer) => this.#receive(socket, data));
      ws.on("error", () => undefined);
      ws.on("close", () => this.#sockets.delete(socket));
    });
  }

  connected(appId: string): number {
    return this.#of(appId).length;
  }

  /** Pushes a frame to one of the app's connections, the next in turn. */
  async push(appId: string, type: "event" | "card", body: unknown): Promise<PushOutcome> {
    const sockets = this.#of(appId);
    const socket = sockets[this.#turn % Math.max(1, sockets.length)];
    if (socket === undefined) return "noConnection";
    this.#turn += 1;
    this.#count += 1;
    const messageId = `frame-${this.#count}`;
    this.#send(socket, type, messageId, body);
    const start = performance.now();
    return new Promise((resolve) => {
      const settle = (outcome: PushOutcome): void => {
        this.#waiting.delete(messageId);
        cancel();
        resolve(outcome);
      };
      const cancel = this.#clock.after(this.answerMs, () => {
        const jumped = performance.now() - start < this.answerMs * 0.9;
        settle(jumped || socket.silent || !this.#sockets.has(socket) ? "lost" : "late");
      });
      this.#waiting.set(messageId, settle);
    });
  }

  /** Cuts the sockets as a restarting gateway does. */
  closeAll(): void {
    for (const { ws } of this.#sockets) ws.terminate();
  }

  /** Existing sockets stay open and say nothing any more; new ones are not touched. */
  silenceAll(): void {
    for (const socket of this.#sockets) socket.silent = true;
  }

  stop(): void {
    this.closeAll();
    this.#server.close();
  }

  #of(appId: string): Socket[] {
    return [...this.#sockets].filter((socket) => socket.appId === appId);
  }

  #receive(socket: Socket, data: Buffer): void {
    if (socket.silent) return;
    const frame = decodeFrame(data);
    if (frame.method === 0) {
      if (headerOf(frame, "type") !== "ping") return;
      this.pings += 1;
      socket.ws.send(encodeFrame({ ...frame, headers: [{ key: "type", value: "pong" }], payload: Buffer.from(JSON.stringify(this.#config)) }));
      const backlog = socket.backlog;
      if (backlog === null) return;
      socket.backlog = null;
      for (const waiting of backlog) socket.ws.send(waiting);
      this.#onReady(socket.appId);
      return;
    }
    this.#waiting.get(headerOf(frame, "message_id") ?? "")?.(readAnswer(frame));
  }

  #send(socket: Socket, type: string, messageId: string, body: unknown): void {
    if (socket.silent) return;
    const payload = Buffer.from(JSON.stringify(body));
    const sum = Math.max(1, Math.ceil(payload.length / this.#fragmentBytes));
    for (let seq = 0; seq < sum; seq += 1) {
      const headers = Object.entries({ type, message_id: messageId, trace_id: `trace-${messageId}`, sum: String(sum), seq: String(seq), timestamp: String(this.#clock.now()) });
      const part = payload.subarray(seq * this.#fragmentBytes, (seq + 1) * this.#fragmentBytes);
      const frame = encodeFrame({ SeqID: 0, LogID: 0, service: 1, method: 1, headers: headers.map(([key, value]) => ({ key, value })), payload: part });
      if (socket.backlog === null) socket.ws.send(frame);
      else socket.backlog.push(frame);
    }
  }
}

function readAnswer(frame: Frame): ClientAnswer {
  try {
    const answer: unknown = JSON.parse(Buffer.from(frame.payload).toString("utf8"));
    if (!isJson(answer)) return { code: 0, result: null };
    const { code, data } = answer;
    return { code: typeof code === "number" ? code : 0, result: typeof data === "string" ? (JSON.parse(Buffer.from(data, "base64").toString("utf8")) as unknown) : null };
  } catch {
    return { code: 0, result: null };
  }
}
