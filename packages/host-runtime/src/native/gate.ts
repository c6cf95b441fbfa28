import { ErrorCode, invalidRequest, WireError } from "@foldcast/protocol-core/wire";
import type { Logger } from "../log/logger.ts";
import type { Connection, FrameGate } from "../rpc/connection.ts";
import { Frame } from "../rpc/frame.ts";
import { idKey, leadingMethod, readAddressed, readEnvelope } from "./envelope.ts";
import type { Addressed, Envelope } from "./envelope.ts";
import { membersOf, textMember } from "./json-bytes.ts";
import type { Span } from "./json-bytes.ts";
import type { NativeCodex } from "./codex.ts";
import { withoutBlocks } from "./limits.ts";
import { withMember } from "./merge.ts";
import { NativeSession } from "./session.ts";

/** Requests of ours to clients go by such ids; the real server's are numbers. */
const OUR_REQUEST = '"foldcast:';
const OUR_METHODS = "foldcast/";
/** Answered by both of us together. A cursor that is not ours belongs to a list of the real server alone. */
const MERGED: ReadonlySet<string> = new Set([
  "thread/list", "thread/search", "thread/search/stream", "thread/loaded/list", "model/list",
  "account/read", "getAuthStatus", "config/read", "config/value/write", "config/batchWrite",
  "thread/section/move", "threadSection/update", "threadSection/delete",
]);
/** Opens a thread that stays the real server's, whatever model a client has chosen for its next one. */
const OPENS: ReadonlySet<string> = new Set(["thread/resume", "thread/fork"]);
/** Begins or continues a subscription: after its answer the client holds a thread of the real server's. */
const HOLDS: ReadonlySet<string> = new Set(["thread/start", "thread/resume", "thread/fork"]);
const LETS_GO: ReadonlySet<string> = new Set(["thread/unsubscribe", "thread/archive", "thread/delete"]);
const LIMITS_READ = "account/rateLimits/read";
const LIMITS_UPDATED = "account/rateLimits/updated";
/** While a model is looked up, so many more frames of a client are read, and so many bytes of them. */
const ENOUGH_BEHIND = 1_000;
const ENOUGH_BYTES_BEHIND = 8 * 1024 * 1024;
const INTRODUCTION_MS = 150;

/** `nativeModel`: the real server's, without the model that it names. */
type Verdict = "ours" | "native" | "nativeModel" | WireError;

/** Decides for one client, frame by frame, who answers: foldcast what is surely its own, the real server everything else. */
export class NativeGate implements FrameGate {
  readonly session: NativeSession;
  /** Threads of the real server that this client started or opened. */
  readonly held = new Set<string>();
  /** Settings that belong to a model of ours and were written on this connection, by their paths. */
  readonly kept = new Map<string, unknown>();
  readonly #codex: NativeCodex;
  readonly #connection: Connection;
  readonly #log: Logger;
  #hello: { frame: Buffer; id: Span } | null = null;
  /** The owner of a frame is being looked up. */
  #isDeciding = false;
  /** Frames behind that one. */
  #behind: Buffer[] = [];
  #behindBytes = 0;
  #isPaused = false;

  constructor(options: { codex: NativeCodex; connection: Connection; log: Logger }) {
    this.#codex = options.codex;
    this.#connection = options.connection;
    this.#log = options.log;
    this.session = new NativeSession({
      upstream: options.codex.upstream,
      connection: options.connection,
      log: options.log,
      events: {
        incoming: (frame) => this.#incoming(frame),
        lost: () => {
          // Its threads are as unknown to the next server as to us: a stock client comes back and opens them anew.
          if (this.held.size > 0) this.#connection.terminate();
        },
      },
    });
  }

