import { createInterface } from "node:readline";
import type { Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Readable } from "node:stream";
import type { ChatInput } from "./chat.ts";
import { makeSignal } from "./signal.ts";
import type { Signal } from "./signal.ts";
import type { TextOutput } from "./text-output.ts";

const PROMPT = "› ";

/**
 * Lines from a terminal or a pipe. They are taken only when somebody wants one; until then they wait. On a terminal the
 * line that is being typed is shown by `output`, so that it never mixes with what an agent says meanwhile.
 */
export class LineInput implements ChatInput {
  readonly #lines: string[] = [];
  readonly #readline: Interface;
  readonly #output: TextOutput | null;
  readonly #onWaiting: (line: string) => void;
  #ended = false;
  #arrival: Signal = makeSignal();
  #wanted = false;

  /** `output` null = the input is no terminal. `onInterrupt`: Ctrl+C there. `onWaiting`: a line that nobody wants yet. */
  constructor(input: Readable, output: TextOutput | null, handlers: { onInterrupt: () => void; onWaiting: (line: string) => void }) {
    this.#output = output;
    this.#onWaiting = handlers.onWaiting;
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    this.#readline = createInterface({ input, crlfDelay: Infinity, ...(output === null ? { terminal: false } : { output: sink, terminal: true, prompt: "" }) });
    this.#readline.on("line", (line) => {
      this.#lines.push(line);
      this.#draw();
      if (output !== null && !this.#wanted) this.#onWaiting(line);
      this.#wake();
    });
    this.#readline.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
    this.#readline.on("SIGINT", handlers.onInterrupt);
    // Behind readline's own listener, which edits the line.
    if (output !== null) input.on("keypress", () => this.#draw());
  }

  /** Begins to show what is typed. */
  open(): void {
    this.#draw();
  }

  ready(): Promise<void> {
    if (this.#lines.length > 0 || this.#ended) return Promise.resolve();
    this.#wanted = true;
    return this.#arrival.promise;
  }

  take(): string | null | undefined {
    this.#wanted = false;
    return this.#lines.shift() ?? (this.#ended ? null : undefined);
  }

  takeAtOnce(matches: (line: string) => boolean): string | undefined {
    this.#wanted = false;
    // A script's lines are taken in their order and no other.
    const at = this.#output === null ? -1 : this.#lines.findIndex(matches);
    return at === -1 ? undefined : this.#lines.splice(at, 1)[0];
  }

  arrival(): Promise<void> {
    return this.#arrival.promise;
  }

  drop(): string[] {
    return this.#output === null ? [] : this.#lines.splice(0);
  }

  close(): void {
    this.#output?.typing(null);
    this.#readline.close();
  }

  #draw(): void {
    if (this.#ended) return;
    const { line, cursor } = this.#readline;
    this.#output?.typing({ prompt: PROMPT, text: line, cursor });
  }

  #wake(): void {
    const { resolve } = this.#arrival;
    this.#arrival = makeSignal();
    resolve();
  }
}
