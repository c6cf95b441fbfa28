const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";
// What an agent says must not move the cursor or change the terminal.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export interface Terminal {
  write(text: string): void;
  /** Null = no terminal: a pipe or a file. */
  size(): { columns: number; rows: number } | null;
}

/** Text on a terminal or in a pipe; on a terminal it knows how many rows it wrote since a mark. */
export class TextOutput {
  readonly #terminal: Terminal;
  #column = 0;
  /** Rows since the mark; null = what stands there must stay. */
  #rows: number | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get interactive(): boolean {
    return this.#terminal.size() !== null;
  }

  write(text: string): void {
    const clean = text.replace(CONTROL, "");
    this.#count(clean);
    this.#terminal.write(clean);
  }

  /** One or more whole lines. */
  line(text: string): void {
    this.freshLine();
    this.write(`${text}\n`);
  }

  dim(text: string): void {
    if (!this.interactive) return this.line(text);
    this.freshLine();
    this.#terminal.write(DIM);
    this.write(text);
    this.#terminal.write(PLAIN);
    this.write("\n");
  }

  freshLine(): void {
    if (this.#column > 0) this.write("\n");
  }

  /** From here on it may be erased. */
  mark(): void {
    this.#column = 0;
    this.#rows = 0;
  }

  /** What was written since the mark stays: somebody typed in between. */
  keep(): void {
    this.#rows = null;
  }

  /** Takes back what was written since the mark; false where it has to stay, or has left the screen already. */
  eraseToMark(): boolean {
    const size = this.#terminal.size();
    const rows = this.#rows;
    this.#rows = null;
    if (size === null || rows === null || rows === 0 || rows >= size.rows) return false;
    this.#terminal.write(`\u001b[${rows}A\r\u001b[J`);
    this.#column = 0;
    return true;
  }

  #count(text: string): void {
    const columns = this.#terminal.size()?.columns ?? Infinity;
    for (const character of text) {
      if (character === "\n") {
        this.#column = 0;
        if (this.#rows !== null) this.#rows += 1;
        continue;
      }
      const width = character === "\t" ? 8 - (this.#column % 8) : WIDE.test(character) ? 2 : 1;
      if (this.#column + width > columns) {
        this.#column = 0;
        if (this.#rows !== null) this.#rows += 1;
      }
      this.#column += width;
    }
  }
}
