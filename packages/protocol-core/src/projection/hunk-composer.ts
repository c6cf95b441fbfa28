import type { DiffHunk } from "../harness/index.ts";

/** A net change without context: `base` lines of the first text, from 0-based line `start`, became `now`. */
interface NetHunk {
  start: number;
  base: readonly string[];
  now: readonly string[];
  /** The lines as a diff shows them, made when somebody looks. */
  marked?: readonly string[];
}

/** Neighbouring hunks, with what they add to the positions behind them. Small, so that a look into one is cheap. */
interface Block {
  hunks: NetHunk[];
  shift: number;
}
const BLOCK_SIZE = 128;

/** A place between the hunks: everything in front of it shifts positions by `shift`. */
interface Place {
  block: number;
  at: number;
  shift: number;
}

/**
 * Adds up successive diffs of one file whose full text is not known. Each diff's line numbers mean the file as it
 * was just before it. A change that is taken back disappears. `add` returns false when a diff contradicts the
 * earlier ones (somebody else changed the file in between): then no net can be claimed.
 */
export class HunkComposer {
  readonly #blockSize: number;
  #blocks: Block[] = [{ hunks: [], shift: 0 }];

  constructor(blockSize = BLOCK_SIZE) {
    this.#blockSize = blockSize;
  }

  add(hunks: readonly DiffHunk[]): boolean {
    // From the last to the first, so that earlier positions still mean the file before this diff.
    for (const change of hunks.flatMap(splitHunk).reverse()) {
      if (!this.#replace(change)) return false;
    }
    return true;
  }

  hunks(): DiffHunk[] {
    let shift = 0;
    return this.#blocks.flatMap((block) => block.hunks).map((hunk) => {
      const { start, base, now } = hunk;
      const oldLines = base.length;
      const newLines = now.length;
      const diff: DiffHunk = {
        // A side without lines names the line before it, as git does.
        oldStart: oldLines === 0 ? start : start + 1,
        oldLines,
        newStart: newLines === 0 ? start + shift : start + shift + 1,
        newLines,
        lines: (hunk.marked ??= [...base.map((line) => `-${line}`), ...now.map((line) => `+${line}`)]),
      };
      shift += newLines - oldLines;
      return diff;
    });
  }

  /** `change` is in positions of the file as it is now. */
  #replace(change: NetHunk): boolean {
    const end = change.start + change.base.length;
    const first = this.#find(change.start);
    const base: string[] = [];
    const now: string[] = [];
    let cursor = change.start;
    let start = change.start - first.shift;
    let shift = first.shift;
    let tail: readonly string[] = [];
    const { touched, after } = this.#from(first, (hunk) => {
      const from = hunk.start + shift;
      if (from > end) return false;
      shift += hunk.now.length - hunk.base.length;
      return true;
    });
    shift = first.shift;
    for (const [n, hunk] of touched.entries()) {
      const from = hunk.start + shift;
      const to = from + hunk.now.length;
      if (n === 0) start = Math.min(start, hunk.start);
      // Lines of this change in front of the hunk are still as in the first text.
      for (; cursor < Math.min(from, end); cursor += 1) base.push(change.base[cursor - change.start]!);
      // Lines of the hunk in front of this change stay.
      if (from < change.start) append(now, hunk.now.slice(0, change.start - from));
      for (let at = Math.max(from, change.start); at < Math.min(to, end); at += 1) {
        if (hunk.now[at - from] !== change.base[at - change.start]) return false;
      }
      append(base, hunk.base);
      cursor = Math.max(cursor, Math.min(to, end));
      // Only the last one can reach beyond this change.
      if (to > end) tail = hunk.now.slice(end - from);
      shift += hunk.now.length - hunk.base.length;
    }
    for (; cursor < end; cursor += 1) base.push(change.base[cursor - change.start]!);
    append(now, change.now);
    append(now, tail);
    this.#put(first, after, trim({ start, base, now }));
    return true;
  }

  /** The first place whose hunk ends at or behind `position`. */
  #find(position: number): Place {
    let shift = 0;
    let block = 0;
    for (; block < this.#blocks.length - 1; block += 1) {
      const { hunks, shift: own } = this.#blocks[block]!;
      const last = hunks.at(-1);
      if (last !== undefined && last.start + last.base.length + shift + own >= position) break;
      shift += own;
    }
    const { hunks } = this.#blocks[block]!;
    let at = 0;
    for (; at < hunks.length; at += 1) {
      const hunk = hunks[at]!;
      if (hunk.start + shift + hunk.now.length >= position) break;
      shift += hunk.now.length - hunk.base.length;
    }
    return { block, at, shift };
  }

  /** Hunks from a place on, as long as `takes` says so, and the place behind them. */
  #from(place: Place, takes: (hunk: NetHunk) => boolean): { touched: NetHunk[]; after: { block: number; at: number } } {
    const touched: NetHunk[] = [];
    let { block, at } = place;
    for (;;) {
      const hunk = this.#blocks[block]!.hunks[at];
      if (hunk === undefined) {
        if (block + 1 >= this.#blocks.length) return { touched, after: { block, at } };
        block += 1;
        at = 0;
      } else if (takes(hunk)) {
        touched.push(hunk);
        at += 1;
      } else return { touched, after: { block, at } };
    }
  }

  /** Puts a hunk (null = nothing) in the place of those between the two places. */
  #put(first: Place, after: { block: number; at: number }, hunk: NetHunk | null): void {
    const home = this.#blocks[first.block]!;
    const inserted = hunk === null ? [] : [hunk];
    if (after.block === first.block) home.hunks.splice(first.at, after.at - first.at, ...inserted);
    else {
      const rest = this.#blocks[after.block]!.hunks.slice(after.at);
      home.hunks.splice(first.at, home.hunks.length - first.at, ...inserted, ...rest);
      this.#blocks.splice(first.block + 1, after.block - first.block);
    }
    home.shift = shiftOf(home.hunks);
    if (home.hunks.length <= this.#blockSize) return;
    const moved = home.hunks.splice(home.hunks.length >> 1);
    home.shift = shiftOf(home.hunks);
    this.#blocks.splice(first.block + 1, 0, { hunks: moved, shift: shiftOf(moved) });
  }
}

/** One by one: a file has more lines than a call takes arguments. */
function append(to: string[], lines: readonly string[]): void {
  for (const line of lines) to.push(line);
}

function shiftOf(hunks: readonly NetHunk[]): number {
  let shift = 0;
  for (const { base, now } of hunks) shift += now.length - base.length;
  return shift;
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
