/**
 * What to take out of a JSON text: `true` for a scalar (`"repeated"` for one that has few values, which are then
 * decoded once), a shape for an object, a shape in brackets for an array of objects (a string standing in its place is
 * taken as a string). Everything else is passed over.
 */
export interface PluckShape {
  readonly [member: string]: Wanted;
}
type Wanted = true | "repeated" | PluckShape | readonly [PluckShape];
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
const FAILED = Symbol("malformed");

/** A shape made ready: its members by the length of their names, so that most names are told apart at once. */
interface Plan {
  byLength: (PlannedMember[] | undefined)[];
}
interface PlannedMember {
  name: string;
  bytes: Buffer;
  kind: "scalar" | "object" | "list";
  plan: Plan;
  /** The last values of a repeated string. */
  recent: RecentString[] | null;
}
interface RecentString {
  bytes: Uint8Array;
  text: string;
}
const RECENT = 8;

const NO_PLAN: Plan = { byLength: [] };

/** Where the reader of values stands. */
interface Cursor {
  bytes: Buffer;
  end: number;
  at: number;
}

/**
 * Makes a reader that takes a few members of a JSON object straight from its bytes, several times as fast as parsing it
 * whole. The reader answers null when the bytes are no complete JSON object. It checks the structure, every name and
 * every scalar, and not each escape and control character of strings: what it accepts may still fail to parse.
 * Containers deeper than 1,000 count as malformed.
 */
export function plucker(shape: PluckShape): (bytes: Buffer, start: number, end: number) => Plucked | null {
  const plan = planOf(shape);
  return (bytes, start, end) => {
    const cursor: Cursor = { bytes, end, at: skipSpace(bytes, start, end) };
    if (cursor.at >= end || bytes[cursor.at] !== OPEN_OBJECT) return null;
    const result = pluckObject(cursor, plan);
    return result !== null && skipSpace(bytes, cursor.at, end) === end ? result : null;
  };
}

function planOf(shape: PluckShape): Plan {
  const plan: Plan = { byLength: [] };
  for (const [name, wanted] of Object.entries(shape)) {
    const bytes = Buffer.from(name);
    const scalar = wanted === true || wanted === "repeated";
    const inner = scalar ? NO_PLAN : planOf(isList(wanted) ? wanted[0] : wanted);
    const kind = scalar ? "scalar" : isList(wanted) ? "list" : "object";
    const recent = wanted === "repeated" ? [] : null;
    (plan.byLength[bytes.length] ??= []).push({ name, bytes, kind, plan: inner, recent });
  }
  return plan;
}

function isList(wanted: Wanted): wanted is readonly [PluckShape] {
  return Array.isArray(wanted);
}

function wantedMember(plan: Plan, bytes: Buffer, start: number, length: number): PlannedMember | null {
  const candidates = plan.byLength[length];
  if (candidates === undefined) return null;
  for (const candidate of candidates) if (equalAt(candidate.bytes, bytes, start)) return candidate;
  return null;
}

function equalAt(expected: Uint8Array, bytes: Buffer, start: number): boolean {
  const { length } = expected;
  let same = 0;
  while (same < length && expected[same] === bytes[start + same]) same++;
  return same === length;
}

