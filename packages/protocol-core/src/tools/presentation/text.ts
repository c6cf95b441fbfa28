/** Longest part of a title, in code points. */
const MAX_PART = 160;

/**
 * A text as part of a one-line title: its first line without control characters, cut with `…` where it goes on, is too
 * long, or turns into a block of code or data (an opening brace).
 */
export function titleText(text: string, limit = MAX_PART): string {
  return isPlain(text, limit) ? text : cutText(text, limit);
}

/** True for short ASCII text that stands as it is; nearly all parts of titles are, and this is the cheap way to see it. */
function isPlain(text: string, limit: number): boolean {
  const { length } = text;
  if (length === 0 || length > limit || text.charCodeAt(0) === 32 || text.charCodeAt(length - 1) === 32) return false;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 32 || unit > 122) return false;
  }
  return true;
}

function cutText(text: string, limit: number): string {
  const trimmed = text.trimStart();
  const newline = trimmed.search(/[\n\r\u2028\u2029]/);
  const brace = trimmed.indexOf("{");
  let end = newline === -1 ? trimmed.length : newline;
  if (brace !== -1 && brace < end) end = brace;
  // Code points are at most two units long: the cut below needs no more than this.
  const cutFar = end > limit * 2;
  let line = trimmed.slice(0, cutFar ? limit * 2 : end);
  // Terminal control characters must not reach a title.
  line = line.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trimEnd();
  const points = line.length > limit ? Array.from(line) : null;
  const isCut = cutFar || (points !== null && points.length > limit);
  if (points !== null && points.length > limit) line = points.slice(0, limit).join("").trimEnd();
  const goesOn = isCut || trimmed.slice(end).trim() !== "";
  return goesOn ? `${line}${line === "" || brace === end ? "" : " "}…` : line;
}

/** An address without scheme, query and fragment: they say little, and may hold secrets. */
export function titleUrl(url: string): string {
  return titleText(url.replace(/^[a-z]+:\/\/(?:[^/@\s]*@)?/i, "").replace(/[?#].*$/s, "").replace(/\/$/, ""));
}

/** `1.2s`, `45.0s`, `2m 05s`, `1h 02m`; null below a tenth of a second, which tells nothing. */
export function titleDuration(durationMs: number): string | null {
  if (!Number.isFinite(durationMs) || durationMs < 100) return null;
  const tenths = Math.round(durationMs / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)}s`;
  const seconds = Math.round(durationMs / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}
