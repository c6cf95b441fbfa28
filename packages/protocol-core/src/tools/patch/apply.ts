import type { Chunk } from "./grammar.ts";

export type Applied = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };

interface Replacement {
  readonly start: number;
  readonly removed: number;
  readonly lines: readonly string[];
}

/**
 * Applies the chunks of one update to a file's text, as Codex 0.171 does by default: each chunk is searched
 * below the previous one with decreasing strictness, the result always ends in a newline, and context
 * lines take the spelling of the patch. `path` only words the errors.
 */
export function applyChunks(text: string, chunks: readonly Chunk[], path: string): Applied {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const search = new LineSearch(lines);
  const replacements: Replacement[] = [];
  let position = 0;
  for (const chunk of chunks) {
    if (chunk.context !== null) {
      const found = search.find([chunk.context], position);
      if (found === null) return { ok: false, error: `Failed to find context '${chunk.context}' in ${path}` };
      position = found + 1;
    }
    let before = chunk.lines.filter((line) => line.mark !== "+").map((line) => line.text);
    let after = chunk.lines.filter((line) => line.mark !== "-").map((line) => line.text);
    if (before.length === 0) {
      // A pure addition goes to the end of the file, whatever its context; a final empty line stays last.
      const end = lines.at(-1) === "" ? lines.length - 1 : lines.length;
      replacements.push({ start: end, removed: 0, lines: after });
      continue;
    }
    let found = search.find(before, position, chunk.atEndOfFile);
    if (found === null && before.at(-1) === "") {
      // The empty last line may stand for the newline at the end of the file.
      before = before.slice(0, -1);
      if (after.at(-1) === "") after = after.slice(0, -1);
      found = search.find(before, position, chunk.atEndOfFile);
    }
    if (found === null) {
      const wanted = chunk.lines.filter((line) => line.mark !== "+").map((line) => line.text);
      return { ok: false, error: `Failed to find expected lines in ${path}:\n${wanted.join("\n")}` };
    }
    replacements.push({ start: found, removed: before.length, lines: after });
    position = found + before.length;
  }
  return { ok: true, text: replaceLines(lines, replacements) };
}

function replaceLines(lines: readonly string[], replacements: readonly Replacement[]): string {
  const out: string[] = [];
  let position = 0;
  // The sort is stable: several additions at the end keep the order of the patch.
  for (const { start, removed, lines: added } of replacements.toSorted((a, b) => a.start - b.start)) {
    for (; position < start; position += 1) out.push(lines[position]!);
    for (const line of added) out.push(line);
    position = Math.max(position, start + removed);
  }
  for (; position < lines.length; position += 1) out.push(lines[position]!);
  if (out.at(-1) !== "") out.push("");
  return out.join("\n");
}

const LEVELS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
  asPlainPunctuation,
];

/** Finds runs of lines in one file, in time linear in the file for each level of strictness. */
class LineSearch {
  readonly #lines: readonly string[];
  readonly #prepared: (readonly string[] | undefined)[];

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#prepared = [lines];
  }

  /** Index of the first match at or after `start`; with `atEnd` only the very end of the file is tried. */
  find(pattern: readonly string[], start: number, atEnd = false): number | null {
    if (pattern.length === 0) return start;
    if (pattern.length > this.#lines.length) return null;
    const from = atEnd ? this.#lines.length - pattern.length : start;
    for (let level = 0; level < LEVELS.length; level += 1) {
      const normalise = LEVELS[level]!;
      const lines = (this.#prepared[level] ??= this.#lines.map(normalise));
      const found = indexOfRun(lines, pattern.map(normalise), from);
      if (found !== null) return found;
    }
    return null;
  }
}

/** Knuth-Morris-Pratt over lines: patterns that nearly match everywhere must not cost a product of lengths. */
function indexOfRun(lines: readonly string[], pattern: readonly string[], start: number): number | null {
  const fallback = new Int32Array(pattern.length);
  for (let index = 1, matched = 0; index < pattern.length; index += 1) {
    while (matched > 0 && pattern[index] !== pattern[matched]) matched = fallback[matched - 1]!;
    if (pattern[index] === pattern[matched]) matched += 1;
    fallback[index] = matched;
  }
  for (let index = start, matched = 0; index < lines.length; index += 1) {
    while (matched > 0 && lines[index] !== pattern[matched]) matched = fallback[matched - 1]!;
    if (lines[index] === pattern[matched]) matched += 1;
    if (matched === pattern.length) return index - matched + 1;
  }
  return null;
}

/** Typographic dashes, quotes and spaces count as their ASCII forms in the last, loosest comparison. */
function asPlainPunctuation(line: string): string {
  return line
    .trim()
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " ");
}
