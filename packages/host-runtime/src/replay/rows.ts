import type { TurnOutcome } from "@foldcast/protocol-core/harness";
import type { FoldDivider, OpenReason } from "@foldcast/protocol-core/folding";
import type { ThreadItem, TurnStatus } from "@foldcast/protocol-core/wire";

/** The lines of `foldcast replay --json`. Members are added, never renamed; `schema` counts changes that break. */
export type ReplayRow = SessionRow | TurnRow | DiagnosticRow | ErrorRow | TotalRow;

export interface SessionRow {
  type: "session";
  schema: 1;
  file: string;
  harness: string;
  nativeId: string;
  threadId: string;
  cwd: string | null;
}

export interface TurnRow {
  type: "turn";
  turnId: string;
  index: number;
  prompt: string;
  status: TurnStatus;
  outcome: TurnOutcome["status"];
  /** Unix seconds and milliseconds, as in a `Turn` of the wire. */
  startedAt: number | null;
  durationMs: number | null;
  items: number;
  visible: number;
  fold: { folds: boolean; reason: OpenReason | null; foldedItemIds: string[]; divider: FoldDivider | null };
  finalAnswer: { itemId: string; firstLine: string } | null;
  /** With `--items`. */
  threadItems?: ThreadItem[];
}

export interface DiagnosticRow {
  type: "diagnostic";
  file: string;
  code: string;
  count: number;
  sample: string | null;
}

export interface ErrorRow {
  type: "error";
  /** A folder where it is one that could not be read. */
  file: string;
  /** `notASession`: no harness knows the file. `unreadable`: it could not be read. */
  code: "notASession" | "unreadable";
  message: string;
}

export interface TotalRow {
  type: "total";
  files: number;
  unreadable: number;
  turns: number;
  folded: number;
  open: Partial<Record<OpenReason, number>>;
}
