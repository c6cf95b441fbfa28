import type { DiffHunk, FileEdit } from "@foldcast/protocol-core/harness";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { objectOf, stringOf } from "@foldcast/adapter-kit";

const EDIT_TOOLS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

interface Replacement {
  old: string;
  new: string;
  all: boolean;
}

/**
 * The change that a file tool made, by the best evidence of its result: full texts, hunks, or the replaced pieces that
 * the call names. `structured` is `toolUseResult` (2.1.332: `filePath, originalFile, structuredPatch, oldString,
 * newString, edits, content, type`); `output` the result's text. Null for tools that change no file.
 */
export function editsOf(name: string, input: unknown, structured: unknown, output: string): FileEdit[] | null {
  if (!EDIT_TOOLS.has(name)) return null;
  const call = objectOf(input);
  const result = objectOf(structured);
  const path = stringOf(result["filePath"]) ?? stringOf(result["notebook_path"]) ?? stringOf(call["file_path"]) ?? stringOf(call["notebook_path"]);
  if (path === null || path === "") return null;
  if (name === "NotebookEdit") return [notebookEdit(path, call, result)];
  if (name === "Write") return [writeEdit(path, call, result, output)];
  return [replaceEdit(path, call, result)];
}

function writeEdit(path: string, call: Readonly<Record<string, unknown>>, result: Readonly<Record<string, unknown>>, output: string): FileEdit {
  const after = stringOf(result["content"]) ?? stringOf(call["content"]);
  const before = stringOf(result["originalFile"]);
  if (after === null) return { path, fragments: [] };
  if (before !== null) return { path, before, after };
  // The text of the result is the only word on it in lines without a structured result.
  if (result["type"] === "create" || (result["type"] === undefined && output.startsWith("File created successfully"))) {
    return { path, before: null, after };
  }
  const hunks = hunksOf(result["structuredPatch"]);
  if (hunks.length > 0) return { path, hunks };
  return output.includes("has been updated") ? { path, after, kind: "update" } : { path, after };
}

function replaceEdit(path: string, call: Readonly<Record<string, unknown>>, result: Readonly<Record<string, unknown>>): FileEdit {
  const replacements = replacementsOf(result, call);
  const hunks = hunksOf(result["structuredPatch"]);
  const before = stringOf(result["originalFile"]);
  if (before !== null) {
    const after = patched(before, hunks) ?? (result["userModified"] === true ? null : replaced(before, replacements));
    if (after !== null) return { path, before, after };
  } else if (result["originalFile"] === null && replacements.length === 1 && replacements[0]!.old === "") {
    // An edit of nothing into something makes the file.
    return { path, before: null, after: replacements[0]!.new };
  }
  if (hunks.length > 0) return { path, hunks };
  return { path, fragments: replacements.map((piece) => ({ old: piece.old, new: piece.new })) };
}

function notebookEdit(path: string, call: Readonly<Record<string, unknown>>, result: Readonly<Record<string, unknown>>): FileEdit {
  const before = stringOf(result["original_file"]);
  const after = stringOf(result["updated_file"]);
  if (before !== null && after !== null) return { path, before, after };
  return { path, kind: "update", fragments: [{ old: "", new: stringOf(call["new_source"]) ?? "" }] };
}

function replacementsOf(result: Readonly<Record<string, unknown>>, call: Readonly<Record<string, unknown>>): Replacement[] {
  const list = Array.isArray(result["edits"]) ? result["edits"] : Array.isArray(call["edits"]) ? call["edits"] : [
    {
      old_string: result["oldString"] ?? call["old_string"],
      new_string: result["newString"] ?? call["new_string"],
      replace_all: result["replaceAll"] ?? call["replace_all"],
    },
  ];
  return list.filter(isJsonObject).map((piece) => ({
    old: stringOf(piece["old_string"]) ?? stringOf(piece["oldString"]) ?? "",
    new: stringOf(piece["new_string"]) ?? stringOf(piece["newString"]) ?? "",
    all: piece["replace_all"] === true || piece["replaceAll"] === true,
  }));
}

function hunksOf(patch: unknown): DiffHunk[] {
  if (!Array.isArray(patch)) return [];
  const hunks: DiffHunk[] = [];
  for (const part of patch) {
    const hunk = objectOf(part);
    const { oldStart, oldLines, newStart, newLines, lines } = hunk;
    if (typeof oldStart !== "number" || typeof oldLines !== "number" || typeof newStart !== "number" || typeof newLines !== "number") return [];
    if (!Array.isArray(lines) || !lines.every((line) => typeof line === "string")) return [];
    hunks.push({ oldStart, oldLines, newStart, newLines, lines });
  }
  return hunks;
}

/**
 * The text after its hunks; null unless every context and removed line is the text's own (Claude Code writes leading
 * tabs of its hunks as spaces).
 */
function patched(before: string, hunks: readonly DiffHunk[]): string | null {
  if (hunks.length === 0) return null;
  const lines = before.split("\n");
  const result: string[] = [];
  let at = 0;
  let finalNewline: boolean | null = null;
  for (const hunk of hunks) {
    const start = Math.max(0, hunk.oldStart - 1);
    if (start < at || start > lines.length) return null;
    while (at < start) result.push(lines[at++]!);
    let last = " ";
    for (const line of hunk.lines) {
      const mark = line[0] ?? "";
      if (mark === "\\") {
        if (last !== "-") finalNewline = false;
        else finalNewline ??= true;
        continue;
      }
      last = mark;
      if (mark === "+") result.push(line.slice(1));
      else if ((mark === " " || mark === "-") && lines[at] === line.slice(1)) {
        if (mark === " ") result.push(lines[at]!);
        at++;
      } else return null;
    }
  }
  while (at < lines.length) result.push(lines[at++]!);
  const text = result.join("\n");
  if (finalNewline === true && !text.endsWith("\n")) return `${text}\n`;
  return finalNewline === false && text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** The text after Claude Code's own replacement; null when a piece is not found. */
function replaced(before: string, replacements: readonly Replacement[]): string | null {
  let text = before;
  for (const piece of replacements) {
    if (piece.old === "") {
      if (text !== "") return null;
      text = piece.new;
      continue;
    }
    // Removing a piece takes the line end behind it too.
    const old = piece.new === "" && !piece.old.endsWith("\n") && text.includes(`${piece.old}\n`) ? `${piece.old}\n` : piece.old;
    if (!text.includes(old)) return null;
    text = piece.all ? text.split(old).join(piece.new) : text.replace(old, () => piece.new);
  }
  return text;
}