/** `cursor.at` is at the opening brace; afterwards behind the closing one. */
function pluckObject(cursor: Cursor, plan: Plan): Record<string, unknown> | null {
  const { bytes, end } = cursor;
  const result: Record<string, unknown> = {};
  let at = skipSpace(bytes, cursor.at + 1, end);
  if (at < end && bytes[at] === CLOSE_OBJECT) {
    cursor.at = at + 1;
    return result;
  }
  for (;;) {
    if (at >= end || bytes[at] !== QUOTE) return null;
    const nameStart = at + 1;
    at = skipString(bytes, at, end);
    if (at === BAD) return null;
    const wanted = wantedMember(plan, bytes, nameStart, at - 1 - nameStart);
    at = skipSpace(bytes, at, end);
    if (at >= end || bytes[at] !== COLON) return null;
    at = skipSpace(bytes, at + 1, end);
    if (wanted === null) {
      at = skipValue(bytes, at, end);
      if (at === BAD) return null;
    } else {
      cursor.at = at;
      const value = pluckValue(cursor, wanted);
      if (value === FAILED) return null;
      result[wanted.name] = value;
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

function pluckValue(cursor: Cursor, wanted: PlannedMember): unknown {
  const { bytes, end, at } = cursor;
  if (at >= end) return FAILED;
  const first = bytes[at];
  if (first === OPEN_OBJECT && wanted.kind === "object") return pluckObject(cursor, wanted.plan) ?? FAILED;
  if (first === OPEN_ARRAY && wanted.kind === "list") return pluckArray(cursor, wanted.plan);
  const after = skipValue(bytes, at, end);
  if (after === BAD) return FAILED;
  cursor.at = after;
  if (first === QUOTE) return wanted.recent === null ? decodeString(bytes, at, after) : recentString(wanted.recent, bytes, at, after);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return undefined;
  return JSON.parse(bytes.toString("latin1", at, after)) as unknown;
}

/** Members that are no objects are passed over as null, so that positions stay true. */
function pluckArray(cursor: Cursor, plan: Plan): unknown {
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
      const member = pluckObject(cursor, plan);
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

function recentString(recent: RecentString[], bytes: Buffer, start: number, after: number): unknown {
  const length = after - start - 2;
  for (const known of recent) if (known.bytes.length === length && equalAt(known.bytes, bytes, start + 1)) return known.text;
  const text = decodeString(bytes, start, after);
  if (typeof text !== "string" || length > PLUCK_STRING_BYTES) return text;
  if (recent.length === RECENT) recent.pop();
  recent.unshift({ bytes: new Uint8Array(bytes.subarray(start + 1, after - 1)), text });
  return text;
}

/** `start` at the opening quote, `after` behind the closing one. FAILED when what is taken does not parse. */
function decodeString(bytes: Buffer, start: number, after: number): unknown {
  const last = after - 1;
  const limit = Math.min(last, start + 1 + PLUCK_STRING_BYTES);
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
      if (byte >= 0x80 || byte < 0x20) plain = false;
      at++;
      while (at < last && (bytes[at]! & 0xc0) === 0x80) at++;
    }
    cut = at;
  }
  if (plain) return bytes.toString("latin1", start + 1, cut);
  try {
    return JSON.parse(`"${bytes.toString("utf8", start + 1, cut)}"`) as string;
  } catch {
    return FAILED;
  }
}

function skipSpace(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
    at++;
  }
  return at;
}

/** Strings longer than this are searched natively: slower to begin, far faster to go on. */
const NEAR_BYTES = 48;

/** Position behind a string whose opening quote is at `start`, or BAD. */
function skipString(bytes: Buffer, start: number, end: number): number {
  let at = start + 1;
  let near = Math.min(end, at + NEAR_BYTES);
  for (;;) {
    while (at < near) {
      const byte = bytes[at]!;
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= end) return BAD;
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === BAD || quote >= end) return BAD;
    let slashes = 0;
    while (quote - 1 - slashes >= at && bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
    near = Math.min(end, at + NEAR_BYTES);
  }
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
  // Most numbers are short and whole.
  if (at > start && at - start < 16 && bytes[start]! >= 0x31) {
    let digit = start;
    while (digit < at && bytes[digit]! >= 0x30 && bytes[digit]! <= 0x39) digit++;
    if (digit === at) return at;
  }
  return SCALAR.test(bytes.toString("latin1", start, at)) ? at : BAD;
}

/** Closing brackets that are awaited. Shared: the walk below never calls itself and never waits. */
const closers = new Uint8Array(MAX_DEPTH);

/** Position behind the value that begins at `start`, or BAD. Iterative: depth costs no call stack. */
function skipValue(bytes: Buffer, start: number, end: number): number {
  let at = start;
  let depth = 0;
  for (;;) {
    at = skipSpace(bytes, at, end);
    if (at >= end) return BAD;
    const byte = bytes[at]!;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth === MAX_DEPTH) return BAD;
      closers[depth++] = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      at = skipSpace(bytes, at + 1, end);
      if (at < end && bytes[at] === closers[depth - 1]) {
        depth--;
        at++;
      } else {
        if (byte === OPEN_OBJECT) at = skipName(bytes, at, end);
        if (at === BAD) return BAD;
        continue;
      }
    } else {
      at = byte === QUOTE ? skipString(bytes, at, end) : skipScalar(bytes, at, end);
      if (at === BAD) return BAD;
    }
    for (;;) {
      if (depth === 0) return at;
      at = skipSpace(bytes, at, end);
      if (at >= end) return BAD;
      const next = bytes[at]!;
      at++;
      if (next === closers[depth - 1]) {
        depth--;
        continue;
      }
      if (next !== COMMA) return BAD;
      if (closers[depth - 1] === CLOSE_OBJECT) at = skipName(bytes, at, end);
      if (at === BAD) return BAD;
      break;
    }
  }
}

/** Position behind `"name":`, or BAD. */
function skipName(bytes: Buffer, from: number, end: number): number {
  let at = skipSpace(bytes, from, end);
  if (at >= end || bytes[at] !== QUOTE) return BAD;
  at = skipString(bytes, at, end);
  if (at === BAD) return BAD;
  at = skipSpace(bytes, at, end);
  return at < end && bytes[at] === COLON ? at + 1 : BAD;
}
