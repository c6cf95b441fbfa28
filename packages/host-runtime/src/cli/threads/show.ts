import { foldTurn } from "@foldcast/protocol-core/folding";
import type { FoldDivider, OpenReason } from "@foldcast/protocol-core/folding";
import type { Thread, ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import { dividerText, OPEN_REASONS } from "../../replay/table.ts";
import { fit, oneLine, plainLines } from "../../terminal-text.ts";
import { shownName } from "./find.ts";

/** A row of `foldcast threads list --json`. Times in Unix seconds. */
export interface ThreadRow {
  id: string;
  name: string | null;
  preview: string;
  cwd: string;
  model: string | null;
  status: string;
  path: string | null;
  createdAt: number;
  updatedAt: number;
}

/** A turn of `foldcast threads show --json`. Times in Unix seconds and milliseconds, as in a `Turn` of the wire. */
export interface TurnRow {
  id: string;
  prompt: string;
  status: Turn["status"];
  error: string | null;
  startedAt: number | null;
  durationMs: number | null;
  items: number;
  fold: { folds: boolean; reason: OpenReason | null; folded: number; divider: FoldDivider | null };
  /** Whole; null where no message is the answer. */
  finalAnswer: string | null;
}

export function threadRow({ id, name, preview, cwd, model, status, path, createdAt, updatedAt }: Thread): ThreadRow {
  return { id, name, preview, cwd, model, status: status.type, path, createdAt, updatedAt };
}

export function turnRow(turn: Turn): TurnRow {
  const { folds, reason, foldedItemIds, divider, finalAnswerId } = foldTurn(turn);
  const answer = turn.items.find(({ id }) => id === finalAnswerId);
  const prompt = turn.items.find((item) => item.type === "userMessage");
  return {
    id: turn.id,
    prompt: prompt === undefined ? "" : textOf(prompt),
    status: turn.status,
    error: turn.error?.message ?? null,
    startedAt: turn.startedAt,
    durationMs: turn.durationMs,
    items: turn.items.length,
    fold: { folds, reason, folded: foldedItemIds.length, divider },
    finalAnswer: answer?.type === "agentMessage" ? answer.text : null,
  };
}

function textOf({ content }: Extract<ThreadItem, { type: "userMessage" }>): string {
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

export const LIST_HEADER = `${"thread".padEnd(36)}  changed           ${fit("model", 22)}  name`;

export function listLine(thread: Thread): string {
  return `${thread.id}  ${moment(thread.updatedAt)}  ${fit(thread.model ?? "–", 22)}  ${fit(shownName(thread), 60).trimEnd()}`;
}

export function headLines(thread: Thread): string[] {
  return [oneLine(shownName(thread)), `thread ${thread.id} · ${thread.model ?? "no model yet"} · ${oneLine(thread.cwd)} · ${moment(thread.updatedAt)}`];
}

export function turnLines({ prompt, error, fold, finalAnswer }: TurnRow): string[] {
  const lines = ["", `› ${plainLines(prompt === "" ? "(the agent began by itself)" : prompt)}`];
  if (fold.folds && fold.divider !== null) lines.push(`── ${dividerText(fold.divider)} · ${fold.folded} step${fold.folded === 1 ? "" : "s"} ──`);
  else if (fold.reason !== null && fold.reason !== "nothingBefore") lines.push(`── ${OPEN_REASONS[fold.reason]} ──`);
  if (error !== null) lines.push(`✗ ${plainLines(error)}`);
  if (finalAnswer !== null) lines.push(plainLines(finalAnswer).trimEnd());
  return lines;
}

/** In the time zone of the machine. */
function moment(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
