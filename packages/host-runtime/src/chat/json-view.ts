import type { InteractionAnswer } from "@foldcast/protocol-core/harness";
import type { Thread } from "@foldcast/protocol-core/wire";
import type { ChatView } from "./conversation.ts";
import type { OpenRequest } from "./open-request.ts";

/** One JSON object a line, for scripts: the frames as they came, and the chat's own events. */
export class JsonView implements ChatView {
  readonly #write: (text: string) => void;
  #thread: string | null = null;
  #turns = 0;
  #status: string | null = null;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  frame(text: string): void {
    this.#write(`${text}\n`);
  }
  opened(thread: Thread): void {
    this.#thread = thread.id;
  }
  prompt(text: string, threadId: string): void {
    this.#event({ event: "prompt", threadId, text });
  }
  notification(): void {
    // `frame` has written it.
  }
  heard(): void {
    // `frame` has written it.
  }
  offered(): void {
    // `frame` has written it.
  }
  asked({ id, payload }: OpenRequest): void {
    this.#event({ event: "interaction", state: "open", requestId: id, kind: payload.kind, title: payload.title, body: payload.body, actions: payload.actions, fields: payload.fields });
  }
  answered({ id }: OpenRequest, answer: InteractionAnswer): void {
    this.#event({ event: "interaction", state: "answered", requestId: id, answer });
  }
  turnEnded({ status }: { status: string }): void {
    this.#turns += 1;
    this.#status = status;
  }
  notice(text: string): void {
    this.#event({ event: "notice", text });
  }
  /** The last line. */
  done(): void {
    this.#event({ event: "done", threadId: this.#thread, turns: this.#turns, status: this.#status });
  }

  #event(event: object): void {
    this.#write(`${JSON.stringify(event)}\n`);
  }
}
