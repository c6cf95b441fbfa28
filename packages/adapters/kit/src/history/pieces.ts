import type { FilePiece } from "../jsonl.ts";

/** The lines of one turn, as two numbers each: an index of a long session stays small. */
export class PieceList {
  #numbers: number[] = [];

  /** A list from the `numbers` of another. */
  static of(numbers: readonly number[]): PieceList {
    const list = new PieceList();
    list.#numbers = [...numbers];
    return list;
  }

  /** Offset and length of each piece in turn, to be kept. */
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  get length(): number {
    return this.#numbers.length / 2;
  }

  add(offset: number, length: number): void {
    this.#numbers.push(offset, length);
  }

  /** Puts a piece before all others. */
  addFirst(offset: number, length: number): void {
    this.#numbers.unshift(offset, length);
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
