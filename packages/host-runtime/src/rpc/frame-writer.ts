import type { Writable } from "node:stream";
import type { Frame } from "./frame.ts";

/** Pieces up to so many bytes are put together: one write costs the system far less than many. Longer ones are not copied. */
const MOST_COPIED = 8 * 1024;
const BLOCK_BYTES = 256 * 1024;

/** What stands around a frame on the wire. */
export interface Framing {
  /** Bytes of it before and behind a frame of this length, together. */
  size(length: number): number;
  /** Writes what stands before the frame; gives where it ends. */
  before(target: Buffer, at: number, length: number): number;
  /** The same for what stands behind it. */
  behind(target: Buffer, at: number): number;
}

/** Writes frames to a stream: short ones copied into blocks, long ones as they are, shared with whoever else sends them. */
export function writeFrames(stream: Writable, frames: readonly Frame[], framing: Framing, taken: () => void): void {
  const blocks = new Blocks(copiedBytes(frames, framing));
  for (const frame of frames) {
    const { length } = frame;
    const around = framing.size(length);
    if (length <= MOST_COPIED) blocks.copy(around + length, (target, at) => framing.behind(target, frame.copyTo(target, framing.before(target, at, length))));
    else {
      blocks.copy(around, (target, at) => framing.before(target, at, length));
      for (const part of frame.parts) blocks.part(part);
      blocks.copy(around, (target, at) => framing.behind(target, at));
    }
  }
  const pieces = blocks.end();
  stream.cork();
  pieces.forEach((piece, at) => stream.write(piece, at === pieces.length - 1 ? () => taken() : undefined));
  stream.uncork();
}

function copiedBytes(frames: readonly Frame[], framing: Framing): number {
  let bytes = 0;
  for (const frame of frames) {
    const { length } = frame;
    bytes += framing.size(length);
    if (length <= MOST_COPIED) bytes += length;
    else for (const part of frame.parts) if (part.length <= MOST_COPIED) bytes += part.length;
  }
  return bytes;
}

/** Pieces in order. */
class Blocks {
  readonly #done: Buffer[] = [];
  /** Bytes that are still to be copied. */
  #left: number;
  #block = Buffer.alloc(0);
  #from = 0;
  #end = 0;

  constructor(left: number) {
    this.#left = left;
  }

  /** `write` puts up to `size` bytes there and gives where they end. */
  copy(size: number, write: (target: Buffer, at: number) => number): void {
    if (this.#end + size > this.#block.length) {
      this.#close();
      this.#block = Buffer.allocUnsafe(Math.max(size, Math.min(this.#left, BLOCK_BYTES)));
      this.#from = 0;
      this.#end = 0;
    }
    const end = write(this.#block, this.#end);
    this.#left -= end - this.#end;
    this.#end = end;
  }

  part(part: Buffer): void {
    if (part.length <= MOST_COPIED) return this.copy(part.length, (target, at) => at + part.copy(target, at));
    this.#close();
    this.#done.push(part);
  }

  end(): Buffer[] {
    this.#close();
    return this.#done;
  }

  #close(): void {
    if (this.#end > this.#from) this.#done.push(this.#block.subarray(this.#from, this.#end));
    this.#from = this.#end;
  }
}
