import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { openLink } from "../link.ts";
import type { Link, LinkEvents } from "../link.ts";
import type { NativeUpstream } from "../upstream.ts";

type Frame = Readonly<Record<string, unknown>>;
/** The answer to a request; an `Error` refuses it, `undefined` leaves it open. */
export type Responder = (params: Readonly<Record<string, unknown>>, link: FakeLink) => unknown;

/** The far end of one client's connection. */
export interface FakeLink {
  /** All frames that came, as they came. */
  readonly received: Buffer[];
  send(frame: Buffer | object): void;
}

export const FAKE_HOME = "/home/native/.codex";

/**
 * A stand-in for the real app-server, on a real unix socket: it answers what it was told to, keeps what it got, and can be
 * ended and started like a program.
 */
export class FakeUpstream implements NativeUpstream {
  readonly links: FakeLink[] = [];
  readonly #responders = new Map<string, Responder>();
  readonly #dir = mkdtempSync(join(tmpdir(), "foldcast-fake-"));
  readonly #sockets = new Set<WebSocket>();
  #server: Server | null = null;
  #up: Promise<string> | null = null;
  /** Sees every frame before the responders; true = that was all. */
  onFrame: ((frame: Buffer, link: FakeLink) => boolean) | null = null;

  constructor() {
    this.on("initialize", () => ({ userAgent: "native/9.9.9", codexHome: FAKE_HOME, platformFamily: "unix", platformOs: "linux" }));
  }

  on(method: string, responder: Responder): this {
    this.#responders.set(method, responder);
    return this;
  }

  get isUp(): boolean {
    return this.#server?.listening === true;
  }

  start(): void {
    this.#up ??= this.#listen();
  }

  connect(events: LinkEvents): Link {
    return openLink(this.#up ?? Promise.reject(new Error("Codex cannot be started: it is off")), events);
  }

  async ready(): Promise<void> {
    await this.#up;
  }

  /** Ends it as a kill would. */
  async kill(): Promise<void> {
    this.#up = null;
    for (const socket of this.#sockets) socket.terminate();
    const server = this.#server;
    this.#server = null;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** The parsed frames of a method that all clients together sent. */
  requests(method: string): Frame[] {
    return this.links.flatMap(({ received }) => received).flatMap((bytes) => {
      const frame = parsed(bytes);
      return frame?.["method"] === method ? [frame] : [];
    });
  }

  /** To every client. */
  broadcast(method: string, params: object): void {
    for (const link of this.links) link.send({ method, params, emittedAtMs: 1 });
  }

  async #listen(): Promise<string> {
    const path = join(this.#dir, "s");
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 1 << 28 });
    const server = createServer();
    this.#server = server;
    server.on("upgrade", (request, raw, head) => sockets.handleUpgrade(request, raw, head, (socket) => this.#accept(socket)));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return path;
  }

  #accept(socket: WebSocket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.terminate());
    const link: FakeLink = {
      received: [],
      send: (frame) => socket.send(Buffer.isBuffer(frame) ? frame : JSON.stringify(frame), { binary: false }),
    };
    this.links.push(link);
    socket.on("message", (data) => {
      const bytes = data as Buffer;
      link.received.push(bytes);
      if (this.onFrame?.(bytes, link) !== true) this.#answer(bytes, link);
    });
  }

  #answer(bytes: Buffer, link: FakeLink): void {
    const frame = parsed(bytes);
    if (frame === null || !("id" in frame) || typeof frame["method"] !== "string") return;
    const responder = this.#responders.get(frame["method"]);
    if (responder === undefined) return link.send({ id: frame["id"], error: { code: -32600, message: `Invalid request: unknown variant \`${frame["method"]}\`` } });
    const { params } = frame;
    const result = responder(isJsonObject(params) ? params : {}, link);
    if (result instanceof Error) link.send({ id: frame["id"], error: { code: -32600, message: result.message } });
    else if (result !== undefined) link.send({ id: frame["id"], result });
  }
}

function parsed(bytes: Buffer): Frame | null {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
