import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { closeFrame, FrameError, FrameReader, pongFrame, textFrame } from "./text-frames.ts";

/** Of RFC 6455: a server shows with it that it understood the request. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const MAX_HEAD_BYTES = 16 * 1024;
const END_OF_HEAD = "\r\n\r\n";

/** Takes what comes when it is over: the reader has no room after an error, and what is thrown into the socket ends the process. */
const UNREAD = Buffer.alloc(4 * 1024);

/** So many pieces, each sooner after the last than this and nothing said between them, are a burst. */
const BURST_PIECES = 8;
const BURST_MS = 2;
/** In a burst it is read once in so long, where nobody waits for it. */
const REST_MS = 1;

export interface FrameSocketEvents {
  opened(): void;
  /** A text frame. Its bytes are nobody else's. */
  frame(bytes: Buffer): void;
  /** It is over, or never came about. Once. */
  closed(reason: string): void;
  /** Whether what comes next may wait for a moment. */
  mayRest(): boolean;
}

/**
 * The client's side of a WebSocket over a unix socket, for text frames without extensions. Its own and no library's, since
 * every frame between clients and the real server passes here, and no library lets its reader wait: what a fast stream
 * costs is the system calls and the wakening of the next reader, so in a burst what has gathered is read once a millisecond.
 */
export class FrameSocket {
  readonly #socket: Socket;
  readonly #events: FrameSocketEvents;
  readonly #reader: FrameReader;
  readonly #key = randomBytes(16).toString("base64");
  #head: Buffer | null = Buffer.alloc(0);
  #isPaused = false;
  #resting: NodeJS.Timeout | null = null;
  #readAt = -Infinity;
  #pieces = 0;
  #over = false;

  constructor(path: string, maxBytes: number, events: FrameSocketEvents) {
    this.#events = events;
    this.#reader = new FrameReader(maxBytes, {
      text: (bytes) => {
        if (!this.#over) events.frame(bytes);
      },
      ping: (bytes) => void this.#socket.write(pongFrame(bytes)),
      close: () => {
        this.#socket.end(closeFrame());
        this.#end("the Codex app-server has closed the connection");
      },
    });
    this.#socket = connect({ path, onread: { buffer: () => (this.#over ? UNREAD : this.#reader.room()), callback: (count, room) => this.#took(Buffer.from(room.buffer, room.byteOffset, count)) } });
    this.#socket.once("connect", () => this.#socket.write(
      `GET /rpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${this.#key}${END_OF_HEAD}`,
    ));
    this.#socket.on("error", (error) => this.#end(error.message));
    this.#socket.on("close", () => this.#end("the Codex app-server has closed the connection"));
  }

  get isOpen(): boolean {
    return this.#head === null && !this.#over;
  }

  get waiting(): number {
    return this.#socket.writableLength;
  }

  send(bytes: Buffer, sent: () => void): void {
    const [first, second] = textFrame(bytes);
    // Whoever says something may wait for what is said to it.
    this.#pieces = 0;
    this.#wake();
    if (second === undefined) return void this.#socket.write(first, sent);
    this.#socket.cork();
    this.#socket.write(first);
    this.#socket.write(second, sent);
    this.#socket.uncork();
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** At once; nothing is said any more. */
  close(): void {
    this.#over = true;
    this.#stopResting();
    this.#socket.destroy();
  }

  /** `bytes` stand in the reader's room. False = read no more for now. */
  #took(bytes: Buffer): boolean {
    if (this.#over) return true;
    try {
      if (this.#head === null) this.#reader.took(bytes.length);
      else this.#takeHead(this.#head, bytes);
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
      this.#socket.destroy();
    }
    return !this.#isPaused && !this.#rests();
  }

  #takeHead(before: Buffer, bytes: Buffer): void {
    const head = Buffer.concat([before, bytes]);
    const end = head.indexOf(END_OF_HEAD);
    if (end === -1) {
      if (head.length > MAX_HEAD_BYTES) throw new FrameError("it does not answer as a WebSocket");
      this.#head = head;
      return;
    }
    const answer = head.toString("latin1", 0, end);
    const accept = createHash("sha1").update(this.#key + ACCEPT_SUFFIX).digest("base64");
    if (!answer.startsWith("HTTP/1.1 101 ") || /^sec-websocket-accept:[ \t]*(\S+)/im.exec(answer)?.[1] !== accept) {
      throw new FrameError(`it refuses the connection: ${answer.slice(0, 200).split("\r\n")[0]!}`);
    }
    this.#head = null;
    this.#events.opened();
    const rest = head.subarray(end + END_OF_HEAD.length);
    rest.copy(this.#reader.room());
    this.#reader.took(rest.length);
  }

  #rests(): boolean {
    const now = performance.now();
    this.#pieces = now - this.#readAt < BURST_MS ? this.#pieces + 1 : 0;
    this.#readAt = now;
    if (this.#pieces < BURST_PIECES || this.#over || !this.#events.mayRest()) return false;
    this.#resting = setTimeout(() => this.#wake(), REST_MS);
    return true;
  }

  #wake(): void {
    if (this.#resting === null) return;
    this.#stopResting();
    if (!this.#isPaused) this.#socket.resume();
  }

  #stopResting(): void {
    if (this.#resting !== null) clearTimeout(this.#resting);
    this.#resting = null;
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopResting();
    this.#events.closed(reason);
  }
}
