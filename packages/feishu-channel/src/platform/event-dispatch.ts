import type { CardActionAnswer, FeishuEvent } from "./events.ts";
import { readEvent } from "./event-mapping.ts";
import type { PlatformLog, Redactor } from "./redact.ts";

/**
 * What the SDK's connection hands each event body to. Its promise becomes the acknowledgement: the value is the answer
 * (for clicks), a rejection asks Feishu to send the event again.
 */
export class EventDispatch {
  #listener: ((event: FeishuEvent) => void | Promise<void>) | null = null;
  readonly #log: PlatformLog;
  readonly #redactor: Redactor;
  readonly #cardAnswerMs: number;

  constructor(parts: { readonly log: PlatformLog; readonly redactor: Redactor; readonly cardAnswerMs: number }) {
    this.#log = parts.log;
    this.#redactor = parts.redactor;
    this.#cardAnswerMs = parts.cardAnswerMs;
  }

  listen(listener: (event: FeishuEvent) => void | Promise<void>): void {
    this.#listener = listener;
  }

  async invoke(body: unknown): Promise<unknown> {
    const click = new ClickAnswer(this.#cardAnswerMs);
    const event = readEvent(body, (answer) => click.give(answer));
    if (event === null) {
      this.#log.warn(`event without a type left out: ${shapeOf(body)}`);
      return undefined;
    }
    if (event.type === "other") this.#log.debug(`event ${event.eventType}: ${shapeOf(body)}`);
    if (event.type !== "cardAction") {
      await this.#listener?.(event);
      return undefined;
    }
    // A click is never sent again, and its answer must not wait for what the listener still does with it.
    void this.#hear(event);
    const answer = await click.answer();
    setImmediate(() => click.markSent());
    return this.#redactor.withoutKnown(answer);
  }

  async #hear(event: FeishuEvent): Promise<void> {
    try {
      await this.#listener?.(event);
    } catch (error) {
      this.#log.error(`the click ${event.eventId} could not be handled: ${this.#redactor.describe(error)}`);
    }
  }
}

/** The one answer of a click: what was given in time, else the empty one. */
class ClickAnswer {
  #given = false;
  readonly #answered = deferred<object>();
  readonly #sent = deferred<undefined>();
  readonly #timer: NodeJS.Timeout;

  constructor(deadlineMs: number) {
    this.#timer = setTimeout(() => this.#settle({}), deadlineMs);
  }

  async give(answer: CardActionAnswer): Promise<"sent" | "late"> {
    if (this.#given) return "late";
    this.#settle({ ...(answer.toast && { toast: answer.toast }), ...(answer.card && { card: { type: "raw", data: answer.card } }) });
    await this.#sent.promise;
    return "sent";
  }

  answer(): Promise<object> {
    return this.#answered.promise;
  }

  markSent(): void {
    this.#sent.resolve(undefined);
  }

  #settle(answer: object): void {
    this.#given = true;
    clearTimeout(this.#timer);
    this.#answered.resolve(answer);
  }
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

/** Names and types of the members, never a value: enough to see when Feishu changes a form. */
export function shapeOf(value: unknown, depth = 0): string {
  if (value === null || typeof value !== "object") return value === null ? "null" : typeof value;
  if (depth > 3) return "…";
  if (Array.isArray(value)) return `[${value.length > 0 ? shapeOf(value[0], depth + 1) : ""}]`;
  return `{${Object.entries(value).slice(0, 20).map(([key, inner]) => `${key}:${shapeOf(inner, depth + 1)}`).join(",")}}`;
}
