/**
 * Reads the flat part of the shell language: plain words, joined into commands, joined by `&&`, `||`,
 * `;`, `|` and newlines. Whatever lies beyond it (redirection, expansion, control flow, comments …) is
 * not understood at all, because a half-understood script would be described wrongly.
 */

const TAB = 9;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const DOLLAR = 36;
const AMPERSAND = 38;
const SINGLE_QUOTE = 39;
const SEMICOLON = 59;
const EQUALS = 61;
const BACKSLASH = 92;
const BACKTICK = 96;
const PIPE = 124;
const BYTE_ORDER_MARK = 0xfeff;

/** Unquoted characters that mean more than themselves; Codex 0.171 refuses globs and `#` in any position. */
const REFUSED: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  "*?[]{}~^\\#<>()$`".includes(String.fromCharCode(code)),
);

/** Far beyond any flat script that was typed; keeps the answer to a hostile script small. */
const MAX_COMMANDS = 1000;

/** What must follow: after a connector a command is due, after a terminator it is optional. */
type Joint = "connector" | "terminator";

/**
 * The commands of a script as word lists, in source order, with quotes removed as Codex 0.171 removes them
 * (backslashes inside double quotes stay). Null when the script is not flat, is malformed, has no command or
 * more than {@link MAX_COMMANDS}. Runs in one pass over the script.
 */
export function parseFlatScript(script: string): string[][] | null {
  const length = script.length;
  const commands: string[][] = [];
  let words: string[] = [];
  let joint: Joint = "terminator";
  let danglingBackslash = false;
  let at = script.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;

  while (at < length) {
    if (commands.length > MAX_COMMANDS) return null;
    const code = script.charCodeAt(at);
    if (code === NEWLINE) {
      do at++;
      while (script.charCodeAt(at) === NEWLINE);
      // Oddly, line breaks right before a skipped backslash do not end the command.
      if (words.length > 0 && skippedBackslash(script, at) === 0) {
        commands.push(words);
        words = [];
        joint = "terminator";
        danglingBackslash = false;
      }
    } else if (isInlineSpace(code)) {
      at++;
    } else if (code === BACKSLASH) {
      const skipped = skippedBackslash(script, at);
      if (skipped === 0) return null;
      danglingBackslash = true;
      at += skipped;
    } else if (code === SEMICOLON || code === PIPE || code === AMPERSAND) {
      if (words.length === 0) return null;
      const doubled = script.charCodeAt(at + 1) === code;
      if (code === SEMICOLON ? doubled : code === AMPERSAND && !doubled) return null;
      commands.push(words);
      words = [];
      joint = code === SEMICOLON ? "terminator" : "connector";
      danglingBackslash = false;
      at += doubled ? 2 : 1;
    } else {
      const end = wordEnd(script, at, words, words.length === 0);
      if (end === -1) return null;
      danglingBackslash = false;
      at = end;
    }
  }
  // A continuation needs something to continue with.
  if (danglingBackslash) return null;
  if (words.length > 0) commands.push(words);
  else if (joint === "connector") return null;
  return commands.length > 0 ? commands : null;
}

/** Reads one word and appends it; returns where it ends, -1 when it is not a plain word. */
function wordEnd(script: string, start: number, words: string[], isCommandName: boolean): number {
  const length = script.length;
  let at = start;
  let word = "";
  let quotedParts = 0;
  while (at < length) {
    const code = script.charCodeAt(at);
    if (code === SINGLE_QUOTE) {
      const close = script.indexOf("'", at + 1);
      if (close === -1) return -1;
      word += script.slice(at + 1, close);
      quotedParts++;
      at = close + 1;
    } else if (code === DOUBLE_QUOTE) {
      const close = literalDoubleQuoteEnd(script, at + 1);
      if (close === -1) return -1;
      word += script.slice(at + 1, close);
      quotedParts++;
      at = close + 1;
    } else if (endsWord(code)) {
      break;
    } else {
      if (code === EQUALS) return -1;
      const from = at;
      let bare = code;
      do {
        if (bare < 128 && REFUSED[bare]) {
          if (bare === BACKSLASH && at > from && isContinuation(script, at)) break;
          return -1;
        }
        bare = ++at < length ? script.charCodeAt(at) : SPACE;
      } while (!endsWord(bare) && bare !== SINGLE_QUOTE && bare !== DOUBLE_QUOTE);
      word += script.slice(from, at);
    }
    if (isContinuation(script, at)) break;
  }
  // The real parser yields no text for a word of several empty quotes, and names must be bare.
  if (quotedParts > 0 && (isCommandName || (word === "" && quotedParts > 1))) return -1;
  words.push(word);
  return at;
}

/** Index of the closing quote, -1 when the string is open or holds anything the shell would interpret. */
function literalDoubleQuoteEnd(script: string, from: number): number {
  for (let at = from; at < script.length; at++) {
    const code = script.charCodeAt(at);
    if (code === DOUBLE_QUOTE) return at;
    if (code === DOLLAR || code === BACKTICK) return -1;
    if (code === BACKSLASH) {
      const next = script.charCodeAt(at + 1);
      if (next === DOUBLE_QUOTE || next === BACKSLASH || next === DOLLAR || next === BACKTICK || next === NEWLINE)
        return -1;
    }
  }
  return -1;
}

/** Length of a backslash sequence that counts as white space between words, 0 for any other backslash. */
function skippedBackslash(script: string, at: number): number {
  if (script.charCodeAt(at) !== BACKSLASH) return 0;
  const next = script.charCodeAt(at + 1);
  if (next === NEWLINE || next === SPACE || (next >= TAB && next <= 12)) return 2;
  return next === CARRIAGE_RETURN && script.charCodeAt(at + 2) === NEWLINE ? 3 : 0;
}

function isContinuation(script: string, at: number): boolean {
  if (script.charCodeAt(at) !== BACKSLASH) return false;
  const next = script.charCodeAt(at + 1);
  return next === NEWLINE || (next === CARRIAGE_RETURN && script.charCodeAt(at + 2) === NEWLINE);
}

/** Only ASCII white space separates; a no-break or ideographic space is part of a word. */
function isInlineSpace(code: number): boolean {
  return code === SPACE || code === TAB || (code > NEWLINE && code <= CARRIAGE_RETURN);
}

function endsWord(code: number): boolean {
  return (
    code === SPACE ||
    (code >= TAB && code <= CARRIAGE_RETURN) ||
    code === SEMICOLON ||
    code === PIPE ||
    code === AMPERSAND
  );
}
