import type { FoldDivider, OpenReason } from "@foldcast/protocol-core/folding";
import { fit, oneLine } from "../terminal-text.ts";
import type { ReplayRow, TurnRow } from "./rows.ts";

const PROMPT_WIDTH = 34;
const FOLD_WIDTH = 24;
const ANSWER_WIDTH = 60;

export const OPEN_REASONS: Readonly<Record<OpenReason, string>> = {
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
      const open = Object.entries(row.open).map(([reason, count]) => `${count} ${OPEN_REASONS[reason as OpenReason].slice("open: ".length)}`);
      const stay = open.length === 0 ? "" : `, ${row.turns - row.folded} stay open (${open.join(", ")})`;
      return ["", `${row.files} file${row.files === 1 ? "" : "s"}, ${row.unreadable} not read; ${row.turns} turn${row.turns === 1 ? "" : "s"}: ${row.folded} fold${stay}`];
    }
  }
}

const HEADER = `   #  ${fit("prompt", PROMPT_WIDTH)}  status       shown  folds  ${fit("divider", FOLD_WIDTH)}  answer`;

function turnLine(row: TurnRow): string {
  const { fold } = row;
  const verdict = fold.reason === null ? fold.divider === null ? "" : dividerText(fold.divider) : OPEN_REASONS[fold.reason];
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
export function dividerText(divider: FoldDivider): string {
  if (divider.kind === "previousMessages") return `${divider.value} previous message${divider.value === 1 ? "" : "s"}`;
  const seconds = Math.max(1, Math.round(divider.value / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const parts = hours > 0 ? [`${hours}h`, `${minutes % 60}m`] : minutes > 0 ? [`${minutes}m`, `${seconds % 60}s`] : [`${seconds}s`];
  return `Worked for ${parts.join(" ")}`;
}
