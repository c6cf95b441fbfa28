import { createInterface } from "node:readline";
import type { Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { makeSignal } from "./signal.ts";
import type { Signal } from "./signal.ts";

/** Lines from a terminal or a pipe. They are taken only when somebody wants one; until then they wait. */
export class LineInput {
  readonly #lines: string[] = [];
  readonly #readline: Interface;
  readonly #terminal: boolean;
  #ended = false;
  #arrival: Signal | null = null;

  /** `output` is where a terminal's line is edited; null = the input is none. `onInterrupt`: Ctrl+C on the terminal. */
  constructor(input: Readable, output: Writable | null, onInterrupt: () => void) {
    this.#terminal = output !== null;
    this.#readline = createInterface({ input, crlfDelay: Infinity, ...(output === null ? { terminal: false } : { output, terminal: true, prompt: "› " }) });
    this.#readline.on("line", (line) => {
      this.#lines.push(line);
      this.#wake();
    });
    this.#readline.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
    this.#readline.on("SIGINT", onInterrupt);
  }

  /** Resolves when `take` has something to give. */
  ready(): Promise<void> {
    if (this.#lines.length > 0 || this.#ended) return Promise.resolve();
    if (this.#terminal) this.#readline.prompt();
    // One for all that ask: a chat that waits asks again at every change of its thread.
    return (this.#arrival ??= makeSignal()).promise;
  }

  /** The next line; null at the end of the input; undefined where nothing is there yet. */
  take(): string | null | undefined {
    return this.#lines.shift() ?? (this.#ended ? null : undefined);
  }

  close(): void {
    this.#readline.close();
  }

  #wake(): void {
    this.#arrival?.resolve();
    this.#arrival = null;
  }
}
