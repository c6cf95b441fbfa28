/** Two parts of a Markdown text, each whole in itself: a code block that is cut ends in one and begins anew in the other. */
export interface Cut {
  readonly head: string;
  /** Empty when all of it is in the head. */
  readonly rest: string;
}

const FENCE = /^[ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
/** A boundary of paragraphs is worth leaving this share of the room empty. */
const WORTH_LEAVING = 0.5;

/**
 * Cuts Markdown so that the head has at most `maxBytes` UTF-8 bytes, marks of a closed fence not counted: between
 * paragraphs where possible, else between lines, else between characters. The head is never empty.
 */
export function cutMarkdown(source: string, maxBytes: number): Cut {
  if (Buffer.byteLength(source) <= maxBytes) return { head: source, rest: "" };
  // Blank lines at the beginning are nothing to show: they take no room.
  const start = /^(?:[ \t]*\n)*/.exec(source)![0].length;
  let at = start;
  let bytes = 0;
  let fence: { mark: string; open: string; start: number; inside: number } | null = null;
  let paragraph: number | null = null;
  let paragraphBytes = 0;
  while (at < source.length) {
    const newline = source.indexOf("\n", at);
    const end = newline === -1 ? source.length : newline + 1;
    const line = source.slice(at, end);
    const size = Buffer.byteLength(line);
    if (bytes + size > maxBytes) break;
    const text = line.trimEnd();
    if (fence === null) {
      const opening = FENCE.exec(text);
      if (opening !== null) fence = { mark: opening[1]!, open: `${opening[1]!}${opening[2]!}`, start: at, inside: end };
    } else if (text.trim().length >= fence.mark.length && text.trim() === fence.mark[0]!.repeat(text.trim().length)) fence = null;
    at = end;
    bytes += size;
    if (fence === null && text.trim() === "") {
      paragraph = at;
      paragraphBytes = bytes;
    }
  }
  if (paragraph !== null && paragraphBytes >= maxBytes * WORTH_LEAVING) return { head: source.slice(0, paragraph).trimEnd(), rest: source.slice(paragraph) };
  if (at === start) {
    at = wordBoundary(source, start, at + pointsWithin(source.slice(at), maxBytes));
    return { head: source.slice(0, at), rest: source.slice(at) };
  }
  if (fence === null) return { head: source.slice(0, at).trimEnd(), rest: source.slice(at) };
  if (at === fence.inside) {
    // Only the block's first line fits: the whole block moves on, unless it begins here; then its code is cut inside a line.
    if (source.slice(0, fence.start).trim() !== "") return { head: source.slice(0, fence.start).trimEnd(), rest: source.slice(fence.start) };
    at += pointsWithin(source.slice(at), maxBytes - bytes);
  }
  return { head: `${source.slice(0, at).replace(/\n$/, "")}\n${fence.mark}`, rest: `${fence.open}\n${source.slice(at)}` };
}

/** Longest link or word that is kept whole. */
const MAX_WORD = 1_000;

/** The end of the last word before `end` that is whole, links counting as one; `end` itself in a text without blanks. */
function wordBoundary(source: string, start: number, end: number): number {
  const from = Math.max(start + 1, end - MAX_WORD);
  const near = source.slice(from, end + MAX_WORD);
  const within = end - from;
  const link = [...near.matchAll(/!?\[[^\]\n]{0,1000}\]\([^)\n]{0,1000}\)/g)].find((one) => one.index < within && one.index + one[0].length > within);
  if (link !== undefined && link.index > 0) return from + link.index;
  const blank = near.slice(0, within).search(/\s\S*$/);
  return blank === -1 ? end : from + blank + 1;
}

/** How many units of the text fit, without dividing a character; at least one character. */
function pointsWithin(text: string, maxBytes: number): number {
  let bytes = 0;
  let at = 0;
  for (const point of text) {
    bytes += Buffer.byteLength(point);
    if (bytes > maxBytes && at > 0) break;
    at += point.length;
  }
  return at;
}
