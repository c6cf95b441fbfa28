/**
 * Splits a text into `parts` pieces of about equal length, never inside a code point; fewer where the text has fewer
 * code points. A lone surrogate counts as one.
 */
export function* splitText(text: string, parts: number): Generator<string> {
  let total = text.length;
  for (let at = 0; at < text.length; at += 1) {
    if (text.codePointAt(at)! > 0xffff) {
      total -= 1;
      at += 1;
    }
  }
  const pieces = Math.min(parts, total);
  let at = 0;
  let seen = 0;
  for (let piece = 1; piece <= pieces; piece += 1) {
    const start = at;
    for (const target = Math.floor((piece * total) / pieces); seen < target; seen += 1) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
    yield text.slice(start, at);
  }
}
