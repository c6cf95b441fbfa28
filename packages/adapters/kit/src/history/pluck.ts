/**
 * What to take out of a JSON text: `true` for a scalar, a shape for an object, a shape in brackets for an array of
 * objects (a string standing in its place is taken as a string). Everything else is checked and passed over.
 */
export interface PluckShape {
  readonly [member: string]: true | PluckShape | readonly [PluckShape];
}
export type Plucked = Readonly<Record<string, unknown>>;

/** Longest string that is taken whole, in bytes of its JSON form; a longer one is cut there. */
export const PLUCK_STRING_BYTES = 512;
const MAX_DEPTH = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const BAD = -1;

/** Where the reader of values stands; a module-wide object would be shared by nested calls. */
interface Cursor {
  bytes: Buffer;
  end: number;
  at: number;
}

/**
 * Reads a few members of a JSON object straight from its bytes, several times as fast as parsing it whole, and as
 * strict: null when the bytes are not exactly one JSON object. Containers deeper than 1,000 count as malformed.
 */
export function pluck(bytes: Buffer, start: number, end: number, shape: PluckShape): Plucked | null {
  const cursor: Cursor = { bytes, end, at: skipSpace(bytes, start, end) };
  if (bytes[cursor.at] !== OPEN_OBJECT || cursor.at >= end) return null;
  const result = pluckObject(cursor, shape);
  return result !== null && skipSpace(bytes, cursor.at, end) === end ? result : null;
}

/** `cursor.at` is at the opening brace; afterwards behind the closing one. */
function pluckObject(cursor: Cursor, shape: PluckShape): Record<string, unknown> | null {
  const { bytes, end } = cursor;
  const result: Record<string, unknown> = {};
  let at = skipSpace(bytes, cursor.at + 1, end);
  if (at < end && bytes[at] === CLOSE_OBJECT) {
    cursor.at = at + 1;
    return result;
  }
  for (;;) {
    if (at >= end || bytes[at] !== QUOTE) return null;
    const keyStart = at;
    at = skipString(bytes, at, end);
    if (at === BAD) return null;
    const key = bytes.latin1Slice(keyStart + 1, at - 1);
    at = skipSpace(bytes, at, end);
    if (at >= end || bytes[at] !== COLON) return null;
    at = skipSpace(bytes, at + 1, end);
    const wanted = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (wanted === undefined) {
      at = skipValue(bytes, at, end);
      if (at === BAD) return null;
    } else {
      cursor.at = at;
      const value = pluckValue(cursor, wanted);
      if (value === FAILED) return null;
      result[key] = value;
      at = cursor.at;
    }
    at = skipSpace(bytes, at, end);
    if (at >= end) return null;
    const next = bytes[at];
    if (next === CLOSE_OBJECT) {
      cursor.at = at + 1;
      return result;
    }
    if (next !== COMMA) return null;
    at = skipSpace(bytes, at + 1, end);
  }
}

const FAILED = Symbol("malformed");

function pluckValue(cursor: Cursor, wanted: true | PluckShape | readonly [PluckShape]): unknown {
  const { bytes, end, at } = cursor;
  if (at >= end) return FAILED;
  const first = bytes[at];
  if (first === OPEN_OBJECT && wanted !== true && !isList(wanted)) return pluckObject(cursor, wanted) ?? FAILED;
  if (first === OPEN_ARRAY && wanted !== true && isList(wanted)) return pluckArray(cursor, wanted[0]);
  const after = first === QUOTE ? skipString(bytes, at, end) : skipValue(bytes, at, end);
  if (after === BAD) return FAILED;
  cursor.at = after;
  if (first === QUOTE) return decodeString(bytes, at, after);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return undefined;
  return JSON.parse(bytes.latin1Slice(at, after)) as unknown;
}

function isList(wanted: PluckShape | readonly [PluckShape]): wanted is readonly [PluckShape] {
  return Array.isArray(wanted);
}

