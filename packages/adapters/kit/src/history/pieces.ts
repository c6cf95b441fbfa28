import type { FilePiece } from "../jsonl.ts";

/** The lines of one turn, as two numbers each: an index of a long session stays small. */
export class PieceList {
  readonly #numbers: number[] = [];
  #bytes = 0;

  /** Of all pieces together. */
  get bytes(): number {
    return this.#bytes;
  }

  get length(): number {
    return this.#numbers.length / 2;
  }

  add(offset: number, length: number): void {
    this.#numbers.push(offset, length);
    this.#bytes += length;
  }

  /** In the order they were added. */
  list(): FilePiece[] {
    const pieces: FilePiece[] = [];
    for (let at = 0; at < this.#numbers.length; at += 2) {
      pieces.push({ offset: this.#numbers[at]!, length: this.#numbers[at + 1]! });
    }
    return pieces;
  }
}
