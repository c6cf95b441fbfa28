import { sedEditsInPlace } from "./editing.ts";
import { type Finder, type Finding, readOf, UNKNOWN } from "./findings.ts";
import {
  bareOperandsOf,
  connectorIndex,
  isDashed,
  isDigits,
  NO_VALUE_FLAGS,
  operandsOf,
  type ValueFlags,
} from "./words.ts";

const BAT_VALUE_FLAGS: ValueFlags = new Set([
  ...["--theme", "--language", "--style", "--terminal-width", "--tabs", "--line-range", "--map-syntax"],
]);
const LESS_VALUE_FLAGS: ValueFlags = new Set([
  ...["-p", "-P", "-x", "-y", "-z", "-j", "--pattern", "--prompt", "--tabs", "--shift", "--jump-target"],
]);
const NL_VALUE_FLAGS: ValueFlags = new Set(["-s", "-w", "-v", "-i", "-b"]);
const AWK_VALUE_FLAGS: ValueFlags = new Set(["-F", "-v", "-f", "--field-separator", "--assign", "--file"]);
const SED_VALUE_FLAGS: ValueFlags = new Set(["-e", "-f", "--expression", "--file"]);
const GET_CONTENT_FLAGS: ReadonlySet<string> = new Set(["-path", "-literalpath", "-raw"]);
const PLAIN_POWERSHELL_PATH = /^[\p{Alphabetic}\p{N} ._\-/\\:]+$/u;

/** Commands that show a file, by name (Codex 0.171 behaviour). */
export const READING_COMMANDS: Readonly<Record<string, Finder>> = {
  cat: (words) => onlyOperand(words, NO_VALUE_FLAGS),
  more: (words) => onlyOperand(words, NO_VALUE_FLAGS),
  bat: (words) => onlyOperand(words, BAT_VALUE_FLAGS),
  batcat: (words) => onlyOperand(words, BAT_VALUE_FLAGS),
  less: (words) => onlyOperand(words, LESS_VALUE_FLAGS),
  head: (words) => fileEnd(words, isDigits),
  tail: (words) => fileEnd(words, isTailCount),
  awk: (words) => readOf(awkDataFile(words)),
  nl: numberedLines,
  sed: (words) => readOf(sedReadFile(words)),
};

/** The file an awk command works on: the operand after the program, or the first when `-f` gives the program. */
export function awkDataFile(words: readonly string[]): string | undefined {
  const operands = bareOperandsOf(words, 1, AWK_VALUE_FLAGS);
  const end = connectorIndex(words, 1);
  for (let index = 1; index < end; index++) {
    if (words[index] === "-f" || words[index] === "--file") return operands[0];
  }
  return operands[1];
}

/** The file of `sed -n '<from>,<to>p' file`, the only form of sed that just shows lines of a file. */
export function sedReadFile(words: readonly string[]): string | undefined {
  const end = connectorIndex(words, 1);
  if (sedEditsInPlace(words, 0, end)) return undefined;
  let quiet = false;
  let ranged = false;
  for (let index = 1; index < end; index++) {
    const word = words[index] ?? "";
    if (word === "-n") quiet = true;
    if (isLineRange(word)) ranged = true;
  }
  if (!quiet || !ranged) return undefined;
  const operands = bareOperandsOf(words, 1, SED_VALUE_FLAGS);
  return operands[0] !== undefined && isLineRange(operands[0]) ? operands[1] : operands[0];
}

/**
 * PowerShell's `Get-Content`, matched in any case: one file with a plain name, at most with `-Path`,
 * `-LiteralPath` and `-Raw`. Characters that PowerShell might interpret make it unknown, quoted or not.
 */
export function getContent(words: readonly string[]): Finding {
  let file: string | undefined;
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? "";
    if (GET_CONTENT_FLAGS.has(word.toLowerCase())) continue;
    if (file !== undefined || isDashed(word) || !PLAIN_POWERSHELL_PATH.test(word)) return UNKNOWN;
    file = word;
  }
  return readOf(file);
}

function onlyOperand(words: readonly string[], valueFlags: ValueFlags): Finding {
  const operands = operandsOf(words, 1, valueFlags);
  return operands.length === 1 ? readOf(operands[0]) : UNKNOWN;
}

/** head and tail: either a single file, or a line count as the very first argument and then a file. */
function fileEnd(words: readonly string[], isCount: (text: string, from: number) => boolean): Finding {
  const first = words[1];
  if (first === undefined) return UNKNOWN;
  if (words.length === 2 && !isDashed(first)) return readOf(first);
  let from: number;
  if (first === "-n") {
    const count = words[2];
    if (count === undefined || !isCount(count, 0)) return UNKNOWN;
    from = 3;
  } else if (first.startsWith("-n") && isCount(first, 2)) from = 2;
  else return UNKNOWN;
  for (let index = from; index < words.length; index++) {
    const word = words[index] ?? "";
    if (!isDashed(word)) return readOf(word);
  }
  return UNKNOWN;
}

/** A line count of tail, which may begin with `+`; unlike head's it may not be empty. */
function isTailCount(text: string, from: number): boolean {
  const start = text.charCodeAt(from) === 43 ? from + 1 : from;
  return start < text.length && isDigits(text, start);
}

function numberedLines(words: readonly string[]): Finding {
  return readOf(operandsOf(words, 1, NL_VALUE_FLAGS).find((operand) => !isDashed(operand)));
}

/** `<line>p` or `<from>,<to>p`. */
function isLineRange(script: string): boolean {
  const last = script.length - 1;
  if (last < 1 || script.charCodeAt(last) !== 112) return false;
  const range = script.slice(0, last);
  const comma = range.indexOf(",");
  if (comma === -1) return isDigits(range);
  return comma > 0 && comma < last - 1 && isDigits(range.slice(0, comma)) && isDigits(range, comma + 1);
}
