/**
 * POSIX word splitting and joining with the exact choices of Codex 0.171, whose action texts and
 * displayed commands are such joins. Splitting does not know operators: `a|b` is one word.
 */

const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const HASH = 35;
const DOLLAR = 36;
const SINGLE_QUOTE = 39;
const BACKSLASH = 92;
const CARET = 94;
const BACKTICK = 96;

const UNQUOTED = 1;
const SINGLE_QUOTED = 2;
const DOUBLE_QUOTED = 4;
const ANY_QUOTING = UNQUOTED | SINGLE_QUOTED | DOUBLE_QUOTED;

const NUL_PLACEHOLDER = "<command included NUL byte>";

/** Which quotings can carry each ASCII character; everything above ASCII is never left bare. */
const ALLOWED_QUOTINGS: readonly number[] = Array.from({ length: 128 }, (_, code) => {
  const bare = /[A-Za-z0-9+\-./:@\]_]/.test(String.fromCharCode(code)) ? UNQUOTED : 0;
  const single = code === SINGLE_QUOTE || code === BACKSLASH || code === CARET ? 0 : SINGLE_QUOTED;
  const double = /[`$!^]/.test(String.fromCharCode(code)) ? 0 : DOUBLE_QUOTED;
  return bare | single | double;
});

/**
 * Splits a command line into words: quotes are removed, a backslash escapes, `#` at a word start
 * begins a comment. Null when a quote or a trailing backslash is left open.
 */
export function shlexSplit(text: string): string[] | null {
  const words: string[] = [];
  const length = text.length;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (isBlank(code)) {
      at++;
    } else if (code === HASH) {
      const lineEnd = text.indexOf("\n", at);
      at = lineEnd === -1 ? length : lineEnd + 1;
    } else {
      let end = at;
      while (end < length && isOrdinary(text.charCodeAt(end))) end++;
      let word = text.slice(at, end);
      while (end < length && !isBlank(text.charCodeAt(end))) {
        const opener = text.charCodeAt(end);
        if (opener === SINGLE_QUOTE) {
          const close = text.indexOf("'", end + 1);
          if (close === -1) return null;
          word += text.slice(end + 1, close);
          end = close + 1;
        } else if (opener === DOUBLE_QUOTE) {
          const close = doubleQuoteEnd(text, end + 1);
          if (close === -1) return null;
          word += unescapeDoubleQuoted(text.slice(end + 1, close));
          end = close + 1;
        } else if (opener === BACKSLASH) {
          if (end + 1 >= length) return null;
          if (text.charCodeAt(end + 1) !== NEWLINE) word += text[end + 1] ?? "";
          end += 2;
        } else {
          const start = end;
          while (end < length && isOrdinary(text.charCodeAt(end))) end++;
          word += text.slice(start, end);
        }
      }
      words.push(word);
      at = end;
    }
  }
  return words;
}

/** Joins words so that a shell would read the same words back, quoting as Codex 0.171 does. */
export function shlexJoin(words: readonly string[]): string {
  let joined = "";
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word.includes("\0")) return NUL_PLACEHOLDER;
    if (index > 0) joined += " ";
    joined += quoteWord(word);
  }
  return joined;
}

function quoteWord(word: string): string {
  if (word === "") return "''";
  if (isBare(word)) return word;
  let quoted = "";
  let from = 0;
  while (from < word.length) {
    // `^` is only safe as the first character inside single quotes, so it starts a chunk of its own.
    let allowed = word.charCodeAt(from) === CARET ? SINGLE_QUOTED : ANY_QUOTING;
    let to = word.charCodeAt(from) === CARET ? from + 1 : from;
    for (; to < word.length; to++) {
      const code = word.charCodeAt(to);
      const narrowed = allowed & (code < 128 ? (ALLOWED_QUOTINGS[code] ?? 0) : SINGLE_QUOTED | DOUBLE_QUOTED);
      if (narrowed === 0) break;
      allowed = narrowed;
    }
    const chunk = word.slice(from, to);
    if (allowed & UNQUOTED) quoted += chunk;
    else if (allowed & SINGLE_QUOTED) quoted += `'${chunk}'`;
    else quoted += `"${chunk.replace(/["\\]/g, "\\$&")}"`;
    from = to;
  }
  return quoted;
}

function isBare(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    if (!((ALLOWED_QUOTINGS[word.charCodeAt(at)] ?? 0) & UNQUOTED)) return false;
  }
  return true;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB || code === NEWLINE;
}

function isOrdinary(code: number): boolean {
  return !isBlank(code) && code !== SINGLE_QUOTE && code !== DOUBLE_QUOTE && code !== BACKSLASH;
}

function doubleQuoteEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOUBLE_QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return -1;
}

function unescapeDoubleQuoted(content: string): string {
  let backslash = content.indexOf("\\");
  if (backslash === -1) return content;
  let result = "";
  let from = 0;
  while (backslash !== -1) {
    const next = content.charCodeAt(backslash + 1);
    if (next === NEWLINE) {
      result += content.slice(from, backslash);
      from = backslash + 2;
    } else if (next === DOLLAR || next === BACKTICK || next === DOUBLE_QUOTE || next === BACKSLASH) {
      result += content.slice(from, backslash);
      from = backslash + 1;
    }
    backslash = content.indexOf("\\", backslash + 2);
  }
  return result + content.slice(from);
}
