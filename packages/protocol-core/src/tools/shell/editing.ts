import { isDashed } from "./words.ts";

const SED_VALUE_FLAGS: ReadonlySet<string> = new Set(["-e", "-f", "--expression", "--file"]);

const LETTER_E = 101;
const LETTER_F = 102;
const LETTER_I = 105;

/**
 * Whether the command at `words[at]` changes the files it is given, as far as Codex 0.171 knows: sed, perl
 * and ruby in place, and `rg --replace`.
 */
export function editsFiles(words: readonly string[], at: number): boolean {
  switch (words[at]) {
    case "sed":
      return sedEditsInPlace(words, at, words.length);
    case "perl":
    case "ruby":
      return words.some(
        (word, index) => index > at && (word.startsWith("-i") || word.startsWith("-pi") || isLongInPlace(word)),
      );
    case "rg":
      return words.includes("--replace", at + 1);
    default:
      return false;
  }
}

/** Whether the sed at `words[at]` has `-i` (alone or among bundled flags) or `--in-place` before `words[end]`. */
export function sedEditsInPlace(words: readonly string[], at: number, end: number): boolean {
  for (let index = at + 1; index < end; index++) {
    const word = words[index] ?? "";
    if (!isDashed(word)) continue;
    if (word === "--") return false;
    if (isLongInPlace(word)) return true;
    if (word.startsWith("--")) {
      if (SED_VALUE_FLAGS.has(word)) index++;
      continue;
    }
    for (let position = 1; position < word.length; position++) {
      const flag = word.charCodeAt(position);
      if (flag === LETTER_I) return true;
      if (flag === LETTER_E || flag === LETTER_F) {
        // The value is the rest of the bundle, or the next word when nothing is left.
        if (position === word.length - 1) index++;
        break;
      }
    }
  }
  return false;
}

function isLongInPlace(word: string): boolean {
  return word === "--in-place" || word.startsWith("--in-place=");
}
