import { countHunkLines, unifiedHunks } from "../diff/index.ts";
import { applyChunks } from "./apply.ts";
import { type Chunk, type Operation, readPatchText } from "./grammar.ts";
import { languageOfPath } from "./language.ts";

export { languageOfPath } from "./language.ts";
export { patchFromShell } from "./shell.ts";

export interface PatchFile {
  /** As the patch writes it; the old path of a move. */
  readonly path: string;
  readonly kind: "add" | "delete" | "update";
  readonly movePath: string | null;
  readonly added: number;
  /** `null` when the old content is needed and not known: a deletion without lookup. */
  readonly removed: number | null;
  /** In the wire's form: new content of an addition, old content of a deletion (or `""`), hunks of an update. */
  readonly diff: string;
  readonly language: string | null;
}

export type PatchResult =
  | { readonly ok: true; readonly files: readonly PatchFile[] }
  | { readonly ok: false; readonly error: string };

export interface PatchOptions {
  /** Text of a file before the patch, `null` when it does not exist. With it, context is verified. */
  readonly lookup?: (path: string) => string | null;
}

/** Codex 0.171 shows one line of context in the diffs of patches. */
const CONTEXT_LINES = 1;

type FileResult = { readonly ok: true; readonly file: PatchFile } | { readonly ok: false; readonly error: string };

/**
 * Reads an apply_patch text (the freeform tool's input) into its file changes, sorted by path as Codex
 * lists them. With `lookup`, a missing file or context fails as it fails in Codex, and update hunks carry
 * true line numbers; without it they carry the `@@` heads of the patch. Never throws, unless `lookup` does.
 */
export function parsePatch(input: string, options: PatchOptions = {}): PatchResult {
  const grammar = readPatchText(input);
  if (!grammar.ok) return grammar;
  const targets = new Set<string>();
  const files: PatchFile[] = [];
  for (const operation of grammar.operations) {
    const target = normalisePath(operation.path);
    if (targets.has(target)) return { ok: false, error: `invalid patch: multiple operations target ${operation.path}` };
    targets.add(target);
    const result = fileOf(operation, options.lookup);
    if (!result.ok) return result;
    files.push(result.file);
  }
  files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return { ok: true, files };
}

function fileOf(operation: Operation, lookup: PatchOptions["lookup"]): FileResult {
  const { path } = operation;
  const shared = { path, kind: operation.kind, movePath: null, language: languageOfPath(path) };
  switch (operation.kind) {
    case "add": {
      const diff = operation.lines.map((line) => `${line}\n`).join("");
      return { ok: true, file: { ...shared, added: operation.lines.length, removed: 0, diff } };
    }
    case "delete": {
      if (lookup === undefined) return { ok: true, file: { ...shared, added: 0, removed: null, diff: "" } };
      const before = lookup(path);
      if (before === null) return { ok: false, error: `Failed to read ${path}: no such file` };
      return { ok: true, file: { ...shared, added: 0, removed: countLines(before), diff: before } };
    }
    case "update": {
      const moved = { ...shared, movePath: operation.movePath, language: languageOfPath(operation.movePath ?? path) };
      if (lookup === undefined) {
        const diff = operation.chunks.map(writeChunk).join("");
        return { ok: true, file: { ...moved, ...countHunkLines(diff), diff } };
      }
      const before = lookup(path);
      if (before === null) return { ok: false, error: `Failed to read file to update ${path}: no such file` };
      const applied = applyChunks(before, operation.chunks, path);
      if (!applied.ok) return applied;
      const diff = unifiedHunks(before, applied.text, { context: CONTEXT_LINES });
      return { ok: true, file: { ...moved, ...countHunkLines(diff), diff } };
    }
  }
}

function writeChunk(chunk: Chunk): string {
  const head = chunk.context === null ? "@@" : `@@ ${chunk.context}`;
  return `${head}\n${chunk.lines.map((line) => `${line.mark}${line.text}\n`).join("")}`;
}

function countLines(text: string): number {
  let count = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) count += 1;
  return text === "" || text.endsWith("\n") ? count : count + 1;
}

/** Lexical form of a path, so that `./a` and `a` are one target. */
function normalisePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}
