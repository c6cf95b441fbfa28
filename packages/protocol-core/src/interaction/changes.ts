import type { InteractionRequest } from "../harness/index.ts";
import { changeOfEdit } from "../projection/file-changes.ts";
import { PATCH_LIMITS, previewShared } from "../tools/index.ts";
import type { FileUpdateChange, ThreadItem } from "../wire/index.ts";
import type { Locale } from "./model.ts";

const CUT: Record<Locale, (lines: number) => string> = { en: (lines) => `… ${lines} more lines`, zh: (lines) => `… 还有 ${lines} 行` };

/** The changes that an approval is about: those on the screen, else those that the harness tells. */
export function changesOf(request: InteractionRequest, item: ThreadItem | null): readonly FileUpdateChange[] {
  if (item?.type === "fileChange" && item.changes.length > 0) return item.changes;
  return request.kind === "approval" ? (request.edits ?? []).flatMap((edit) => changeOfEdit(edit) ?? []) : [];
}

/** The changes as text: each file's path and its diff, all of them together within the limits of a patch. */
export function describeChanges(changes: readonly FileUpdateChange[], locale: Locale): string {
  const previews = previewShared(changes.map(diffOf), PATCH_LIMITS);
  return changes.map((change, at) => {
    const { text, shownLines, totalLines } = previews[at]!;
    return [headOf(change), text.trimEnd(), totalLines > shownLines ? CUT[locale](totalLines - shownLines) : ""].filter((part) => part !== "").join("\n");
  }).join("\n\n");
}

function headOf({ path, kind }: FileUpdateChange): string {
  return kind.type === "update" && kind.move_path != null ? `${path} → ${kind.move_path}` : path;
}

/** The wire has the plain content of a file that is added or deleted. */
function diffOf({ kind, diff }: FileUpdateChange): string {
  if (kind.type === "update") return diff;
  const mark = kind.type === "add" ? "+" : "-";
  return diff === "" ? "" : diff.replace(/\n$/, "").split("\n").map((line) => `${mark}${line}\n`).join("");
}
