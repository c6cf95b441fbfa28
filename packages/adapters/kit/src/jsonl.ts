import type { FileHandle } from "node:fs/promises";

/** Longest line that is read, in bytes; one image in base64 can be several megabytes. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A piece of a file in bytes, such as one line without its end. */
export interface FilePiece {
  offset: number;
  length: number;
}

/**
 * One line, without its end (`\n` or `\r\n`) and without a byte order mark. The bytes are the reader's own buffer and
 * change after the call: decode or copy what is to stay. `ended` is false for a last line without its newline, which a
 * running writer may still be at.
 */
export type LineHandler = (bytes: Buffer, start: number, end: number, offset: number, ended: boolean) => void;

export interface LineScan {
  /** Offset behind the last byte that was looked at. */
  end: number;
  /** Offset where the last line without a newline begins; equals `end` when the file ends in a newline. */
  unendedFrom: number;
  /** Lines longer than the limit; they were skipped and never held in memory. */
  oversized: number;
}

export interface ScanOptions {
  from?: number;
  /** Offset where reading ends, default the end of the file; it may stand in the middle of a line. */
  to?: number;
  maxLineBytes?: number;
}

/**
 * Reads lines from an open file by chunks, calling `onLine` for each one that is not blank. Lines end at the byte
 * `\n` only, so U+2028 and U+2029 inside a line are text. Memory is bounded by the longest line.
 */
export async function scanLines(file: FileHandle, onLine: LineHandler, options: ScanOptions = {}): Promise<LineScan> {
  const limit = options.maxLineBytes ?? MAX_LINE_BYTES;
  const to = options.to ?? Infinity;
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(to - (options.from ?? 0), 1)));
  /** File offset of `buffer[0]`, bytes held, and how far those were searched. */
  let base = options.from ?? 0;
  let held = 0;
  let searched = 0;
  let oversized = 0;
  let skipping = false;
  let lineStart = base;
  for (;;) {
    if (held === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, held);
      buffer = larger;
    }
    const wanted = Math.min(buffer.length - held, to - (base + held));
    const { bytesRead } = wanted > 0 ? await file.read(buffer, held, wanted, base + held) : { bytesRead: 0 };
    if (bytesRead === 0) break;
    held += bytesRead;
    const filled = buffer.subarray(0, held);
    let start = 0;
    for (;;) {
      const newline = filled.indexOf(NEWLINE, Math.max(start, searched));
      if (newline === -1) break;
      if (skipping) skipping = false;
      else if (newline - start > limit) oversized++;
      else emit(buffer, start, newline, base + start, true, onLine);
      start = newline + 1;
      lineStart = base + start;
    }
    if (held - start > limit && !skipping) {
      oversized++;
      skipping = true;
    }
    if (skipping) start = held;
    buffer.copyWithin(0, start, held);
    base += start;
    held -= start;
    searched = held;
  }
  const end = base + held;
  if (held > 0 && !skipping) emit(buffer, 0, held, base, false, onLine);
  return { end, unendedFrom: lineStart, oversized };
}

function emit(buffer: Buffer, from: number, to: number, offset: number, ended: boolean, onLine: LineHandler): void {
  let start = from;
  let end = to;
  if (offset === 0 && buffer[start] === 0xef && buffer[start + 1] === 0xbb && buffer[start + 2] === 0xbf) start += 3;
  while (end > start && (buffer[end - 1] === RETURN || buffer[end - 1] === 0x20)) end--;
  if (end > start) onLine(buffer, start, end, offset + (start - from), ended);
}

const GAP_BYTES = 64 * 1024;
/** So much is read at a time, and as much ahead: what a reader makes of it is to be gone before the next is there. */
const GROUP_BYTES = 512 * 1024;

/** Pieces `first` ≤ i < `last` of a list, which stand together in the file. The bytes change when the next group is asked for. */
export interface PieceGroup {
  first: number;
  last: number;
  bytes: Buffer;
  /** Offset in the file of `bytes[0]`. */
  offset: number;
}

/**
 * Reads given pieces of an open file in the order given; those that stand close together are read at once, and the next
 * group while the last one is used. A group may hold less than was asked for when the file has become shorter. The file
 * may be closed when the generator has ended.
 */
export async function* pieceGroups(file: FileHandle, pieces: readonly FilePiece[]): AsyncGenerator<PieceGroup> {
  let [free, used] = [Buffer.allocUnsafe(0), Buffer.allocUnsafe(0)];
  let ahead: Promise<PieceGroup> | null = null;
  const readFrom = (first: number): Promise<PieceGroup> | null => {
    if (first >= pieces.length) return null;
    const { last, from, to } = groupFrom(pieces, first);
    if (free.length < to - from) free = Buffer.allocUnsafe(last < pieces.length ? Math.max(to - from, GROUP_BYTES) : to - from);
    const reading = readGroup(file, free, { first, last, from, to });
    [free, used] = [used, free];
    // Whoever awaits it later gets the error.
    reading.catch(() => undefined);
    return reading;
  };
  try {
    for (ahead = readFrom(0); ahead !== null;) {
      const group: PieceGroup = await ahead;
      ahead = readFrom(group.last);
      yield group;
    }
  } finally {
    await ahead?.catch(() => undefined);
  }
}

function groupFrom(pieces: readonly FilePiece[], first: number): { last: number; from: number; to: number } {
  const from = pieces[first]!.offset;
  let to = from + pieces[first]!.length;
  let last = first + 1;
  for (let next = pieces[last]; next !== undefined; next = pieces[last]) {
    const end = next.offset + next.length;
    if (next.offset < from || next.offset - to > GAP_BYTES || end - from > GROUP_BYTES) break;
    to = Math.max(to, end);
    last++;
  }
  return { last, from, to };
}

async function readGroup(file: FileHandle, buffer: Buffer, group: { first: number; last: number; from: number; to: number }): Promise<PieceGroup> {
  const { first, last, from, to } = group;
  let filled = 0;
  while (filled < to - from) {
    const { bytesRead } = await file.read(buffer, filled, to - from - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return { first, last, bytes: buffer.subarray(0, filled), offset: from };
}

/** Calls `onPiece` for each piece, as far as the file still holds it. The bytes are only valid during the call. */
export async function readPieces(
  file: FileHandle, pieces: readonly FilePiece[], onPiece: (bytes: Buffer, start: number, end: number, index: number) => void,
): Promise<void> {
  for await (const group of pieceGroups(file, pieces)) {
    for (let index = group.first; index < group.last; index++) onPiece(group.bytes, ...spanIn(group, pieces[index]!), index);
  }
}

/** Where a piece of a group begins and ends in its bytes. */
export function spanIn({ bytes, offset }: PieceGroup, piece: FilePiece): [start: number, end: number] {
  const start = piece.offset - offset;
  return [Math.min(start, bytes.length), Math.min(start + piece.length, bytes.length)];
}
