import type { FileEdit } from "./items.ts";

export interface QuestionSpec {
  id: string;
  header?: string | null;
  question: string;
  multiSelect?: boolean;
  allowOther?: boolean;
  options: readonly { label: string; description?: string | null }[];
}

/** What an agent waits for. `offers` is exactly what the harness accepts as an answer; nothing else is shown. */
export type InteractionRequest =
  | {
      id: string;
      kind: "approval";
      about: "command" | "fileChange" | "permissions" | "tool";
      itemId?: string;
      title?: string | null;
      reason?: string | null;
      command?: string | null;
      cwd?: string | null;
      edits?: readonly FileEdit[];
      offers: readonly ("accept" | "acceptForSession" | "decline" | "cancel")[];
    }
  | { id: string; kind: "question"; itemId?: string; questions: readonly QuestionSpec[] };

export type InteractionClosedReason = "answered" | "cancelled" | "expired" | "superseded";

/** `text` on a decline reaches the harness as its deny message where it can take one. */
export type InteractionAnswer =
  | { kind: "approval"; decision: "accept" | "acceptForSession" | "decline" | "cancel"; text?: string }
  /** Question id → the chosen labels or free text. An empty record = skipped. */
  | { kind: "question"; answers: Readonly<Record<string, readonly string[]>> };
