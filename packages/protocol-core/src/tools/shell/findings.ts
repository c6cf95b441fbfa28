/**
 * What one command does, before virtual directories, display text and the working directory are applied.
 * `operand` is the path as written.
 */
export type Finding =
  | { type: "read"; operand: string }
  | { type: "listFiles"; path: string | null }
  | { type: "search"; query: string | null; path: string | null }
  | { type: "unknown" };

/** Understands the commands of one name; `words[0]` is that name. */
export type Finder = (words: readonly string[]) => Finding;

export const UNKNOWN: Finding = { type: "unknown" };

export function readOf(operand: string | undefined): Finding {
  return operand === undefined ? UNKNOWN : { type: "read", operand };
}
