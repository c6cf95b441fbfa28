/** Where a JSON value stands in bytes: from `start` up to `end`. */
export interface Span {
  start: number;
  end: number;
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** So many bytes of a text are looked at one by one; a call into the engine pays only beyond. */
const SHORT = 48;

/**
 * Shallow reading of JSON that stays as it is: no value is made of what is not asked for, and what was never parsed
 * cannot change on its way. It does not judge: a text that is no JSON may be read as if it were.
 */
function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== NEWLINE && byte !== RETURN && byte !== TAB) break;
    at++;
  }
  return at;
}

/** Behind the closing quote of the text that opens at `open`; -1 where it does not close. */
function endOfText(bytes: Buffer, open: number): number {
  for (let from = open + 1; ;) {
    let quote = from;
    const near = Math.min(from + SHORT, bytes.length);
    while (quote < near && bytes[quote] !== QUOTE) quote++;
    if (quote === near) {
      quote = bytes.indexOf(QUOTE, near);
      if (quote === -1) return -1;
    }
    let before = quote - 1;
    while (before > open && bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    from = quote + 1;
  }
}

/** Behind the value that begins at `at`, which is no white space; -1 where it does not end. */
function endOfValue(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return endOfText(bytes, at);
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return endOfScalar(bytes, at);
  let depth = 0;
  for (let here = at; here < bytes.length; here++) {
    const byte = bytes[here];
    if (byte === QUOTE) {
      const end = endOfText(bytes, here);
      if (end === -1) return -1;
      here = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--;
      if (depth === 0) return here + 1;
    }
  }
  return -1;
}

function endOfScalar(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte === COLON || byte === QUOTE || byte <= SPACE) break;
    at++;
  }
  return at === from ? -1 : at;
}

/** True when nothing but white space stands behind `at`. */
export function isAtEnd(bytes: Buffer, at: number): boolean {
  return skipSpace(bytes, at) === bytes.length;
}

/** `false` = look no further. */
export type MemberVisitor = (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => boolean | undefined;

/**
 * The members of the object at `start`, in their order, each as often as it stands there; the spans include the quotes of
 * texts. Gives where the object ends; -1 where there is no whole object, or the visitor has seen enough.
 */
export function eachMember(bytes: Buffer, start: number, visit: MemberVisitor): number {
  let at = skipSpace(bytes, start);
  if (bytes[at] !== OPEN_OBJECT) return -1;
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    if (bytes[at] !== QUOTE) return -1;
    const keyStart = at;
    const keyEnd = endOfText(bytes, at);
    if (keyEnd === -1) return -1;
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) return -1;
    const valueStart = skipSpace(bytes, at + 1);
    if (valueStart === bytes.length) return -1;
    const valueEnd = endOfValue(bytes, valueStart);
    if (valueEnd === -1) return -1;
    if (visit(keyStart, keyEnd, valueStart, valueEnd) === false) return -1;
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1);
  }
}

/** The elements of the list at `start`; null where there is none. */
export function elementsOf(bytes: Buffer, start = 0): Span[] | null {
  let at = skipSpace(bytes, start);
  if (bytes[at] !== OPEN_LIST) return null;
  at = skipSpace(bytes, at + 1);
  const elements: Span[] = [];
  if (bytes[at] === CLOSE_LIST) return elements;
  for (;;) {
    if (at >= bytes.length) return null;
    const end = endOfValue(bytes, at);
    if (end === -1) return null;
    elements.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return elements;
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1);
  }
}

/** A text of JSON in plain words, escapes read; null for any other value. */
export function textAt(bytes: Buffer, start: number, end: number): string | null {
  if (bytes[start] !== QUOTE) return null;
  const inner = bytes.toString("utf8", start + 1, end - 1);
  if (!inner.includes("\\")) return inner;
  try {
    const value: unknown = JSON.parse(`"${inner}"`);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** The members of the object at `start` by their names in plain words; of members with one name the last, as `JSON.parse` takes it. */
export function membersOf(bytes: Buffer, start = 0): Map<string, Span> | null {
  const members = new Map<string, Span>();
  const end = eachMember(bytes, start, (keyStart, keyEnd, valueStart, valueEnd) => {
    const key = textAt(bytes, keyStart, keyEnd);
    if (key !== null) members.set(key, { start: valueStart, end: valueEnd });
    return undefined;
  });
  return end === -1 ? null : members;
}

/** A text member of the object at `start`, found by its name; null where there is none. */
export function textMember(bytes: Buffer, start: number, name: string): string | null {
  const span = membersOf(bytes, start)?.get(name);
  return span === undefined ? null : textAt(bytes, span.start, span.end);
}
