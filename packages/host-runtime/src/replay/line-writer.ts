import { once } from "node:events";

const BATCH_CHARACTERS = 64 * 1024;

/** Writes lines to a stream in batches, never faster than it takes them. A reader that went away ends it quietly. */
export class LineWriter {
  readonly #stream: NodeJS.WritableStream;
  #waiting: string[] = [];
  #size = 0;
  #gone = false;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
    stream.on("error", this.#leave);
  }

  /** False when nobody reads any more. */
  get open(): boolean {
    return !this.#gone;
  }

  async write(line: string): Promise<void> {
    this.#waiting.push(line);
    this.#size += line.length + 1;
    if (this.#size >= BATCH_CHARACTERS) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#size === 0 || this.#gone) return;
    const text = `${this.#waiting.join("\n")}\n`;
    this.#waiting = [];
    this.#size = 0;
    if (!this.#stream.write(text)) await once(this.#stream, "drain").catch(() => undefined);
  }

  async end(): Promise<void> {
    await this.flush();
    this.#stream.off("error", this.#leave);
  }

  readonly #leave = (): void => {
    this.#gone = true;
  };
}