/** Members that are no objects are passed over as null, so that positions stay true. */
function pluckArray(cursor: Cursor, shape: PluckShape): unknown {
  const { bytes, end } = cursor;
  const list: (Record<string, unknown> | null)[] = [];
  let at = skipSpace(bytes, cursor.at + 1, end);
  if (at < end && bytes[at] === CLOSE_ARRAY) {
    cursor.at = at + 1;
    return list;
  }
  for (;;) {
    if (at < end && bytes[at] === OPEN_OBJECT) {
      cursor.at = at;
      const member = pluckObject(cursor, shape);
      if (member === null) return FAILED;
      list.push(member);
      at = cursor.at;
    } else {
      at = skipValue(bytes, at, end);
      if (at === BAD) return FAILED;
      list.push(null);
    }
    at = skipSpace(bytes, at, end);
    if (at >= end) return FAILED;
    if (bytes[at] === CLOSE_ARRAY) {
      cursor.at = at + 1;
      return list;
    }
    if (bytes[at] !== COMMA) return FAILED;
    at = skipSpace(bytes, at + 1, end);
  }
}

/** `start` at the opening quote, `after` behind the closing one; the string is known to be well-formed. */
function decodeString(bytes: Buffer, start: number, after: number): string {
  const limit = Math.min(after - 1, start + 1 + PLUCK_STRING_BYTES);
  let cut = start + 1;
  let plain = true;
  // `cut` only rests where neither an escape nor a UTF-8 sequence is torn.
  for (let at = cut; at < limit;) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) {
      plain = false;
      at += bytes[at + 1] === 0x75 ? 6 : 2;
      if (at > limit) break;
    } else {
      if (byte >= 0x80) plain = false;
      at++;
      while (at < after - 1 && (bytes[at]! & 0xc0) === 0x80) at++;
    }
    cut = at;
  }
  if (plain) return bytes.latin1Slice(start + 1, cut);
  return JSON.parse(`"${bytes.utf8Slice(start + 1, cut)}"`) as string;
}

function skipSpace(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at++;
  }
  return at;
}

/** Position behind a string whose opening quote is at `start`, or BAD. */
function skipString(bytes: Buffer, start: number, end: number): number {
  let at = start + 1;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) {
      const escape = bytes[at + 1];
      if (escape === 0x75) {
        if (at + 6 > end) return BAD;
        for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(bytes[digit]!)) return BAD;
        at += 6;
      } else if (at + 1 < end && isEscape(escape!)) at += 2;
      else return BAD;
    } else if (byte < 0x20) return BAD;
    else at++;
  }
  return BAD;
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** One of `" \ / b f n r t`. */
function isEscape(byte: number): boolean {
  return byte === QUOTE || byte === BACKSLASH || byte === 0x2f || byte === 0x62 || byte === 0x66 || byte === 0x6e
    || byte === 0x72 || byte === 0x74;
}

const SCALAR = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$/;

function skipScalar(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= 0x20) break;
    at++;
    if (at - start > 400) return BAD;
  }
  return SCALAR.test(bytes.latin1Slice(start, at)) ? at : BAD;
}

/** Position behind the value that begins at `start`, or BAD. Iterative: depth costs no call stack. */
function skipValue(bytes: Buffer, start: number, end: number): number {
  let at = start;
  const closers: number[] = [];
  for (;;) {
    at = skipSpace(bytes, at, end);
    if (at >= end) return BAD;
    const byte = bytes[at]!;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (closers.length === MAX_DEPTH) return BAD;
      closers.push(byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY);
      at = skipSpace(bytes, at + 1, end);
      if (bytes[at] === closers.at(-1) && at < end) {
        closers.pop();
        at++;
      } else {
        if (byte === OPEN_OBJECT) at = skipKey(bytes, at, end);
        if (at === BAD) return BAD;
        continue;
      }
    } else {
      at = byte === QUOTE ? skipString(bytes, at, end) : skipScalar(bytes, at, end);
      if (at === BAD) return BAD;
    }
    for (;;) {
      if (closers.length === 0) return at;
      at = skipSpace(bytes, at, end);
      if (at >= end) return BAD;
      const next = bytes[at]!;
      at++;
      if (next === closers.at(-1)) {
        closers.pop();
        continue;
      }
      if (next !== COMMA) return BAD;
      if (closers.at(-1) === CLOSE_OBJECT) at = skipKey(bytes, at, end);
      if (at === BAD) return BAD;
      break;
    }
  }
}

/** Position behind `"key":`, or BAD. */
function skipKey(bytes: Buffer, from: number, end: number): number {
  let at = skipSpace(bytes, from, end);
  if (at >= end || bytes[at] !== QUOTE) return BAD;
  at = skipString(bytes, at, end);
  if (at === BAD) return BAD;
  at = skipSpace(bytes, at, end);
  return at < end && bytes[at] === COLON ? at + 1 : BAD;
}
