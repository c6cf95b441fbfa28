import { parseInteractionCommand, renderField } from "@foldcast/protocol-core/interaction";
import type { Locale } from "@foldcast/protocol-core/interaction";
import { looksLikeCommand } from "./commands.ts";
import type { Conversation } from "./conversation.ts";
import type { OpenRequest } from "./open-request.ts";

export type ApproveMode = "ask" | "all" | "none";

/** Where the lines come from. */
export interface ChatInput {
  /** Resolves when `take` has something to give. */
  ready(): Promise<void>;
  /** The next line; null at the end of the input; undefined where nothing is there yet. */
  take(): string | null | undefined;
  /** Takes a line that does not wait for its turn; only where a person types. */
  takeAtOnce(matches: (line: string) => boolean): string | undefined;
  /** Resolves with the next line that comes in, or the end. */
  arrival(): Promise<void>;
  /** Lets go of what waits, where a person typed it; gives it. */
  drop(): string[];
}

export interface ChatOptions {
  conversation: Conversation;
  input: ChatInput;
  approve: ApproveMode;
  locale?: Locale;
  notice: (text: string) => void;
  /** A line was taken; for a terminal, where it then stands in the text. */
  said: (line: string) => void;
  /** A line that is a command of the chat itself; false = it is a prompt. */
  command(line: string, chat: Chat): Promise<boolean>;
}

/** Commands that make no sense once the turn is over, and those that only show something. */
const AT_ONCE = /^\s*\/(steer|stop|quit|exit|help|expand|models|threads)(\s|$)/;

/**
 * The loop of a chat. A line is taken only when the thread is idle, as a prompt, or when a request is open, as its
 * answer: so a script can be written down line by line, whatever the time that turns take. A person's `/steer` and
 * `/stop` do not wait.
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
    const { conversation, input } = this.#options;
    const stop = new Promise<void>((resolve) => (this.#wake = resolve));
    while (!this.#stopped) {
      if (conversation.closed !== null) throw new Error(conversation.closed);
      // Taken before the look: a change in between must not be slept through.
      const { changed, request } = conversation;
      const arrival = input.arrival();
      if (request !== null && this.#answersItself(request)) {
        await (this.#options.approve === "all" ? conversation.answer(request, request.yes()) : conversation.decline(request));
        continue;
      }
      if (request === null && conversation.running) {
        const line = input.takeAtOnce((each) => AT_ONCE.test(each));
        if (line === undefined) await Promise.race([changed, arrival, stop]);
        else await this.#say(line);
        continue;
      }
      const line = input.take();
      if (line === undefined) await Promise.race([input.ready(), changed, stop]);
      else if (request !== null) await this.#answer(request, line);
      else if (line === null) return;
      else await this.#say(line);
    }
  }

  /** Says of a line that was typed too early that it is not lost. */
  waits(line: string): void {
    if (!AT_ONCE.test(line) && line.trim() !== "") this.#options.notice(`Waits for its turn: ${line}`);
  }

  /** True when a line could not be sent or done, or the last turn failed. */
  get failed(): boolean {
    return this.#refused || this.#options.conversation.lastEnd === "failed";
  }

  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /** Ctrl+C: the first one interrupts the turn, a second one ends the chat. */
  interrupt(): void {
    const { conversation, input, notice } = this.#options;
    if (this.#interrupted) return this.stop();
    this.#interrupted = true;
    for (const line of input.drop()) notice(`Not sent: ${line}`);
    if (conversation.running) conversation.interrupt().catch((error: unknown) => notice(wordsOf(error)));
    else notice("Once more to leave.");
  }

  #answersItself({ request, payload }: OpenRequest): boolean {
    // A form without fields is how an MCP server asks for a yes. To open a page is a person's to say.
    return this.#options.approve !== "ask" && (request.kind === "approval" || (request.kind === "elicitation" && request.mode === "form" && payload.kind === "approval"));
  }

  async #answer(request: OpenRequest, line: string | null): Promise<void> {
    const { conversation, notice, said, locale } = this.#options;
    if (line === null) return conversation.decline(request);
    if (line.trim() === "") return;
    this.#interrupted = false;
    said(line);
    if (AT_ONCE.test(line)) return this.#command(line);
    const command = parseInteractionCommand(line);
    if (command !== null && command.interactionId !== String(request.id)) return this.#typed(line);
    const read = request.read(command?.value ?? line);
    switch (read.kind) {
      case "answer":
        return conversation.answer(request, read.answer);
      case "partial": {
        const next = request.payload.fields.find(({ id }) => id === read.open[0]);
        return notice(next === undefined ? "Noted." : `Noted. ${renderField(next, locale ?? "en")}`);
      }
      case "unreadable":
        return notice(`Expected: ${read.expected}`);
    }
  }

  async #say(line: string): Promise<void> {
    if (line.trim() === "") return;
    this.#interrupted = false;
    if (parseInteractionCommand(line) !== null) {
      this.#options.said(line);
      return this.#typed(line);
    }
    const { conversation } = this.#options;
    const offer = conversation.offerFor(line);
    if (offer === null) return this.#command(line);
    this.#options.said(line);
    return this.#run(async () => {
      const { command } = await conversation.choose(offer);
      if (command !== null) await this.#options.command(command, this);
    });
  }

  /** A command of the chat, or a prompt. */
  #command(line: string): Promise<void> {
    return this.#run(async () => {
      if (looksLikeCommand(line)) this.#options.said(line);
      if (await this.#options.command(line.trim(), this)) return;
      // The second slash is there to keep the line from being taken for a command.
      await this.#options.conversation.prompt(line.startsWith("//") ? line.slice(1) : line, this.model);
      this.model = null;
    });
  }

  /** `/_interaction …` for another request than the one that is asked now. */
  #typed(line: string): Promise<void> {
    return this.#run(async () => {
      const command = await this.#options.conversation.answerTyped(line);
      if (command !== null) await this.#options.command(command, this);
    });
  }

  async #run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
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
