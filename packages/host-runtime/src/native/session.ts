import { randomBytes } from "node:crypto";
import { ErrorCode, isJsonObject, WireError } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";
import type { Connection } from "../rpc/connection.ts";
import { Frame } from "../rpc/frame.ts";
import { answeredKey, idKey } from "./envelope.ts";
import { membersOf } from "./json-bytes.ts";
import type { Span } from "./json-bytes.ts";
import type { Link } from "./link.ts";
import type { NativeUpstream } from "./upstream.ts";

/** Bytes that may wait for one side before the other is no longer read; what waits then waits where it comes from. */
const ENOUGH_BYTES = 8 * 1024 * 1024;
const LITTLE_BYTES = 1024 * 1024;

/** A start and a long list have ended by then; what has not will not, and whoever waits for both of us gets our part. */
const ANSWER_MS = 25_000;

/** Measured: a request whose id is neither a text nor an integer is never answered. Nobody waits for it. */
const ANSWERED_ID = /^(?:"|-?\d+$)/;

/** Sees an answer before the client does, and gives what that gets. */
export type OnAnswer = (answer: Buffer) => Buffer;

/** A request of the client's that is with the real server. */
interface InFlight {
  /** Its id as it is written. */
  idText: string;
  onAnswer: OnAnswer | null;
}

interface Ask {
  resolve(answer: Buffer): void;
  reject(error: Error): void;
}

export interface SessionEvents {
  /** A request or notification of the real server as this client gets it; null = not at all. */
  incoming(frame: Buffer): Buffer | null;
  /** The link is over, by whatever cause; all that was open has been answered. */
  lost(): void;
}

/** The real server is not there, or went away in the middle. Nothing is said about whether it had done what was asked. */
export class NativeGoneError extends WireError {
  constructor(reason: string) {
    super(ErrorCode.internal, `the Codex app-server cannot answer: ${reason}`);
    this.name = "NativeGoneError";
  }
}

/** It is there and says nothing: to ask again would be no use. */
export class NativeSilentError extends NativeGoneError {
  constructor() {
    super("it says nothing");
    this.name = "NativeSilentError";
  }
}

/**
 * One client's connection with the real server, as if there were nobody between: its own `initialize` opens it, and
 * frames go both ways in order and as they are. What foldcast itself asks there goes under ids that no client sees.
 */
export class NativeSession {
  readonly #upstream: NativeUpstream;
  readonly #connection: Connection;
  readonly #events: SessionEvents;
  readonly #log: Logger;
  readonly #prefix = `fc:${randomBytes(6).toString("hex")}:`;
  #nextAsk = 1;
  #link: Link | null = null;
  #opened = false;
  /** The link is open, and `initialize` is answered on it. */
  #ready = false;
  #hello: { frame: Buffer; key: string } | null = null;
  #initialized: Buffer | null = null;
  #onHello: ((answer: Buffer | null) => void) | null = null;
  /** For the real server, until it is ready. */
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** For the client, until its own `initialize` is answered; null afterwards. */
  #early: Buffer[] | null = [];
  readonly #inFlight = new Map<string, InFlight>();
  readonly #asks = new Map<string, Ask>();
  #isLinkPaused = false;
  #isClientPaused = false;
  #closed = false;

  constructor(options: { upstream: NativeUpstream; connection: Connection; events: SessionEvents; log: Logger }) {
    this.#upstream = options.upstream;
    this.#connection = options.connection;
    this.#events = options.events;
    this.#log = options.log;
    this.#connect();
  }

  get unanswered(): number {
    return this.#inFlight.size;
  }

  /** Sends the client's own `initialize` on. The real server's answer to it; null when it cannot be had. */
  introduce(frame: Buffer, id: Span): Promise<Buffer | null> {
    this.#hello = { frame, key: idKey(frame, id) };
    return new Promise((resolve) => {
      this.#onHello = resolve;
      this.#connect();
      if (this.#opened) this.#greet();
    });
  }

  /** The client's `initialize` is answered: what the real server had to say meanwhile may follow. */
  release(): void {
    const early = this.#early ?? [];
    this.#early = null;
    for (const frame of early) this.#toClient(frame);
  }

  /** A frame that is no request. */
  pass(frame: Buffer): void {
    this.#toUpstream(frame);
  }

  /** The notification `initialized`: said again on a link that follows a lost one. */
  passInitialized(frame: Buffer): void {
    this.#initialized = frame;
    if (this.#ready) this.#toUpstream(frame);
  }

  /** A request of the client's. */
  request(frame: Buffer, id: Span, onAnswer: OnAnswer | null = null): void {
    const idText = frame.toString("utf8", id.start, id.end);
    if (ANSWERED_ID.test(idText)) this.#inFlight.set(idKey(frame, id), { idText, onAnswer });
    this.#toUpstream(frame);
  }

  /**
   * Asks the real server something in this client's name. The result as it came; rejects with the server's own refusal, or
   * with a `NativeGoneError`, which also comes when there is no answer for long.
   */
  ask(method: string, params: object): Promise<Buffer> {
    if (this.#closed) return Promise.reject(new NativeGoneError("the connection is closed"));
    const id = `${this.#prefix}${String(this.#nextAsk++)}`;
    const key = `"${id}`;
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => {
        this.#asks.delete(key);
        reject(new NativeSilentError());
      }, ANSWER_MS);
      this.#asks.set(key, {
        resolve: (answer) => {
          clearTimeout(patience);
          const members = membersOf(answer);
          const result = members?.get("result");
          if (result !== undefined) resolve(answer.subarray(result.start, result.end));
          else reject(refusalIn(answer, members?.get("error")));
        },
        reject: (error) => {
          clearTimeout(patience);
          reject(error);
        },
      });
      this.#toUpstream(Buffer.from(JSON.stringify({ id, method, params })));
    });
  }

  /** Some of what waited for the client has left. */
  drained(): void {
    if (!this.#isLinkPaused || this.#connection.waitingBytes > LITTLE_BYTES) return;
    this.#isLinkPaused = false;
    this.#link?.resume();
  }

  close(): void {
    this.#closed = true;
    this.#link?.close();
    this.#link = null;
    this.#fail("the connection is closed");
  }

  #connect(): void {
    if (this.#closed || this.#link !== null) return;
    this.#opened = false;
    this.#ready = false;
    this.#link = this.#upstream.connect({
      opened: () => {
        this.#opened = true;
        this.#greet();
      },
      frame: (bytes) => this.#fromUpstream(bytes),
      closed: (reason) => this.#onClosed(reason),
      mayRest: () => this.#inFlight.size === 0 && this.#asks.size === 0,
    });
  }

  /** Nothing else is sent before the answer to it: the real server would refuse what overtakes it. */
  #greet(): void {
    if (this.#hello === null || this.#link === null) return;
    const { frame, key } = this.#hello;
    const settle = (answer: Buffer | null): void => {
      this.#onHello?.(answer);
      this.#onHello = null;
    };
    this.#asks.set(key, {
      resolve: (answer) => {
        settle(answer);
        this.#becomeReady();
      },
      reject: () => settle(null),
    });
    this.#link.send(frame);
  }

  #becomeReady(): void {
    this.#ready = true;
    const waiting = this.#initialized === null ? this.#queue : [this.#initialized, ...this.#queue];
    this.#queue = [];
    this.#queuedBytes = 0;
    for (const frame of waiting) this.#toUpstream(frame);
    this.#resumeClient();
  }

  #toUpstream(frame: Buffer): void {
    if (this.#closed) return;
    if (!this.#ready || this.#link === null) {
      this.#queue.push(frame);
      this.#queuedBytes += frame.length;
      this.#connect();
      if (this.#queuedBytes > ENOUGH_BYTES) this.#pauseClient();
      return;
    }
    const link = this.#link;
    link.send(frame, () => {
      if (link.waiting < LITTLE_BYTES) this.#resumeClient();
    });
    if (link.waiting > ENOUGH_BYTES) this.#pauseClient();
  }

  #fromUpstream(frame: Buffer): void {
    const key = answeredKey(frame);
    if (key === null) {
      const shown = this.#events.incoming(frame);
      if (shown !== null) this.#toClient(shown);
      return;
    }
    const ask = this.#asks.get(key);
    if (ask !== undefined) {
      this.#asks.delete(key);
      return ask.resolve(frame);
    }
    // Nobody waits for it any more.
    if (key.startsWith(`"${this.#prefix}`)) return;
    const request = this.#inFlight.get(key);
    this.#inFlight.delete(key);
    this.#toClient(request?.onAnswer?.(frame) ?? frame);
    if (request !== undefined) this.#connection.answered();
  }

  #toClient(frame: Buffer): void {
    if (this.#early !== null) return void this.#early.push(frame);
    this.#connection.send(new Frame(frame));
    // A client that reads slowly is cut off by the real server itself then, as it would be without us.
    if (this.#isLinkPaused || this.#connection.waitingBytes < ENOUGH_BYTES) return;
    this.#isLinkPaused = true;
    this.#link?.pause();
  }

  #onClosed(reason: string): void {
    const wasOpen = this.#opened;
    this.#link = null;
    this.#ready = false;
    this.#opened = false;
    this.#isLinkPaused = false;
    this.#log.debug("a connection to the Codex app-server is over", { reason });
    this.#fail(reason);
    this.#events.lost();
    // What it tells all clients should reach this one too, once it is there again.
    if (wasOpen && this.#hello !== null) this.#connect();
  }

  #fail(reason: string): void {
    const { body } = new NativeGoneError(reason);
    const requests = [...this.#inFlight.values()];
    const asks = [...this.#asks.values()];
    this.#inFlight.clear();
    this.#asks.clear();
    this.#queue = [];
    this.#queuedBytes = 0;
    for (const { idText } of requests) this.#connection.send(new Frame(`{"error":${JSON.stringify(body)},"id":${idText}}`));
    for (const ask of asks) ask.reject(new NativeGoneError(reason));
    this.#onHello?.(null);
    this.#onHello = null;
    this.#resumeClient();
    if (requests.length > 0) this.#connection.answered();
  }

  #pauseClient(): void {
    if (this.#isClientPaused) return;
    this.#isClientPaused = true;
    this.#connection.pause();
  }

  #resumeClient(): void {
    if (!this.#isClientPaused) return;
    this.#isClientPaused = false;
    this.#connection.resume();
  }
}

function refusalIn(answer: Buffer, error: Span | undefined): WireError {
  let body: unknown = null;
  try {
    body = error === undefined ? null : JSON.parse(answer.toString("utf8", error.start, error.end));
  } catch {
    // Told as what it is: an answer that says nothing.
  }
  if (!isJsonObject(body) || typeof body["code"] !== "number" || typeof body["message"] !== "string") {
    return new WireError(ErrorCode.internal, "the Codex app-server gave no readable answer");
  }
  return new WireError(body["code"], body["message"], body["data"]);
}
