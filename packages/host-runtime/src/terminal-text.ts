/** Texts of sessions reach a terminal: nothing in them may move its cursor or turn its direction. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu, " ");
}

/** The same for a text that may keep its lines. */
export function plainLines(text: string): string {
  return text.split(/\r?\n/).map((line) => line.replaceAll("\t", "    ")).map(oneLine).join("\n");
}

/** Cut and padded to a number of terminal columns. */
export function fit(text: string, width: number): string {
  let used = 0;
  let kept = "";
  const clean = oneLine(text);
  for (const character of clean) {
    const columns = columnsOf(character.codePointAt(0)!);
    if (used + columns > width - 1 && kept.length + character.length < clean.length) {
      kept += "…";
      used++;
      break;
    }
    kept += character;
    used += columns;
  }
  return kept + " ".repeat(Math.max(0, width - used));
}

/** East Asian wide characters and pictures take two columns, marks that combine take none. */
function columnsOf(code: number): number {
  if (code < 0x300) return 1;
  if (/\p{M}/u.test(String.fromCodePoint(code))) return 0;
  const wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3)
    || (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60)
    || (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}
