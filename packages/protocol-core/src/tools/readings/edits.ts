import type { FileEdit } from "../../harness/items.ts";
import { isJsonObject } from "../../wire/json.ts";
import { CallArguments } from "../arguments.ts";
import { parsePatch, type PatchFile } from "../patch/index.ts";
import { resolvePath } from "../paths.ts";
import { type CallReading, NO_FACTS } from "../reading.ts";
import type { ToolKind, ToolRule } from "../tool-map.ts";

/** A call that changes one file by old and new text, or writes it whole. */
export function readEditCall(kind: ToolKind, call: CallArguments, rule: ToolRule | undefined, cwd: string): CallReading {
  const path = call.filled("path");
  const edit = path === null ? null : editOf(kind, resolvePath(cwd, path), call, rule);
  return {
    kind,
    canonicalName: kind,
    canonicalArguments: path === null ? null : { path: resolvePath(cwd, path) },
    as: { item: "edits", edits: edit === null ? null : [edit] },
    facts: { ...NO_FACTS, paths: path === null ? [] : [path] },
  };
}

function editOf(kind: ToolKind, path: string, call: CallArguments, rule: ToolRule | undefined): FileEdit | null {
  const pieces = call.list("edits");
  if (pieces !== null) {
    const fragments = pieces.flatMap((piece) => fragmentOf(new CallArguments(piece, rule)) ?? []);
    return fragments.length === pieces.length ? { path, fragments } : { path, kind: "update", fragments: [] };
  }
  const fragment = fragmentOf(call);
  const content = call.string("content");
  if (kind === "write_file") {
    const text = content ?? fragment?.new;
    if (text === undefined) return null;
    return call.string("mode") === "append" ? { path, fragments: [{ old: "", new: text }] } : { path, after: text };
  }
  if (fragment !== null) return { path, fragments: [fragment] };
  if (content !== null) return { path, fragments: [{ old: "", new: content }] };
  // The file is named but the change is not: it is listed, and nothing is claimed about it.
  return { path, kind: "update", fragments: [] };
}

function fragmentOf(call: CallArguments): { old: string; new: string } | null {
  const before = call.string("old");
  const after = call.string("new");
  return before === null && after === null ? null : { old: before ?? "", new: after ?? "" };
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

/** Edits that a harness reports as a list of files with old and new text (ACP diffs and the like). */
export function isEditList(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isJsonObject);
}
