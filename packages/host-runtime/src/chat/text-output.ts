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

/** A line that is being typed. `cursor` in UTF-16 units from its beginning. */
export interface TypedLine {
  prompt: string;
  text: string;
  cursor: number;
}

/**
 * Text on a terminal or in a pipe. On a terminal it knows how many rows it wrote since a mark, and keeps the line that is
 * being typed below everything that it writes.
 */
export class TextOutput {
  readonly #terminal: Terminal;
  #column = 0;
  /** Rows since the mark; null = what stands there must stay. */
  #rows: number | null = null;
  #typed: TypedLine | null = null;
  /** The typed line stands on the screen; for its duration the cursor is in it. */
  #typedShown = false;
  /** The row is full and the cursor below it already: a line's end there has no further row to make. */
  #rowFull = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get interactive(): boolean {
    return this.#terminal.size() !== null;
  }

  /** Shows this line below the text from now on; null takes it away. */
  typing(line: TypedLine | null): void {
    if (!this.interactive) return;
    this.#hideTyped();
    this.#typed = line;
    this.#showTyped();
  }

  write(text: string): void {
    this.#above(() => this.#put(text));
  }

  /** One or more whole lines. */
  line(text: string): void {
    this.#above(() => {
      this.freshLine();
      this.#put(`${text}\n`);
    });
  }

  dim(text: string): void {
    if (!this.interactive) return this.line(text);
    this.#above(() => {
      this.freshLine();
      this.#terminal.write(DIM);
      this.#put(text);
      this.#terminal.write(PLAIN);
      this.#put("\n");
    });
  }

  freshLine(): void {
    if (this.#column > 0) this.write("\n");
  }

  /** From here on it may be erased. */
  mark(): void {
    this.freshLine();
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
    if (size === null || rows === null || rows === 0 || rows >= size.rows - 1) return false;
    this.#above(() => {
      this.#terminal.write(`\u001b[${rows}A\r\u001b[J`);
      this.#column = 0;
    });
    return true;
  }

  #put(text: string): void {
    const clean = (this.#rowFull ? text.replace(/^\n/, "") : text).replace(CONTROL, "");
    if (text !== "") this.#rowFull = false;
    this.#count(clean);
    this.#terminal.write(clean);
  }

  /** Writes where the text goes on, with the typed line out of the way. */
  #above(work: () => void): void {
    const wasShown = this.#typedShown;
    this.#hideTyped();
    work();
    if (wasShown) this.#showTyped();
  }

  #showTyped(): void {
    const size = this.#terminal.size();
    if (this.#typed === null || size === null) return;
    const { prompt, text, cursor } = this.#typed;
    // One row only: of a long line the part around the cursor.
    const room = Math.max(1, size.columns - widthOf(prompt) - 1);
    const before = tailOf(text.slice(0, cursor), room);
    const after = headOf(text.slice(cursor), room - widthOf(before));
    this.#terminal.write(`${this.#column > 0 ? "\n" : ""}\r${prompt}${before}${after}\u001b[${widthOf(prompt) + widthOf(before) + 1}G`);
    this.#typedShown = true;
  }

  #hideTyped(): void {
    if (!this.#typedShown) return;
    this.#typedShown = false;
    this.#terminal.write("\r\u001b[J");
    if (this.#column === 0) return;
    const columns = this.#terminal.size()?.columns ?? Infinity;
    if (this.#column >= columns) {
      // Behind a full row there is no column to go back to.
      this.#column = 0;
      if (this.#rows !== null) this.#rows += 1;
      this.#rowFull = true;
      return;
    }
    this.#terminal.write(`\u001b[1A\u001b[${this.#column + 1}G`);
  }

  #count(text: string): void {
    const columns = this.#terminal.size()?.columns ?? Infinity;
    for (const character of text) {
      if (character === "\n") {
        this.#column = 0;
        if (this.#rows !== null) this.#rows += 1;
        continue;
      }
      const width = character === "\t" ? 8 - (this.#column % 8) : widthOf(character);
      if (this.#column + width > columns) {
        this.#column = 0;
        if (this.#rows !== null) this.#rows += 1;
      }
      this.#column += width;
    }
  }
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

function headOf(text: string, room: number): string {
  let head = "";
  for (const character of text) {
    if (widthOf(head) + widthOf(character) > room) break;
    head += character;
  }
  return head;
}

function tailOf(text: string, room: number): string {
  let [tail, width] = [text, widthOf(text)];
  for (const character of text) {
    if (width <= room) break;
    width -= widthOf(character);
    tail = tail.slice(character.length);
  }
  return tail;
}