  get unanswered(): number {
    return this.session.unanswered + (this.#isDeciding ? 1 : 0);
  }

  take(frame: Buffer): boolean {
    if (!this.#isDeciding) return this.#route(frame);
    this.#behind.push(frame);
    this.#behindBytes += frame.length;
    if ((this.#behind.length > ENOUGH_BEHIND || this.#behindBytes > ENOUGH_BYTES_BEHIND) && !this.#isPaused) {
      this.#isPaused = true;
      this.#connection.pause();
    }
    return true;
  }

  /**
   * Tells the real server who the client is, which we have accepted. Resolves with its answer, or null when that is not
   * there at once: nobody waits for a program that only starts.
   */
  async introduce(): Promise<Buffer | null> {
    if (this.#hello === null) return null;
    const answer = this.session.introduce(this.#hello.frame, this.#hello.id);
    this.#hello = null;
    if (!this.#codex.upstream.isUp) return null;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), INTRODUCTION_MS)));
    return Promise.race([answer, patience]).finally(() => clearTimeout(timer));
  }

  drained(): void {
    this.session.drained();
  }

  closed(): void {
    this.#behind = [];
    this.session.close();
    this.#codex.detach(this.#connection);
  }

  /** True when the frame was taken, false when it is ours to serve. */
  #route(frame: Buffer): boolean {
    const envelope = readEnvelope(frame);
    if (this.#connection.session === null) {
      if (envelope?.method === "initialize" && envelope.id !== null) this.#hello = { frame, id: envelope.id };
      return false;
    }
    if (envelope === null) return this.#pass(frame);
    const { method, id } = envelope;
    if (method === null) return id !== null && idKey(frame, id).startsWith(OUR_REQUEST) ? false : this.#pass(frame);
    if (id === null) {
      if (method !== "initialized") return this.#pass(frame);
      this.session.passInitialized(frame);
      return true;
    }
    const addressed = readAddressed(frame, envelope.params);
    const verdict = this.#decide(frame, method, envelope, addressed);
    if (!(verdict instanceof Promise)) return this.#follow(frame, method, envelope, addressed, verdict);
    this.#isDeciding = true;
    verdict.then(
      (late) => this.#goOn(frame, method, envelope, addressed, late),
      (error: unknown) => this.#goOn(frame, method, envelope, addressed, unreadable(error)),
    );
    return true;
  }

  #decide(frame: Buffer, method: string, envelope: Envelope, addressed: Addressed): Verdict | Promise<Verdict> {
    const { threadId, model, cursor } = addressed;
    if (method === "initialize" || method.startsWith(OUR_METHODS)) return "ours";
    try {
      if (MERGED.has(method) && this.#codex.understands(method, textOf(frame, envelope.params))) {
        return cursor === null || this.#codex.isOurCursor(cursor) ? "ours" : "native";
      }
      if (threadId !== null && this.#codex.owns(threadId)) return "ours";
    } catch (error) {
      return unreadable(error);
    }
    if (model !== null && this.#codex.mayBeModel(model)) return this.#decideByModel(method, threadId, model);
    if (method !== "thread/start" || model !== null) return "native";
    const isOurs = this.#codex.isForeignByDefault(this.#connection);
    return isOurs instanceof Promise ? isOurs.then((is) => (is ? "ours" : "native")) : isOurs ? "ours" : "native";
  }

  async #decideByModel(method: string, threadId: string | null, model: string): Promise<Verdict> {
    if (!(await this.#codex.isModel(model))) return "native";
    if (threadId === null) return "ours";
    if (OPENS.has(method)) return "nativeModel";
    if (this.#codex.adopt(threadId)) return "ours";
    return invalidRequest(`this thread runs on Codex, and \`${model}\` belongs to another harness; start a new thread to use it`);
  }

  #goOn(frame: Buffer, method: string, envelope: Envelope, addressed: Addressed, verdict: Verdict): void {
    if (!this.#follow(frame, method, envelope, addressed, verdict)) this.#connection.serve(frame);
    this.#isDeciding = false;
    while (!this.#mustWait() && this.#behind.length > 0) {
      const next = this.#behind.shift()!;
      this.#behindBytes -= next.length;
      if (!this.#route(next)) this.#connection.serve(next);
    }
    if (this.#isPaused && this.#behind.length === 0) {
      this.#isPaused = false;
      this.#connection.resume();
    }
  }

  #mustWait(): boolean {
    return this.#isDeciding;
  }

  #follow(frame: Buffer, method: string, envelope: Envelope, addressed: Addressed, verdict: Verdict): boolean {
    if (verdict === "ours") return false;
    const id = envelope.id!;
    if (verdict === "native") this.#request(frame, method, envelope, addressed);
    else if (verdict === "nativeModel") {
      // The one frame that is not passed as it is: the real server would take the model for one of its own.
      const changed = withoutModel(frame, envelope.params!);
      this.#request(changed, method, readEnvelope(changed)!, addressed);
    } else this.#connection.send(new Frame(`{"error":${JSON.stringify(verdict.body)},"id":${frame.toString("utf8", id.start, id.end)}}`));
    return true;
  }

  #request(frame: Buffer, method: string, envelope: Envelope, { threadId }: Addressed): void {
    const id = envelope.id!;
    const takeBack = threadId === null ? null : this.#codex.fresh.passes(threadId, method, () => textOf(frame, envelope.params));
    const isWatched = HOLDS.has(method) || LETS_GO.has(method) || takeBack !== null || method === LIMITS_READ;
    const onAnswer = !isWatched ? null : (answer: Buffer): Buffer => {
      if (method === LIMITS_READ) return this.#withoutBlocks(answer);
      this.#onAnswer(method, threadId, answer, () => textOf(frame, envelope.params), takeBack);
      return answer;
    };
    this.session.request(frame, id, onAnswer);
  }

  #onAnswer(method: string, threadId: string | null, answer: Buffer, params: () => string | null, takeBack: (() => void) | null): void {
    const result = membersOf(answer)?.get("result");
    if (result === undefined) return takeBack?.();
    if (threadId !== null && LETS_GO.has(method)) return void this.held.delete(threadId);
    if (!HOLDS.has(method)) return;
    const thread = membersOf(answer, result.start)?.get("thread");
    const id = thread === undefined ? null : textMember(answer, thread.start, "id");
    if (id !== null) this.held.add(id);
    if (method === "thread/start") this.#codex.fresh.started(params(), answer.toString("utf8", result.start, result.end));
  }

  #pass(frame: Buffer): true {
    this.session.pass(frame);
    return true;
  }

  #incoming(frame: Buffer): Buffer | null {
    const method = leadingMethod(frame);
    if (method === LIMITS_UPDATED) return this.#withoutBlocks(frame);
    return this.#codex.hasAdopted && method?.startsWith("item/") !== true && this.#isOfAdopted(frame) ? null : frame;
  }

  /** What the real server still says of a thread that is ours now. */
  #isOfAdopted(frame: Buffer): boolean {
    const envelope = readEnvelope(frame);
    const threadId = envelope === null ? null : readAddressed(frame, envelope.params).threadId;
    if (threadId === null || !this.#codex.isAdopted(threadId)) return false;
    this.#log.debug("what the Codex app-server says of an adopted thread", { method: envelope?.method });
    return true;
  }

  #withoutBlocks(frame: Buffer): Buffer {
    return this.#codex.usesForeign(this.#connection) ? withoutBlocks(frame) : frame;
  }
}

function textOf(frame: Buffer, span: Span | null): string | null {
  return span === null ? null : frame.toString("utf8", span.start, span.end);
}

/** Whose a thread is cannot be said now: better no answer than one from the wrong owner. */
function unreadable(error: unknown): WireError {
  return new WireError(ErrorCode.internal, `threads cannot be looked up: ${error instanceof Error ? error.message : String(error)}`);
}

function withoutModel(frame: Buffer, params: Span): Buffer {
  return withMember(frame, "params", withMember(frame.subarray(params.start, params.end), "model", "null"));
}
