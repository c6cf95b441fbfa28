/**
 * Text frames of the WebSocket protocol (RFC 6455), as the client's side of a private socket reads and writes them. Of a
 * server's frames every one is delivered where it was read: a copy is made only of what a block of memory cuts in two.
 */

const BLOCK_BYTES = 64 * 1024;
/** With less room than this at its end a block is done with. */
const LEAST_ROOM = 8 * 1024;
/** A shorter frame is copied behind its head: one piece costs the system less than two. */
const MOST_COPIED = 8 * 1024;

const CONTINUED = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
const LAST = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
const MASK_BYTES = 4;
const SHORT = 126;
const LONG = 127;

export interface FrameEvents {
  text(bytes: Buffer): void;
  /** To be answered with the same bytes. */
  ping(bytes: Buffer): void;
  close(): void;
}

/** Bytes that are no frames of a server, or too many of them. */
export class FrameError extends Error {
  constructor(what: string) {
    super(what);
    this.name = "FrameError";
  }
}

/** What a server sends, read into blocks of memory that the frames are parts of. */
export class FrameReader {
  readonly #events: FrameEvents;
  readonly #maxBytes: number;
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  /** What was read and not delivered stands between these two. */
  #from = 0;
  #end = 0;
  /** Of a message in several frames: those that are here, null where there is none. */
  #parts: Buffer[] | null = null;
  #partBytes = 0;
  #isText = false;

  /** A message of more than `maxBytes` is an error. */
  constructor(maxBytes: number, events: FrameEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  /** Where the next bytes are to be put. */
  room(): Buffer {
    const here = this.#end - this.#from;
    const size = this.#frameSize();
    if (this.#block.length - this.#end < LEAST_ROOM || this.#from + size > this.#block.length) {
      const next = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, size));
      this.#block.copy(next, 0, this.#from, this.#end);
      this.#block = next;
      this.#from = 0;
      this.#end = here;
    }
    return this.#block.subarray(this.#end);
  }

  /** So many bytes have been put there. Throws a `FrameError`, after which nothing more can be read. */
  took(count: number): void {
    this.#end += count;
    for (;;) {
      const size = this.#frameSize();
      if (size === 0 || this.#end - this.#from < size) return;
      const start = this.#from + headSize(this.#block[this.#from + 1]!);
      const first = this.#block[this.#from]!;
      this.#from += size;
      this.#deliver(first, this.#block.subarray(start, this.#from));
    }
  }

  /** Of the next frame with its head; 0 while that is not known. */
  #frameSize(): number {
    const here = this.#end - this.#from;
    if (here < 2) return 0;
    const second = this.#block[this.#from + 1]!;
    if ((second & MASKED) !== 0) throw new FrameError("it masks what it says");
    const head = headSize(second);
    if (here < head) return 0;
    const length = second < SHORT ? second : second === SHORT ? this.#block.readUInt16BE(this.#from + 2) : Number(this.#block.readBigUInt64BE(this.#from + 2));
    if (length + this.#partBytes > this.#maxBytes) throw new FrameError(`it says ${String(length)} bytes at once`);
    return head + length;
  }

  #deliver(first: number, bytes: Buffer): void {
    if ((first & RESERVED) !== 0) throw new FrameError("it uses an extension that nobody asked for");
    const isLast = (first & LAST) !== 0;
    switch (first & 0x0f) {
      case TEXT:
      case BINARY:
        if (this.#parts !== null) throw new FrameError("it begins a message within another one");
        this.#isText = (first & 0x0f) === TEXT;
        if (!isLast) this.#keep(bytes);
        else if (this.#isText) this.#events.text(bytes);
        return;
      case CONTINUED:
        return this.#goOn(bytes, isLast);
      case PING:
        return this.#events.ping(bytes);
      case PONG:
        return;
      case CLOSE:
        return this.#events.close();
      default:
        throw new FrameError("it says what is no WebSocket frame");
    }
  }

  #keep(bytes: Buffer): void {
    (this.#parts ??= []).push(bytes);
    this.#partBytes += bytes.length;
  }

  #goOn(bytes: Buffer, isLast: boolean): void {
    if (this.#parts === null) throw new FrameError("it goes on with no message");
    this.#keep(bytes);
    if (!isLast) return;
    const whole = Buffer.concat(this.#parts, this.#partBytes);
    this.#parts = null;
    this.#partBytes = 0;
    if (this.#isText) this.#events.text(whole);
  }
}

const headSize = (second: number): number => (second < SHORT ? 2 : second === SHORT ? 4 : 10);

/**
 * A frame as a client has to send it, in one piece or two. A mask keeps scripts of web pages from speaking to what stands
 * between them and a server; here nobody does, and with a mask of zeros the bytes stay what they are.
 */
function clientFrame(opcode: number, bytes: Buffer): [Buffer] | [Buffer, Buffer] {
  const { length } = bytes;
  const shortest = length < SHORT ? length : length < 65_536 ? SHORT : LONG;
  const size = headSize(shortest) + MASK_BYTES;
  const isCopied = length <= MOST_COPIED;
  const piece = Buffer.allocUnsafe(isCopied ? size + length : size);
  piece[0] = LAST | opcode;
  piece[1] = MASKED | shortest;
  if (shortest === SHORT) piece.writeUInt16BE(length, 2);
  else if (shortest === LONG) piece.writeBigUInt64BE(BigInt(length), 2);
  piece.fill(0, size - MASK_BYTES, size);
  if (!isCopied) return [piece, bytes];
  bytes.copy(piece, size);
  return [piece];
}

export const textFrame = (bytes: Buffer): [Buffer] | [Buffer, Buffer] => clientFrame(TEXT, bytes);
/** Of up to 125 bytes, as all that it answers. */
export const pongFrame = (bytes: Buffer): Buffer => clientFrame(PONG, bytes)[0];
export const closeFrame = (): Buffer => clientFrame(CLOSE, Buffer.alloc(0))[0];
