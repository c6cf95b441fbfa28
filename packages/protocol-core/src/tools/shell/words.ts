/** A value flag consumes the next word; the lists name only the separate form (`-A 3`, not `-A3`). */
export type ValueFlags = ReadonlySet<string>;

export const NO_VALUE_FLAGS: ValueFlags = new Set();

/**
 * Operands among `words[from..]`: flags, `--flag=value` and the values of value flags are left out, and
 * everything after `--` is an operand.
 */
export function operandsOf(words: readonly string[], from: number, valueFlags: ValueFlags): string[] {
  const operands: string[] = [];
  for (let index = from; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") {
      for (let rest = index + 1; rest < words.length; rest++) operands.push(words[rest] ?? "");
      break;
    }
    if (!isDashed(word)) operands.push(word);
    else if (valueFlags.has(word)) index++;
  }
  return operands;
}

/**
 * Like {@link operandsOf} for the commands where Codex 0.171 drops dashed words even after `--` and lets a
 * quoted connector (`'|'`) end the arguments.
 */
export function bareOperandsOf(words: readonly string[], from: number, valueFlags: ValueFlags): string[] {
  const operands: string[] = [];
  const end = connectorIndex(words, from);
  let flagsEnded = false;
  for (let index = from; index < end; index++) {
    const word = words[index] ?? "";
    if (!isDashed(word)) operands.push(word);
    else if (!flagsEnded && word === "--") flagsEnded = true;
    else if (!flagsEnded && valueFlags.has(word)) index++;
  }
  return operands;
}

/** Index of the first word from `from` on that spells a connector, or the number of words. */
export function connectorIndex(words: readonly string[], from: number): number {
  for (let index = from; index < words.length; index++) if (isConnector(words[index] ?? "")) return index;
  return words.length;
}

export function isConnector(word: string): boolean {
  return word === "|" || word === "&&" || word === "||" || word === ";";
}

export function isDashed(word: string): boolean {
  return word.charCodeAt(0) === 45;
}

/** True for ASCII digits only; an empty string counts as digits, as it does in Codex. */
export function isDigits(text: string, from = 0): boolean {
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return true;
}
