import { ErrorCode, parseFrame, WireError } from "@foldcast/protocol-core/wire";
import type { RequestId, WireErrorBody } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";
import { membersOf } from "../native/json-bytes.ts";
import type { ClientSession } from "./client-session.ts";
import { Frame, notificationFrame, rawResultFrame, resultFrame } from "./frame.ts";
import { RawJson } from "./raw-json.ts";
import { Reply } from "./reply.ts";

/** The byte side of a connection. No method blocks or throws. */
export interface Transport {
  /** Writes the frames in order; `taken` is called once when the system has accepted all of them, or the link broke. */
  write(frames: readonly Frame[], taken: () => void): void;
  /** Ends the link at once, without a closing handshake. */
  terminate(): void;
  /** Reads no more of what the peer sends until `resume`. */
  pause?(): void;
  resume?(): void;
}

/** What a connection asks before it serves a frame: somebody else may answer it. None of it throws. */
export interface FrameGate {
  /** True when the frame was taken; it is not served here then. */
  take(frame: Buffer): boolean;
  /** Requests of the peer that were taken and are not answered yet. */
  readonly unanswered: number;
  /** Some of what waited to be sent has left. */
  drained(): void;
  closed(): void;
}

/** What a transport drives: a connection, or what stands for one in another process. */
export type Peer = Pick<Connection, "receive" | "handleClosed">;

export interface ConnectionLimits {
  /** Bytes that may wait for a slow reader before it is cut off. */
  maxQueuedBytes: number;
  /** Requests of one connection that may be unanswered at a time (Codex 0.171 stops near 1,024). */
  maxOpenRequests: number;
}
export const DEFAULT_LIMITS: ConnectionLimits = { maxQueuedBytes: 64 * 1024 * 1024, maxOpenRequests: 1024 };

/** An answer counts for no more than this towards the limit: one big answer must not cut off who asked for it. */
const MAX_ANSWER_WEIGHT = 256 * 1024;
/** Nor does what nobody asked for count for more than this part of it: who watches long messages may be one behind. */
const MAX_FRAME_PART = 1 / 8;

/** So many bytes are written at a time. What waits beyond them are frames, which all who wait for the same share. */
const BYTES_AT_ONCE = 256 * 1024;

/** How long a peer that has ended its side still gets answers. */
const LAST_ANSWERS_MS = 5_000;

export interface ConnectionHandler {
  request(connection: Connection, method: string, params: unknown): unknown;
  notification(connection: Connection, method: string, params: unknown): void;
  /** The client's answer to a request of ours. */
  answer(connection: Connection, id: RequestId, outcome: { result: unknown } | { error: unknown }): void;
}

export interface ConnectionOptions {
  transport: Transport;
  handler: ConnectionHandler;
  log: Logger;
  now: () => number;
  limits?: ConnectionLimits;
}

interface Waiting {
  frame: Frame;
  weight: number;
}

/**
 * One client, whatever the transport. One ordered queue: frames leave in the order in which they were sent, what one
 * turn of the event loop produced in one write, the next write when the last one was taken.
 */
export class Connection {
  /** Resolves when the link is gone, whoever ended it. Never rejects. */
  readonly closed: Promise<void>;
  /** What the client said in `initialize`; null before. */
  session: ClientSession | null = null;
  /** Null where we answer alone. */
  gate: FrameGate | null = null;
  readonly #transport: Transport;
  readonly #handler: ConnectionHandler;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #limits: ConnectionLimits;
  #resolveClosed!: () => void;
  #open = true;
  #queue: Waiting[] = [];
  #waitingWeight = 0;
  #waitingBytes = 0;
  #flushScheduled = false;
  #isWriting = false;
  #openRequests = 0;
  #pauses = 0;
  /** No request is read until the client has taken its answers. */
  #isBehind = false;
  #inputEnded = false;

