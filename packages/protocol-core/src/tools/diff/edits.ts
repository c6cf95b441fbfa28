/** Which lines of each side are not part of the common subsequence; 1 marks a removed (before) or added (after) line. */
export interface LineMarks {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** Elementary steps of the search a whole comparison may spend; about a tenth of a second at most. */
const DEFAULT_EFFORT = 8_000_000;

/** Boxes larger than this are first cut at lines that occur exactly once on both sides. */
const ANCHOR_THRESHOLD = 400;

interface Box {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

/**
 * Finds the changed lines between two sequences of interned lines with Myers' divide-and-conquer search.
 * Memory is linear in the number of lines. Once `effort` steps are spent, what is still open counts as
 * replaced as a whole: the result is always a correct edit, only not the shortest one.
 */
export function markChangedLines(before: Int32Array, after: Int32Array, effort = DEFAULT_EFFORT): LineMarks {
  const removed = new Uint8Array(before.length);
  const added = new Uint8Array(after.length);
  const search = new MiddleSearch(before, after, effort);
  const open: Box[] = [{ beforeStart: 0, beforeEnd: before.length, afterStart: 0, afterEnd: after.length }];
  let anchorsTried = false;
  for (let box = open.pop(); box !== undefined; box = open.pop()) {
    const inner = trimEqualEnds(before, after, box);
    const beforeSize = inner.beforeEnd - inner.beforeStart;
    const afterSize = inner.afterEnd - inner.afterStart;
    if (beforeSize === 0 || afterSize === 0) {
      markBox(inner, removed, added);
      continue;
    }
    if (!anchorsTried && beforeSize + afterSize > ANCHOR_THRESHOLD) {
      anchorsTried = true;
      for (const gap of cutAtUniqueLines(before, after, inner)) open.push(gap);
      continue;
    }
    anchorsTried = true;
    const middle = search.find(inner);
    if (middle === null) {
      markBox(inner, removed, added);
      continue;
    }
    open.push(
      { ...inner, beforeEnd: middle.before, afterEnd: middle.after },
      { ...inner, beforeStart: middle.before, afterStart: middle.after },
    );
  }
  return { removed, added };
}

function markBox(box: Box, removed: Uint8Array, added: Uint8Array): void {
  removed.fill(1, box.beforeStart, box.beforeEnd);
  added.fill(1, box.afterStart, box.afterEnd);
}

function trimEqualEnds(before: Int32Array, after: Int32Array, box: Box): Box {
  let { beforeStart, beforeEnd, afterStart, afterEnd } = box;
  while (beforeStart < beforeEnd && afterStart < afterEnd && before[beforeStart] === after[afterStart]) {
    beforeStart += 1;
    afterStart += 1;
  }
  while (beforeStart < beforeEnd && afterStart < afterEnd && before[beforeEnd - 1] === after[afterEnd - 1]) {
    beforeEnd -= 1;
    afterEnd -= 1;
  }
  return { beforeStart, beforeEnd, afterStart, afterEnd };
}

/** Patience step: the longest increasing run of lines unique on both sides splits the box into small gaps. */
function cutAtUniqueLines(before: Int32Array, after: Int32Array, box: Box): Box[] {
  const positions = new Map<number, { before: number; after: number }>();
  for (let index = box.beforeStart; index < box.beforeEnd; index += 1) {
    const line = before[index]!;
    const known = positions.get(line);
    if (known === undefined) positions.set(line, { before: index, after: -1 });
    else known.before = -2;
  }
  for (let index = box.afterStart; index < box.afterEnd; index += 1) {
    const known = positions.get(after[index]!);
    if (known !== undefined) known.after = known.after === -1 ? index : -2;
  }
  const pairs: { before: number; after: number }[] = [];
  for (const pair of positions.values()) if (pair.before >= 0 && pair.after >= 0) pairs.push(pair);
  pairs.sort((left, right) => left.before - right.before);
  const gaps: Box[] = [];
  let { beforeStart, afterStart } = box;
  for (const anchor of longestIncreasing(pairs)) {
    gaps.push({ beforeStart, beforeEnd: anchor.before, afterStart, afterEnd: anchor.after });
    beforeStart = anchor.before + 1;
    afterStart = anchor.after + 1;
  }
  gaps.push({ ...box, beforeStart, afterStart });
  return gaps;
}

function longestIncreasing<Pair extends { after: number }>(pairs: readonly Pair[]): Pair[] {
  const tails: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  for (let index = 0; index < pairs.length; index += 1) {
    const value = pairs[index]!.after;
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]!]!.after < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = tails[low - 1]!;
    tails[low] = index;
  }
  const chain: Pair[] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = previous[index]!) chain.push(pairs[index]!);
  return chain.reverse();
}

