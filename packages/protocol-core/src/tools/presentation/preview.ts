/** How much of a text is shown: whichever limit comes first. */
export interface PreviewLimits {
  /** Unicode code points. */
  chars: number;
  lines: number;
}

/** Input of an ordinary call. */
export const INPUT_LIMITS: PreviewLimits = { chars: 4_000, lines: 80 };
/** All files of one patch together. */
export const PATCH_LIMITS: PreviewLimits = { chars: 8_000, lines: 160 };

export interface Preview {
  /** A prefix of the text, character by character. */
  text: string;
  shownChars: number;
  totalChars: number;
  shownLines: number;
  totalLines: number;
  /** The limit that cut the text; null when all of it is shown. */
  limit: "chars" | "lines" | null;
}

/**
 * The prefix of a text that fits the limits. Characters are code points, so that no surrogate pair is split; a line
 * ends at `\n`, which belongs to it, and a final `\n` begins no further line.
 */
export function previewText(text: string, limits: PreviewLimits): Preview {
  const cut = measure(text, limits);
  const total = cut.end === text.length ? cut : measure(text, { chars: Infinity, lines: Infinity });
  return {
    text: text.slice(0, cut.end),
    shownChars: cut.chars,
    totalChars: total.chars,
    shownLines: cut.lines,
    totalLines: total.lines,
    limit: cut.limit,
  };
}

/** Previews of several texts that share one budget, in order; a text that comes after its end is shown empty. */
export function previewShared(texts: readonly string[], limits: PreviewLimits): Preview[] {
  let { chars, lines } = limits;
  return texts.map((text) => {
    const preview = previewText(text, { chars, lines });
    chars -= preview.shownChars;
    lines -= preview.shownLines;
    return preview;
  });
}

interface Cut {
  end: number;
  chars: number;
  lines: number;
  limit: Preview["limit"];
}

function measure(text: string, limits: PreviewLimits): Cut {
  let chars = 0;
  let newlines = 0;
  let end = 0;
  let limit: Preview["limit"] = null;
  while (end < text.length) {
    if (newlines >= limits.lines) limit = "lines";
    else if (chars >= limits.chars) limit = "chars";
    if (limit !== null) break;
    const unit = text.charCodeAt(end);
    const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(end + 1) & 0xfc00) === 0xdc00;
    end += isPair ? 2 : 1;
    chars += 1;
    if (unit === 10) newlines += 1;
  }
  const isInsideLine = end > 0 && text.charCodeAt(end - 1) !== 10;
  return { end, chars, lines: newlines + (isInsideLine ? 1 : 0), limit };
}

/** A code fence that no run of backticks inside can close; the content must have been cut before. */
export function fenceFor(content: string): string {
  let longest = 0;
  for (const run of content.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  return "`".repeat(Math.max(3, longest + 1));
}