  constructor(options: ConnectionOptions) {
    this.#transport = options.transport;
    this.#handler = options.handler;
    this.#log = options.log;
    this.#now = options.now;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Bytes that wait for the peer to read. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** One frame from the peer. What is no valid frame gets no answer, as with the real server. */
  receive(frame: string | Buffer): void {
    if (!this.#open) return;
    if (this.gate !== null) {
      const bytes = typeof frame === "string" ? Buffer.from(frame) : frame;
      if (this.gate.take(bytes)) return;
    }
    this.serve(frame);
  }

  /** The same for a frame that is ours to answer. */
  serve(frame: string | Buffer): void {
    if (!this.#open) return;
    const text = typeof frame === "string" ? frame : frame.toString("utf8");
    const parsed = parseFrame(text);
    switch (parsed.kind) {
      case "request":
        return this.#serve(writtenId(parsed.id, text), parsed.method, parsed.params);
      case "notification":
        return this.#handler.notification(this, parsed.method, parsed.params);
      case "response":
        return this.#handler.answer(this, parsed.id, { result: parsed.result });
      case "error":
        return this.#handler.answer(this, parsed.id, { error: parsed.error });
      case "ignored":
        return this.#log.debug("ignored a frame", { reason: parsed.reason });
    }
  }

  /** Reads no more from the peer, where its transport can wait, until everybody who paused it has resumed it. */
  pause(): void {
    this.#pauses += 1;
    if (this.#pauses === 1) this.#transport.pause?.();
  }

  /** Takes one `pause` back. */
  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0 && this.#open) this.#transport.resume?.();
  }

  /** Queues a frame. A reader that lets too much wait is cut off here; nobody else notices. */
  send(frame: Frame): void {
    this.#send(frame, this.#limits.maxQueuedBytes * MAX_FRAME_PART);
  }

  #send(frame: Frame, maxWeight: number): void {
    if (!this.#open) return;
    if (this.#waitingWeight > this.#limits.maxQueuedBytes) return this.cutOff(this.#waitingBytes);
    const weight = Math.min(frame.length, maxWeight);
    this.#waitingWeight += weight;
    this.#waitingBytes += frame.length;
    this.#queue.push({ frame, weight });
    if (this.#flushScheduled || this.#isWriting) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  /** Queues one notification for this connection alone. */
  notify(method: string, params: object): void {
    if (this.wants(method)) this.send(notificationFrame(method, params, this.#now()));
  }

  /** False for what the client opted out of, and before it has initialized. */
  wants(method: string): boolean {
    return this.session !== null && !this.session.optOut.has(method);
  }

  /** Resolves when nothing waits to be sent, or the link is gone. */
  async flushed(): Promise<void> {
    while (this.#open && this.#waitingBytes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Most bytes that may wait for it anywhere. */
  get maxWaitingBytes(): number {
    return this.#limits.maxQueuedBytes;
  }

  /** Ends the link to a client for which too many bytes wait. */
  cutOff(waiting: number): void {
    this.#log.warn("cutting off a slow reader", { client: this.session?.name, waiting });
    this.terminate();
  }

  /** Ends the link from our side. */
  terminate(): void {
    if (!this.#open) return;
    this.handleClosed();
    this.#transport.terminate();
  }

  /** For the transport: the peer will send no more. What it asked is answered, within limits, then the link is over. */
  handleInputEnd(): void {
    if (!this.#open) return;
    this.#inputEnded = true;
    setTimeout(() => this.handleClosed(), LAST_ANSWERS_MS).unref();
    this.#closeWhenAnswered();
  }

  /** For the transport: the link is gone. */
  handleClosed(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#queue = [];
    this.gate?.closed();
    this.#resolveClosed();
  }

  /** For whoever answers in our place: a request of the peer is answered. */
  answered(): void {
    this.#closeWhenAnswered();
  }

  #closeWhenAnswered(): void {
    if (!this.#inputEnded || this.#openRequests > 0 || (this.gate?.unanswered ?? 0) > 0) return;
    this.#flush();
    if (this.#waitingBytes === 0) this.handleClosed();
  }

  #flush(): void {
    if (!this.#open || this.#isWriting || this.#queue.length === 0) return;
    let [count, bytes, weight] = [0, 0, 0];
    while (count < this.#queue.length && bytes < BYTES_AT_ONCE) {
      const waiting = this.#queue[count]!;
      bytes += waiting.frame.length;
      weight += waiting.weight;
      count += 1;
    }
    const frames = this.#queue.splice(0, count).map(({ frame }) => frame);
    this.#isWriting = true;
    this.#transport.write(frames, () => {
      this.#isWriting = false;
      this.#waitingWeight -= weight;
      this.#waitingBytes -= bytes;
      this.#flush();
      this.gate?.drained();
      this.#readOn();
      this.#closeWhenAnswered();
    });
  }

  #serve(id: string, method: string, params: unknown): void {
    if (this.#openRequests >= this.#limits.maxOpenRequests) {
      return this.#fail(id, { code: ErrorCode.overloaded, message: "Server overloaded; retry later." });
    }
    let outcome: unknown;
    try {
      outcome = this.#handler.request(this, method, params);
    } catch (error) {
      return this.#reject(id, method, error);
    }
    if (!(outcome instanceof Promise)) return this.#answer(id, method, outcome);
    this.#openRequests += 1;
    outcome
      .then(
        (result: unknown) => this.#answer(id, method, result),
        (error: unknown) => this.#reject(id, method, error),
      )
      .finally(() => {
        this.#openRequests -= 1;
        this.#closeWhenAnswered();
      })
      .catch(() => undefined);
  }

  #answer(id: string, method: string, outcome: unknown): void {
    const reply = outcome instanceof Reply ? outcome : new Reply(outcome);
    let frame: Frame;
    try {
      frame = reply.result instanceof RawJson ? rawResultFrame(id, reply.result.parts) : resultFrame(id, reply.result);
    } catch (error) {
      return this.#reject(id, method, error);
    }
    this.#send(frame, MAX_ANSWER_WEIGHT);
    this.#readNoMore();
    try {
      reply.after?.();
    } catch (error) {
      this.#log.error("after a response", { method, error });
    }
  }

  /** Answers count for little, so that they are bounded by what is asked: nothing more while too many bytes wait. */
  #readNoMore(): void {
    if (this.#isBehind || this.#waitingBytes <= this.#limits.maxQueuedBytes) return;
    this.#isBehind = true;
    this.pause();
  }

  #readOn(): void {
    if (!this.#isBehind || this.#waitingBytes > this.#limits.maxQueuedBytes) return;
    this.#isBehind = false;
    this.resume();
  }

  #reject(id: string, method: string, error: unknown): void {
    if (error instanceof WireError) return this.#fail(id, error.body);
    this.#log.error("a request failed", { method, error });
    this.#fail(id, { code: ErrorCode.internal, message: `internal error: ${error instanceof Error ? error.message : String(error)}` });
  }

  #fail(id: string, error: WireErrorBody): void {
    this.#send(new Frame(`{"error":${JSON.stringify(error)},"id":${id}}`), MAX_ANSWER_WEIGHT);
  }
}

/** The id as JSON. Measured: the real server echoes integers beyond 2^53 digit by digit, which no number of ours can. */
function writtenId(id: RequestId, frame: string): string {
  if (typeof id === "string" || Number.isSafeInteger(id)) return JSON.stringify(id);
  const bytes = Buffer.from(frame);
  const span = membersOf(bytes)?.get("id");
  return span === undefined ? JSON.stringify(id) : bytes.toString("latin1", span.start, span.end);
}