/** Searches a point on a shortest edit path from both ends at once; keeps its two frontiers between calls. */
class MiddleSearch {
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  #effort: number;

  constructor(before: Int32Array, after: Int32Array, effort: number) {
    this.#before = before;
    this.#after = after;
    const diagonals = before.length + after.length + 3;
    this.#forward = new Int32Array(diagonals);
    this.#backward = new Int32Array(diagonals);
    this.#effort = effort;
  }

  /** The box must have lines on both sides and unequal ends. `null` once the effort is spent. */
  find(box: Box): { before: number; after: number } | null {
    // One hopeless box must not starve the later ones, so none takes more than a quarter of what is left.
    const reserve = this.#effort - Math.floor(this.#effort / 4);
    const width = box.beforeEnd - box.beforeStart;
    const height = box.afterEnd - box.afterStart;
    const delta = width - height;
    const odd = (delta & 1) !== 0;
    const origin = height + 1;
    this.#forward[origin + 1] = 0;
    this.#backward[origin + 1] = 0;
    for (let cost = 0; cost <= Math.ceil((width + height) / 2); cost += 1) {
      // Diagonals outside the box cannot reach the far corner; the parity of k follows that of cost.
      const low = lowestDiagonal(cost, height);
      const high = highestDiagonal(cost, width);
      for (let k = low; k <= high; k += 2) {
        const x = this.#advance(this.#forward, k, cost, origin, width, height, box.beforeStart, box.afterStart, 1);
        const opposite = delta - k;
        if (odd && Math.abs(opposite) < cost && x + this.#backward[origin + opposite]! >= width) {
          return { before: box.beforeStart + x, after: box.afterStart + x - k };
        }
      }
      for (let k = low; k <= high; k += 2) {
        const x = this.#advance(this.#backward, k, cost, origin, width, height, box.beforeEnd - 1, box.afterEnd - 1, -1);
        const opposite = delta - k;
        if (!odd && Math.abs(opposite) <= cost && x + this.#forward[origin + opposite]! >= width) {
          return { before: box.beforeEnd - x, after: box.afterEnd - x + k };
        }
      }
      if (this.#effort < reserve) return null;
    }
    return null;
  }

  #advance(
    frontier: Int32Array,
    k: number,
    cost: number,
    origin: number,
    width: number,
    height: number,
    beforeOrigin: number,
    afterOrigin: number,
    direction: 1 | -1,
  ): number {
    const index = origin + k;
    const down = k === -cost || (k !== cost && frontier[index - 1]! < frontier[index + 1]!);
    // A step over the rim stays on it: the point is reachable anyway, and split points must lie in the box.
    let x = Math.min(down ? frontier[index + 1]! : frontier[index - 1]! + 1, width, height + k);
    const start = x;
    while (
      x < width &&
      x - k < height &&
      this.#before[beforeOrigin + direction * x] === this.#after[afterOrigin + direction * (x - k)]
    ) {
      x += 1;
    }
    frontier[index] = x;
    this.#effort -= 1 + x - start;
    return x;
  }
}

function lowestDiagonal(cost: number, height: number): number {
  return cost <= height ? -cost : -height + ((cost - height) & 1);
}

function highestDiagonal(cost: number, width: number): number {
  return cost <= width ? cost : width - ((cost - width) & 1);
}
