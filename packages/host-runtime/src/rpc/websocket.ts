import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Socket } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { refuseOrigin, refusePlainRequest, refuseToken } from "./auth.ts";
import type { Refusal } from "./auth.ts";
import type { Peer, Transport } from "./connection.ts";
import { writeFrames } from "./frame-writer.ts";
import type { Framing } from "./frame-writer.ts";
import type { Frame } from "./frame.ts";
import { MAX_FRAME_BYTES } from "./stdio.ts";

/** Desktop pings every 10 seconds and gives up after a minute; a server can take its time. */
const HEARTBEAT_MS = 30_000;

const WHOLE_TEXT = 0x81;

/** Text frames of a server, which carry no mask. */
const TEXT_FRAMES: Framing = {
  size: (length) => (length < 126 ? 2 : length < 65_536 ? 4 : 10),
  before(target, at, length) {
    target[at] = WHOLE_TEXT;
    if (length < 126) return target.writeUInt8(length, at + 1);
    if (length < 65_536) return target.writeUInt16BE(length, target.writeUInt8(126, at + 1));
    return target.writeBigUInt64BE(BigInt(length), target.writeUInt8(127, at + 1));
  },
  behind: (_target, at) => at,
};

class WebSocketTransport implements Transport {
  readonly #socket: WebSocket;
  readonly #raw: Duplex;
  /** Bytes that had come from the peer at its last ping; -1 where it has had none, or since then nothing may have been read. */
  #readBefore = -1;

  constructor(socket: WebSocket, raw: Duplex) {
    this.#socket = socket;
    this.#raw = raw;
  }

  write(frames: readonly Frame[], taken: () => void): void {
    // Behind a closing handshake there must be nothing.
    if (this.#socket.readyState === WebSocket.OPEN) writeFrames(this.#raw, frames, TEXT_FRAMES, taken);
    else process.nextTick(taken);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#readBefore = -1;
    this.#socket.resume();
  }

  /** Ends a peer of which nothing has come since the last ping, and pings every other one: in the middle of a long frame it cannot answer. */
  beat(): void {
    // Nothing is read from one that is behind with its answers, not even that it is there.
    if (this.#socket.isPaused) return;
    const read = this.#raw instanceof Socket ? this.#raw.bytesRead : NaN;
    if (read === this.#readBefore) return this.terminate();
    this.#readBefore = read;
    this.#socket.ping();
  }
}

export interface WebSocketOptions {
  /** Takes a client on; `url` is what it asked for, `/rpc?model=…`. */
  connect: (transport: Transport, url: string) => Peer;
  /** Bearer token that clients must show; null = none. */
  token: string | null;
  /** A peer of which nothing comes from one ping to the next, so many milliseconds apart, is gone. 30 seconds by default. */
  heartbeatMs?: number;
}

/** An HTTP server that upgrades every path, and answers `/readyz` and `/healthz`. Not yet listening. */
export class WebSocketHost {
  readonly server: Server;
  // One message a turn of the event loop from each client: one that floods does not keep the others waiting.
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES, allowSynchronousEvents: false });
  readonly #options: WebSocketOptions;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #clients = new Set<WebSocketTransport>();

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.server = createServer((request, response) => this.#plain(request, response));
    this.server.on("upgrade", (request: IncomingMessage, raw: Duplex, head: Buffer) => this.#upgrade(request, raw, head));
    // A peer that vanished without closing says nothing for a whole period: its place is freed.
    this.#heartbeat = setInterval(() => {
      for (const client of this.#clients) client.beat();
    }, options.heartbeatMs ?? HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** Drops every client without a closing handshake, as the real server does at its end, and stops listening. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    for (const socket of this.#sockets.clients) socket.terminate();
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void {
    raw.on("error", () => raw.destroy());
    const refusal = refuseOrigin(request.headers) ?? refuseToken(request.headers, this.#options.token);
    if (refusal !== null) {
      raw.end(
        `HTTP/1.1 ${refusal.status} ${refusal.reason}\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n`
          + `content-length: ${Buffer.byteLength(refusal.body)}\r\n\r\n${refusal.body}`,
      );
      return;
    }
    this.#sockets.handleUpgrade(request, raw, head, (socket) => this.#accept(socket, raw, request.url ?? "/"));
  }

  #accept(socket: WebSocket, raw: Duplex, url: string): void {
    if (raw instanceof Socket) raw.setNoDelay(true);
    const transport = new WebSocketTransport(socket, raw);
    this.#clients.add(transport);
    const connection = this.#options.connect(transport, url);
    socket.on("message", (data, isBinary) => {
      if (!isBinary) connection.receive(data as Buffer);
    });
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      this.#clients.delete(transport);
      connection.handleClosed();
    });
  }

  #plain(request: IncomingMessage, response: ServerResponse): void {
    const healthy = request.url === "/readyz" || request.url === "/healthz";
    const refusal: Refusal | null = refuseOrigin(request.headers) ?? (healthy && request.method === "GET" ? null : refusePlainRequest(request.method));
    if (refusal === null) return void response.writeHead(200, { "content-length": 0 }).end();
    response.writeHead(refusal.status, { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(refusal.body) });
    response.end(refusal.body);
  }
}
