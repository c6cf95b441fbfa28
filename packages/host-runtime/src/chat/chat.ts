import { parseInteractionCommand } from "@foldcast/protocol-core/interaction";
import type { Conversation } from "./conversation.ts";
import type { OpenRequest } from "./open-request.ts";

export type ApproveMode = "ask" | "all" | "none";

/** Where the lines come from. */
export interface ChatInput {
  ready(): Promise<void>;
  take(): string | null | undefined;
}

export interface ChatOptions {
  conversation: Conversation;
  input: ChatInput;
  approve: ApproveMode;
  notice: (text: string) => void;
  /** A line that is a command of the chat itself; false = it is a prompt. */
  command(line: string, chat: Chat): Promise<boolean>;
}

/**
 * The loop of a chat. A line is taken only when the thread is idle, as a prompt, or when a request is open, as its
 * answer: so a script can be written down line by line, whatever the time that turns take.
 */
export class Chat {
  /** The model of later turns; null = the thread's own. */
  model: string | null = null;
  readonly #options: ChatOptions;
  #refused = false;
  #stopped = false;
  #interrupted = false;
  #wake: () => void = () => undefined;

  constructor(options: ChatOptions) {
    this.#options = options;
  }

  /** Resolves at the end of the input, when the last turn is done, or after `stop`. Rejects when the connection ends. */
  async run(): Promise<void> {
    const { conversation } = this.#options;
    const stop = new Promise<void>((resolve) => (this.#wake = resolve));
    while (!this.#stopped) {
      if (conversation.closed !== null) throw new Error(conversation.closed);
      // Taken before the look: a change in between must not be slept through.
      const { changed, request } = conversation;
      if (request !== null && this.#answersItself(request)) {
        await (this.#options.approve === "all" ? conversation.answer(request, { kind: "approval", decision: "accept" }) : conversation.decline(request));
        continue;
      }
      if (request === null && conversation.running) {
        await Promise.race([changed, stop]);
        continue;
      }
      const line = this.#options.input.take();
      if (line === undefined) await Promise.race([this.#options.input.ready(), changed, stop]);
      else if (request !== null) await this.#answer(request, line);
      else if (line === null) return;
      else await this.#say(line);
    }
  }

  /** True when a line could not be sent or done. */
  get refused(): boolean {
    return this.#refused;
  }

  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /** Ctrl+C: the first one interrupts the turn, a second one ends the chat. */
  interrupt(): void {
    const { conversation, notice } = this.#options;
    if (this.#interrupted) return this.stop();
    this.#interrupted = true;
    if (conversation.running) conversation.interrupt().catch((error: unknown) => notice(wordsOf(error)));
    else notice("Once more to leave.");
  }

  #answersItself({ request }: OpenRequest): boolean {
    return request.kind === "approval" && this.#options.approve !== "ask";
  }

  async #answer(request: OpenRequest, line: string | null): Promise<void> {
    const { conversation, notice } = this.#options;
    if (line === null) return conversation.decline(request);
    if (line.trim() === "") return;
    this.#interrupted = false;
    const command = parseInteractionCommand(line);
    if (command !== null && command.interactionId !== String(request.id)) {
      try {
        return await conversation.steerTyped(line);
      } catch (error) {
        return notice(wordsOf(error));
      }
    }
    const read = request.read(command?.value ?? line);
    switch (read.kind) {
      case "answer":
        return conversation.answer(request, read.answer);
      case "partial":
        return notice(`Noted. Still open: ${read.open.join(", ")}`);
      case "unreadable":
        return notice(`Expected: ${read.expected}`);
    }
  }

  async #say(line: string): Promise<void> {
    if (line.trim() === "") return;
    this.#interrupted = false;
    try {
      if (await this.#options.command(line.trim(), this)) return;
      // The second slash is there to keep the line from being taken for a command.
      await this.#options.conversation.prompt(line.startsWith("//") ? line.slice(1) : line, this.model);
      this.model = null;
    } catch (error) {
      if (this.#options.conversation.closed !== null) throw error;
      this.#refused = true;
      this.#options.notice(wordsOf(error));
    }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
