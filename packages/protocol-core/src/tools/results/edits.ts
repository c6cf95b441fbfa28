import type { DiffHunk, FileEdit } from "../../harness/items.ts";
import { isJsonObject } from "../../wire/json.ts";
import { isAbsolutePath } from "../paths.ts";

/**
 * The change of a file as a structured result tells it: `originalFile` with the new content, `structuredPatch`
 * (Claude Code), a whole unified diff (`diff`, `patch`), old and new text of the whole file. Null when the result
 * tells none, or tells it in a form that does not hold together. `called` is what the call itself said, with absolute paths.
 */
export function structuredEdits(structured: unknown, called: readonly FileEdit[] | null): FileEdit[] | null {
  if (!isJsonObject(structured)) return null;
  const first = called?.[0];
  const named = text(structured, "filePath") ?? text(structured, "notebook_path");
  const path = named === null || (first !== undefined && !isAbsolutePath(named)) ? first?.path : named;
  if (path === undefined || (called !== null && called.length > 1)) return null;
  const texts = wholeTexts(structured, first);
  if (texts !== null) return [{ path, ...texts }];
  const hunks = readHunks(structured["structuredPatch"]) ?? unifiedHunks(structured);
  return hunks === null || hunks.length === 0 ? null : [{ path, hunks }];
}

function wholeTexts(result: Readonly<Record<string, unknown>>, called: FileEdit | undefined): { before: string | null; after: string } | null {
  const updated = text(result, "updated_file");
  if (updated !== null) return { before: text(result, "original_file"), after: updated };
  const original = result["originalFile"];
  const content = text(result, "content");
  if (result["type"] === "create" && content !== null && (original === null || original === undefined)) return { before: null, after: content };
  if (typeof original !== "string") return null;
  if (content !== null && typeof result["type"] === "string") return { before: original, after: content };
  const after = applyFragment(original, result, called);
  return after === null ? null : { before: original, after };
}

/** Claude Code's Edit gives the whole old file and the two strings; null when the old string is not in it. */
function applyFragment(original: string, result: Readonly<Record<string, unknown>>, called: FileEdit | undefined): string | null {
  const before = text(result, "oldString") ?? (called?.fragments?.length === 1 ? called.fragments[0]!.old : null);
  const after = text(result, "newString") ?? (called?.fragments?.length === 1 ? called.fragments[0]!.new : null);
  if (before === null || after === null || result["userModified"] === true) return null;
  if (before === "") return original === "" ? after : null;
  if (result["replaceAll"] === true) return original.includes(before) ? original.replaceAll(before, () => after) : null;
  const at = original.indexOf(before);
  // Two occurrences would make the place a guess.
  if (at === -1 || original.includes(before, at + 1)) return null;
  return original.slice(0, at) + after + original.slice(at + before.length);
}

function readHunks(value: unknown): DiffHunk[] | null {
  if (!Array.isArray(value)) return null;
  const hunks: DiffHunk[] = [];
  for (const entry of value as unknown[]) {
    if (!isJsonObject(entry)) return null;
    const { oldStart, oldLines, newStart, newLines, lines } = entry;
    if (!isCount(oldStart) || !isCount(oldLines) || !isCount(newStart) || !isCount(newLines)) return null;
    if (!Array.isArray(lines) || !lines.every((line): line is string => typeof line === "string")) return null;
    hunks.push({ oldStart, oldLines, newStart, newLines, lines });
  }
  return hunks;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

const HUNK_HEAD = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
const MAX_DIFF = 4_000_000;

/** Hunks of a unified diff of one file in `diff` or `patch`; null unless every hunk holds the lines that its head says. */
function unifiedHunks(result: Readonly<Record<string, unknown>>): DiffHunk[] | null {
  const diff = [text(result, "patch"), text(result, "diff"), text(result, "unified_diff")].find((entry) => entry?.includes("@@ -") === true);
  if (diff === undefined || diff === null || diff.length > MAX_DIFF) return null;
  const lines = diff.split("\n");
  const hunks: DiffHunk[] = [];
  for (let index = 0; index < lines.length; ) {
    const head = HUNK_HEAD.exec(lines[index]!);
    index += 1;
    if (head === null) continue;
    const oldLines = head[2] === undefined ? 1 : Number(head[2]);
    const newLines = head[4] === undefined ? 1 : Number(head[4]);
    const body: string[] = [];
    let left = oldLines;
    let right = newLines;
    for (; index < lines.length && (left > 0 || right > 0 || lines[index]!.startsWith("\\")); index += 1) {
      const line = lines[index]!;
      const mark = line[0] ?? " ";
      if (mark === "-" || mark === " ") left -= 1;
      if (mark === "+" || mark === " ") right -= 1;
      if (mark !== "+" && mark !== "-" && mark !== " " && mark !== "\\") return null;
      body.push(line === "" ? " " : line);
    }
    if (left !== 0 || right !== 0) return null;
    hunks.push({ oldStart: Number(head[1]), oldLines, newStart: Number(head[3]), newLines, lines: body });
  }
  return hunks;
}

function text(object: Readonly<Record<string, unknown>>, field: string): string | null {
  const value = object[field];
  return typeof value === "string" ? value : null;
}
