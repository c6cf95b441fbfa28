const NEWLINE = 0x0a;

/**
 * Cuts a byte stream into lines on `\n` only (a text may hold any other separator). A line over `maxBytes` is
 * skipped to its end and reported once; memory stays within the limit.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: Buffer) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #size = 0;
  #skipping = false;

  constructor(options: { maxBytes: number; onLine: (line: Buffer) => void; onTooLong: () => void }) {
    this.#maxBytes = options.maxBytes;
    this.#onLine = options.onLine;
    this.#onTooLong = options.onTooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#append(chunk.subarray(from, at));
      this.#finish();
      from = at + 1;
    }
    if (from < chunk.length) this.#append(chunk.subarray(from));
  }

  /** A last line without its newline counts. */
  end(): void {
    if (this.#size > 0 || this.#skipping) this.#finish();
  }

  #append(part: Buffer): void {
    if (this.#skipping) return;
    this.#size += part.length;
    if (this.#size > this.#maxBytes) {
      this.#skipping = true;
      this.#parts = [];
      this.#size = 0;
      return;
    }
    this.#parts.push(part);
  }

  #finish(): void {
    const parts = this.#parts;
    const skipped = this.#skipping;
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
    if (skipped) return this.#onTooLong();
    const [only] = parts;
    this.#onLine(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts));
  }
}
