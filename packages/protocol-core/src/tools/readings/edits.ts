import type { FileEdit } from "../../harness/items.ts";
import { isJsonObject } from "../../wire/json.ts";
import { CallArguments } from "../arguments.ts";
import { parsePatch, type PatchFile } from "../patch/index.ts";
import { resolvePath } from "../paths.ts";
import { type CallReading, NO_FACTS } from "../reading.ts";
import type { ToolKind, ToolRule } from "../tool-map.ts";

/** A call that changes one file by old and new text, or writes it whole. */
export function readEditCall(kind: ToolKind, call: CallArguments, rule: ToolRule | undefined, cwd: string): CallReading {
  const text = call.text ?? call.string("patch");
  if (text?.trimStart().startsWith("*** Begin Patch") === true) return readPatchCall(text, cwd, cwd);
  const path = call.filled("path") ?? (text === null ? null : anchoredPath(text));
  const edit = path === null ? null : editOf(kind, resolvePath(cwd, path), call, rule);
  const isWrite = kind === "write_file" && edit?.fragments === undefined;
  return {
    kind: isWrite || edit === null ? kind : "edit_file",
    canonicalName: isWrite ? "write_file" : "edit_file",
    canonicalArguments: path === null ? null : { path: resolvePath(cwd, path), ...changeArguments(edit) },
    as: { item: "edits", edits: edit === null ? null : [edit] },
    facts: { ...NO_FACTS, paths: path === null ? [] : [path] },
  };
}

function changeArguments(edit: FileEdit | null): Record<string, unknown> {
  if (typeof edit?.after === "string") return { content: edit.after };
  return edit?.fragments === undefined || edit.fragments.length === 0 ? {} : { edits: edit.fragments };
}

/** The file of an edit text whose first line is `[path#hash]`. */
function anchoredPath(text: string): string | null {
  return /^\s*\[([^\]\n#]+)#[^\]\n]*\]/.exec(text)?.[1] ?? null;
}

function editOf(kind: ToolKind, path: string, call: CallArguments, rule: ToolRule | undefined): FileEdit | null {
  if (rule?.options?.["effect"] === "delete") return { path, kind: "delete", after: null };
  // The file is named but the change is not: it is listed, and nothing is claimed about it.
  const unread: FileEdit = { path, kind: "update", fragments: [] };
  const pieces = editPieces(call);
  if (pieces !== null) {
    const fragments = pieces.flatMap((piece) => fragmentOf(new CallArguments(piece, rule)) ?? []);
    return fragments.length === pieces.length ? { path, fragments } : unread;
  }
  const content = call.string("content");
  const fragment = fragmentOf(call);
  if (fragment !== null && (kind === "edit_file" || content === null)) return { path, fragments: [fragment] };
  if (content === null) return kind === "write_file" ? null : unread;
  if (kind === "write_file") {
    const mode = call.string("mode");
    return mode === "append" || mode === "insert" ? { path, fragments: [{ old: "", new: content }] } : { path, after: content };
  }
  const blocks = searchReplaceBlocks(content);
  return blocks.length > 0 ? { path, fragments: blocks } : unread;
}

function editPieces(call: CallArguments): readonly unknown[] | null {
  const list = call.list("edits");
  if (list !== null) return list;
  const single = call.value("edits");
  return isJsonObject(single) ? [single] : null;
}

function fragmentOf(call: CallArguments): { old: string; new: string } | null {
  const before = call.string("old");
  const after = call.string("new");
  return before === null && after === null ? null : { old: before ?? "", new: after ?? "" };
}

/** Old and new text of `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE` blocks. */
function searchReplaceBlocks(text: string): { old: string; new: string }[] {
  const blocks: { old: string; new: string }[] = [];
  let side: "old" | "new" | null = null;
  for (const line of text.split("\n")) {
    if (/^<{5,} ?SEARCH\s*$/.test(line)) {
      blocks.push({ old: "", new: "" });
      side = "old";
    } else if (side === "old" && /^={5,}\s*$/.test(line)) side = "new";
    else if (side === "new" && /^>{5,} ?REPLACE\s*$/.test(line)) side = null;
    else if (side !== null) blocks[blocks.length - 1]![side] += `${line}\n`;
  }
  return blocks;
}

/** A patch in the apply_patch grammar. `base` is the directory that its paths are relative to. */
export function readPatchCall(patch: string, base: string, cwd: string): CallReading {
  const parsed = parsePatch(patch);
  const files = parsed.ok ? parsed.files : null;
  return {
    kind: "apply_patch",
    canonicalName: "apply_patch",
    canonicalArguments: base === cwd ? { input: patch } : { input: patch, workdir: base },
    as: { item: "edits", edits: files === null ? null : files.map((file) => patchEdit(file, base)) },
    facts: { ...NO_FACTS, paths: files === null ? [] : files.map((file) => resolvePath(base, file.movePath ?? file.path)) },
  };
}

/** The patch text of a call: free text, or the argument that holds it. */
export function patchText(call: CallArguments): string | null {
  return call.text ?? call.filled("patch");
}

function patchEdit(file: PatchFile, base: string): FileEdit {
  const path = resolvePath(base, file.path);
  if (file.kind === "add") return { path, before: null, after: file.diff };
  if (file.kind === "delete") return { path, kind: "delete", after: null };
  const moved = file.movePath === null ? {} : { movePath: resolvePath(base, file.movePath) };
  return { path, ...moved, kind: "update", fragments: fragmentsOfDiff(file.diff) };
}

/** Old and new text of each hunk; the hunks of a patch say no line numbers. */
function fragmentsOfDiff(diff: string): { old: string; new: string }[] {
  const fragments: { old: string; new: string }[] = [];
  let current: { old: string; new: string } | undefined;
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) fragments.push((current = { old: "", new: "" }));
    else if (current !== undefined && line !== "") {
      const text = `${line.slice(1)}\n`;
      if (line[0] !== "+") current.old += text;
      if (line[0] !== "-") current.new += text;
    }
  }
  return fragments;
}
