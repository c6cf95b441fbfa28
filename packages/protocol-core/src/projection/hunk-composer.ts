import type { DiffHunk } from "../harness/index.ts";

/** A net change without context: `base` lines of the first text, from 0-based line `start`, became `now`. */
interface NetHunk {
  start: number;
  base: readonly string[];
  now: readonly string[];
}

/**
 * Adds up successive diffs of one file whose full text is not known. Each diff's line numbers mean the file as it
 * was just before it. A change that is taken back disappears. `add` returns false when a diff contradicts the
 * earlier ones (somebody else changed the file in between): then no net can be claimed.
 */
export class HunkComposer {
  #net: NetHunk[] = [];

  add(hunks: readonly DiffHunk[]): boolean {
    // From the last to the first, so that earlier positions still mean the file before this diff.
    for (const change of hunks.flatMap(splitHunk).reverse()) {
      if (!this.#replace(change)) return false;
    }
    return true;
  }

  hunks(): DiffHunk[] {
    let shift = 0;
    return this.#net.map(({ start, base, now }) => {
      const hunk: DiffHunk = {
        // A side without lines names the line before it, as git does.
        oldStart: base.length === 0 ? start : start + 1,
        oldLines: base.length,
        newStart: now.length === 0 ? start + shift : start + shift + 1,
        newLines: now.length,
        lines: [...base.map((line) => `-${line}`), ...now.map((line) => `+${line}`)],
      };
      shift += now.length - base.length;
      return hunk;
    });
  }

  /** `change` is in positions of the file as it is now. */
  #replace(change: NetHunk): boolean {
    const end = change.start + change.base.length;
    let shift = 0;
    let first = 0;
    for (; first < this.#net.length; first += 1) {
      const hunk = this.#net[first]!;
      if (hunk.start + shift + hunk.now.length >= change.start) break;
      shift += hunk.now.length - hunk.base.length;
    }
    const base: string[] = [];
    const now: string[] = [];
    let cursor = change.start;
    let start = change.start - shift;
    let last = first;
    let innerShift = shift;
    for (; last < this.#net.length; last += 1) {
      const hunk = this.#net[last]!;
      const from = hunk.start + innerShift;
      if (from > end) break;
      const to = from + hunk.now.length;
      if (last === first) start = Math.min(start, hunk.start);
      // Lines of this change in front of the hunk are still as in the first text.
      for (; cursor < Math.min(from, end); cursor += 1) base.push(change.base[cursor - change.start]!);
      // Lines of the hunk in front of this change stay.
      if (from < change.start) now.push(...hunk.now.slice(0, change.start - from));
      for (let at = Math.max(from, change.start); at < Math.min(to, end); at += 1) {
        if (hunk.now[at - from] !== change.base[at - change.start]) return false;
      }
      base.push(...hunk.base);
      cursor = Math.max(cursor, Math.min(to, end));
      if (to > end) {
        now.push(...change.now, ...hunk.now.slice(end - from));
        last += 1;
        return this.#put(first, last, { start, base, now });
      }
      innerShift += hunk.now.length - hunk.base.length;
    }
    for (; cursor < end; cursor += 1) base.push(change.base[cursor - change.start]!);
    now.push(...change.now);
    return this.#put(first, last, { start, base, now });
  }

  #put(first: number, last: number, hunk: NetHunk): true {
    const trimmed = trim(hunk);
    this.#net.splice(first, last - first, ...(trimmed === null ? [] : [trimmed]));
    return true;
  }
}

function trim(hunk: NetHunk): NetHunk | null {
  let head = 0;
  while (head < hunk.base.length && head < hunk.now.length && hunk.base[head] === hunk.now[head]) head += 1;
  let tail = 0;
  while (tail < hunk.base.length - head && tail < hunk.now.length - head && hunk.base.at(-1 - tail) === hunk.now.at(-1 - tail)) tail += 1;
  if (head + tail === hunk.base.length && head + tail === hunk.now.length) return null;
  return { start: hunk.start + head, base: hunk.base.slice(head, hunk.base.length - tail), now: hunk.now.slice(head, hunk.now.length - tail) };
}

/** The changes of a hunk without its context lines. */
function splitHunk(hunk: DiffHunk): NetHunk[] {
  const changes: NetHunk[] = [];
  let at = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
  let open: { start: number; base: string[]; now: string[] } | null = null;
  for (const line of hunk.lines) {
    const content = line.slice(1);
    if (line.startsWith("-") || line.startsWith("+")) {
      if (open === null) changes.push((open = { start: at, base: [], now: [] }));
      if (line.startsWith("-")) {
        open.base.push(content);
        at += 1;
      } else open.now.push(content);
    } else if (!line.startsWith("\\")) {
      open = null;
      at += 1;
    }
  }
  return changes;
}
