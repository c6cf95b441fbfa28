import type { FoldDivider, OpenReason } from "@foldcast/protocol-core/folding";
import type { ReplayRow, TurnRow } from "./rows.ts";

const PROMPT_WIDTH = 34;
const FOLD_WIDTH = 24;
const ANSWER_WIDTH = 60;

const REASONS: Readonly<Record<OpenReason, string>> = {
  running: "open: still running",
  cancelled: "open: cancelled",
  noFinalAnswer: "open: no final answer",
  nothingBefore: "open: nothing before",
};

/** Replay rows as lines for people. Empty for rows that need none. */
export function tableLines(row: ReplayRow): string[] {
  switch (row.type) {
    case "session":
      return ["", oneLine(row.file), `${row.harness} session ${oneLine(row.nativeId)}${row.cwd === null ? "" : ` in ${oneLine(row.cwd)}`}`, HEADER];
    case "turn":
      return [turnLine(row)];
    case "diagnostic":
      return [`      note: ${row.code} × ${row.count}${row.sample === null ? "" : `, first: ${fit(row.sample, ANSWER_WIDTH).trimEnd()}`}`];
    case "error":
      return ["", oneLine(row.file), `      not read: ${oneLine(row.message)}`];
    case "total": {
      const open = Object.entries(row.open).map(([reason, count]) => `${count} ${REASONS[reason as OpenReason].slice("open: ".length)}`);
      const stay = open.length === 0 ? "" : `, ${row.turns - row.folded} stay open (${open.join(", ")})`;
      return ["", `${row.files} file${row.files === 1 ? "" : "s"}, ${row.unreadable} not read; ${row.turns} turn${row.turns === 1 ? "" : "s"}: ${row.folded} fold${stay}`];
    }
  }
}

const HEADER = `   #  ${fit("prompt", PROMPT_WIDTH)}  status       shown  folds  ${fit("divider", FOLD_WIDTH)}  answer`;

function turnLine(row: TurnRow): string {
  const { fold } = row;
  const verdict = fold.reason === null ? dividerText(fold.divider) : REASONS[fold.reason];
  const cells = [
    String(row.index + 1).padStart(4),
    fit(row.prompt === "" ? "–" : row.prompt, PROMPT_WIDTH),
    row.status.padEnd(11),
    String(row.visible).padStart(5),
    String(fold.foldedItemIds.length).padStart(5),
    fit(verdict, FOLD_WIDTH),
    row.finalAnswer === null ? "" : fit(row.finalAnswer.firstLine, ANSWER_WIDTH),
  ];
  return cells.join("  ").trimEnd();
}

/** In the words of Codex Desktop. */
function dividerText(divider: FoldDivider | null): string {
  if (divider === null) return "";
  if (divider.kind === "previousMessages") return `${divider.value} previous message${divider.value === 1 ? "" : "s"}`;
  const seconds = Math.max(1, Math.round(divider.value / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const parts = hours > 0 ? [`${hours}h`, `${minutes % 60}m`] : minutes > 0 ? [`${minutes}m`, `${seconds % 60}s`] : [`${seconds}s`];
  return `Worked for ${parts.join(" ")}`;
}

/** Session texts reach a terminal: nothing in them may move its cursor or turn its direction. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu, " ");
}

/** Cut and padded to a number of terminal columns. */
function fit(text: string, width: number): string {
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
