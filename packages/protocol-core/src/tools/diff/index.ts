import { markChangedLines } from "./edits.ts";

/** One hunk as Claude Code and jsdiff write it; `lines` carry their ` `, `+`, `-` or `\` mark. */
export interface StructuredHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

export interface HunkOptions {
  /** Unchanged lines shown around a change; 3 as git does. Codex itself writes 1. */
  readonly context?: number;
  /** Search steps to spend before the rest counts as replaced. */
  readonly effort?: number;
}

const NO_NEWLINE = "\\ No newline at end of file\n";

/**
 * Unified diff of two texts without the file heads: hunks only, every line ended by a newline, `""` for
 * equal texts. Lines end at `\n` alone, so `\r` is content. A last line without newline is followed by
 * git's `\ No newline at end of file`.
 */
export function unifiedHunks(before: string, after: string, options: HunkOptions = {}): string {
  if (before === after) return "";
  const context = options.context ?? 3;
  const beforeLines = splitLines(before);
  const afterLines = splitLines(after);
  const ids = new Map<string, number>();
  const { removed, added } = markChangedLines(intern(beforeLines, ids), intern(afterLines, ids), options.effort);

  const out: string[] = [];
  let left = 0;
  let right = 0;
  for (;;) {
    while (left < beforeLines.length && removed[left] === 0 && added[right] !== 1) {
      left += 1;
      right += 1;
    }
    if (left >= beforeLines.length && right >= afterLines.length) return out.join("");
    const lead = Math.min(context, left);
    const oldStart = left - lead;
    const newStart = right - lead;
    const body: string[] = [];
    for (let index = oldStart; index < left; index += 1) body.push(" ", ended(beforeLines[index]!));
    let quiet = 0;
    // Two changes share a hunk when their contexts would touch.
    while (left < beforeLines.length || right < afterLines.length) {
      if (removed[left] === 1) {
        body.push("-", ended(beforeLines[left]!));
        left += 1;
        quiet = 0;
      } else if (added[right] === 1) {
        body.push("+", ended(afterLines[right]!));
        right += 1;
        quiet = 0;
      } else if (quiet < 2 * context) {
        body.push(" ", ended(beforeLines[left]!));
        left += 1;
        right += 1;
        quiet += 1;
      } else {
        break;
      }
    }
    const surplus = Math.max(0, quiet - context);
    left -= surplus;
    right -= surplus;
    body.length -= 2 * surplus;
    out.push(hunkHead(oldStart, left - oldStart, newStart, right - newStart), body.join(""));
    // The search for the next change must not see the lines of this hunk's tail as new context.
    left += surplus;
    right += surplus;
  }
}

function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    lines.push(text.slice(start, next));
    start = next;
  }
  return lines;
}

function intern(lines: readonly string[], ids: Map<string, number>): Int32Array {
  const interned = new Int32Array(lines.length);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    let id = ids.get(line);
    if (id === undefined) ids.set(line, (id = ids.size));
    interned[index] = id;
  }
  return interned;
}

function ended(line: string): string {
  return line.endsWith("\n") ? line : `${line}\n${NO_NEWLINE}`;
}

/** Starts are zero-based here; a range of no lines names the line before it, and a count of one is left out. */
function hunkHead(oldStart: number, oldLines: number, newStart: number, newLines: number): string {
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n`;
}

function range(start: number, lines: number): string {
  if (lines === 1) return String(start + 1);
  return `${lines === 0 ? start : start + 1},${lines}`;
}

/** Counts `+` and `-` lines after the first `@@` line, so file heads before it do not count. */
export function countHunkLines(diff: string): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  let inHunk = false;
  for (let start = 0; start < diff.length; ) {
    if (inHunk) {
      if (diff[start] === "+") added += 1;
      else if (diff[start] === "-") removed += 1;
    } else {
      inHunk = diff.startsWith("@@", start);
    }
    const end = diff.indexOf("\n", start);
    start = end === -1 ? diff.length : end + 1;
  }
  return { added, removed };
}

/** Writes hunks given as data in the wire form of `unifiedHunks`. Starts are one-based, as jsdiff counts them. */
export function hunksFromStructuredPatch(structuredPatch: readonly StructuredHunk[]): string {
  const out: string[] = [];
  for (const hunk of structuredPatch) {
    out.push(hunkHead(Math.max(0, hunk.oldStart - 1), hunk.oldLines, Math.max(0, hunk.newStart - 1), hunk.newLines));
    for (const line of hunk.lines) out.push(line, "\n");
  }
  return out.join("");
}
