import { editsFiles, sedEditsInPlace } from "./editing.ts";
import { awkDataFile, sedReadFile } from "./reading.ts";
import { isDashed, isDigits } from "./words.ts";

const ALWAYS_FORMATTING: ReadonlySet<string> = new Set([
  "wc",
  "tr",
  "cut",
  "sort",
  "uniq",
  "tee",
  "column",
  "yes",
  "printf",
]);
const XARGS_VALUE_FLAGS: ReadonlySet<string> = new Set(["-E", "-e", "-I", "-L", "-n", "-P", "-s"]);

/**
 * Whether a command only shapes the output of others and says nothing of its own about the script
 * (Codex 0.171 behaviour). It is dropped wherever it stands, not only after a pipe.
 */
export function isFormatting(words: readonly string[]): boolean {
  const name = words[0] ?? "";
  switch (name) {
    case "head":
    case "tail":
      return isFilterOnly(words, name === "tail");
    case "sed":
      return !sedEditsInPlace(words, 0, words.length) && sedReadFile(words) === undefined;
    case "awk":
      return awkDataFile(words) === undefined;
    case "xargs":
      return !editsFiles(words, xargsCommandIndex(words));
    default:
      return ALWAYS_FORMATTING.has(name);
  }
}

/** head and tail without a file: bare, one flag, or a separate count. */
function isFilterOnly(words: readonly string[], allowsPlus: boolean): boolean {
  const [, flag, count] = words;
  if (flag === undefined) return true;
  if (count === undefined) return isDashed(flag);
  if (words.length > 3 || (flag !== "-n" && flag !== "-c")) return false;
  return isDigits(count, allowsPlus && count.startsWith("+") ? 1 : 0);
}

/** Index of the command that xargs runs; past the end when there is none. */
function xargsCommandIndex(words: readonly string[]): number {
  let index = 1;
  for (; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return index + 1;
    if (!isDashed(word)) return index;
    if (XARGS_VALUE_FLAGS.has(word)) index++;
  }
  return index;
}
