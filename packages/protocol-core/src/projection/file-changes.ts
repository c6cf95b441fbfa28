import type { DiffHunk, FileEdit } from "../harness/index.ts";
import { unifiedHunks } from "../tools/diff/index.ts";
import type { FileChangeKind, FileUpdateChange } from "../wire/index.ts";

/** Hunks as text, without file heads. */
export function renderHunks(hunks: readonly DiffHunk[]): string {
  return hunks
    .map((hunk) => `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@\n${hunk.lines.map((line) => `${line}\n`).join("")}`)
    .join("");
}

/** git's form: a count of one is left out. */
function range(start: number, count: number): string {
  return count === 1 ? `${start}` : `${start},${count}`;
}

/** A texts-level change: null = the file does not exist on that side. */
export function changeOfTexts(path: string, before: string | null, after: string | null, movePath: string | null): FileUpdateChange | null {
  if (after === null) return before === null ? null : { path, kind: { type: "delete" }, diff: before };
  if (before === null) return { path: movePath ?? path, kind: { type: "add" }, diff: after };
  const diff = unifiedHunks(before, after);
  return diff === "" && movePath === null ? null : { path, kind: { type: "update", move_path: movePath }, diff };
}

/**
 * The wire form of one edit by the best evidence that it carries; null when it changes nothing or says nothing.
 * A write whose former content is not known counts as an add, as the content is all that is known.
 */
export function changeOfEdit(edit: FileEdit): FileUpdateChange | null {
  const movePath = edit.movePath ?? null;
  if (edit.hunks !== undefined && edit.hunks.length > 0) {
    return { path: edit.path, kind: kindOf(edit, movePath), diff: renderHunks(edit.hunks) };
  }
  if (edit.before !== undefined && edit.after !== undefined) return changeOfTexts(edit.path, edit.before, edit.after, movePath);
  if (edit.fragments !== undefined && edit.fragments.length > 0) {
    const diff = edit.fragments.map((fragment) => unifiedHunks(fragment.old, fragment.new)).join("");
    return diff === "" ? null : { path: edit.path, kind: kindOf(edit, movePath), diff };
  }
  if (typeof edit.after === "string") return { path: edit.path, kind: { type: "add" }, diff: edit.after };
  if (edit.kind === "delete" || edit.after === null) return { path: edit.path, kind: { type: "delete" }, diff: edit.before ?? "" };
  return movePath === null ? null : { path: edit.path, kind: { type: "update", move_path: movePath }, diff: "" };
}

function kindOf(edit: FileEdit, movePath: string | null): FileChangeKind {
  if (edit.kind === "delete") return { type: "delete" };
  // The diff of an add is plain content on the wire, so hunks and fragments always count as an update.
  return { type: "update", move_path: movePath };
}

/** The text after the hunks, or null when they do not fit it. Hunks are in order of `oldStart`. */
export function applyHunks(text: string, hunks: readonly DiffHunk[]): string | null {
  const lines = text.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (start < at || start > lines.length) return null;
    for (; at < start; at += 1) out.push(lines[at]!);
    for (const line of hunk.lines) {
      const mark = line[0];
      const content = line.slice(1);
      if (mark === "+") out.push(content);
      else if (mark === "-" || mark === " ") {
        if (lines[at] !== content) return null;
        at += 1;
        if (mark === " ") out.push(content);
      }
    }
  }
  for (; at < lines.length; at += 1) out.push(lines[at]!);
  return out.join("\n");
}

/** One change as a section of a git diff (without an index line: blob ids are not ours to know). */
export function gitSection(change: FileUpdateChange, cwd: string): string {
  const from = relativePath(change.path, cwd);
  const move = change.kind.type === "update" ? change.kind.move_path : null;
  const to = move === null ? from : relativePath(move, cwd);
  const head = `diff --git a/${from} b/${to}\n`;
  if (change.kind.type === "add") return `${head}new file mode 100644\n${body("/dev/null", `b/${to}`, unifiedHunks("", change.diff))}`;
  if (change.kind.type === "delete") return `${head}deleted file mode 100644\n${body(`a/${from}`, "/dev/null", unifiedHunks(change.diff, ""))}`;
  const rename = move === null ? "" : `rename from ${from}\nrename to ${to}\n`;
  return head + rename + body(`a/${from}`, `b/${to}`, change.diff);
}

function body(from: string, to: string, hunks: string): string {
  return hunks === "" ? "" : `--- ${from}\n+++ ${to}\n${hunks}`;
}

/** Inside the working directory: relative to it; elsewhere as it stands, without the leading slash that git drops too. */
function relativePath(path: string, cwd: string): string {
  const base = cwd.endsWith("/") ? cwd : `${cwd}/`;
  return path.startsWith(base) ? path.slice(base.length) : path.replace(/^\/+/, "");
}
