import { ErrorCode, parseFrame, WireError } from "@foldcast/protocol-core/wire";
import type { RequestId, WireErrorBody } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";
import { membersOf } from "../native/json-bytes.ts";
import type { ClientSession } from "./client-session.ts";
import { Frame, notificationFrame } from "./frame.ts";
import { RawJson } from "./raw-json.ts";
import { Reply } from "./reply.ts";

/** The byte side of a connection. No method blocks or throws. */
export interface Transport {
  /** Writes the frames in order; `taken` is called once when the peer's side has accepted them, or the link broke. */
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

/** A frame counts for no more than this towards the limit: one big answer must not cut off who asked for it. */
const MAX_FRAME_WEIGHT = 256 * 1024;

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

/**
 * One client, whatever the transport. One ordered queue: frames leave in the order in which they were sent, all that
 * one turn of the event loop produced in one write.
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
  #queue: Frame[] = [];
  #queueWeight = 0;
  #waitingWeight = 0;
  #waitingBytes = 0;
  #queueBytes = 0;
  #flushScheduled = false;
  #openRequests = 0;
  #pauses = 0;
  #writing = 0;
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
    if (!this.#open) return;
    if (this.#waitingWeight > this.#limits.maxQueuedBytes) {
      this.#log.warn("cutting off a slow reader", { client: this.session?.name, waiting: this.#waitingWeight });
      this.terminate();
      return;
    }
    const { size } = frame;
    const weight = Math.min(size, MAX_FRAME_WEIGHT);
    this.#waitingWeight += weight;
    this.#queueWeight += weight;
    this.#waitingBytes += size;
    this.#queueBytes += size;
    this.#queue.push(frame);
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => this.#flush());
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
    while (this.#open && (this.#queue.length > 0 || this.#writing > 0)) await new Promise((resolve) => setTimeout(resolve, 5));
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
    if (this.#writing === 0) this.handleClosed();
  }

  #flush(): void {
    this.#flushScheduled = false;
    const frames = this.#queue;
    const weight = this.#queueWeight;
    const bytes = this.#queueBytes;
    this.#queue = [];
    this.#queueWeight = 0;
    this.#queueBytes = 0;
    if (!this.#open || frames.length === 0) return;
    this.#writing += 1;
    this.#transport.write(frames, () => {
      this.#writing -= 1;
      this.#waitingWeight -= weight;
      this.#waitingBytes -= bytes;
      this.gate?.drained();
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
      frame = resultFrame(id, reply.result);
    } catch (error) {
      return this.#reject(id, method, error);
    }
    this.send(frame);
    try {
      reply.after?.();
    } catch (error) {
      this.#log.error("after a response", { method, error });
    }
  }

  #reject(id: string, method: string, error: unknown): void {
    if (error instanceof WireError) return this.#fail(id, error.body);
    this.#log.error("a request failed", { method, error });
    this.#fail(id, { code: ErrorCode.internal, message: `internal error: ${error instanceof Error ? error.message : String(error)}` });
  }

  #fail(id: string, error: WireErrorBody): void {
    this.send(new Frame(`{"error":${JSON.stringify(error)},"id":${id}}`));
  }
}

function resultFrame(id: string, result: unknown): Frame {
  if (result instanceof RawJson) return new Frame(Buffer.concat([Buffer.from(`{"id":${id},"result":`), ...result.parts, Buffer.from("}")]));
  return new Frame(`{"id":${id},"result":${JSON.stringify(result ?? {})}}`);
}

/** The id as JSON. Measured: the real server echoes integers beyond 2^53 digit by digit, which no number of ours can. */
function writtenId(id: RequestId, frame: string): string {
  if (typeof id === "string" || Number.isSafeInteger(id)) return JSON.stringify(id);
  const bytes = Buffer.from(frame);
  const span = membersOf(bytes)?.get("id");
  return span === undefined ? JSON.stringify(id) : bytes.toString("latin1", span.start, span.end);
}
