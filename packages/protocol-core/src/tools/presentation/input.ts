import { isJsonObject } from "../../wire/json.ts";
import type { ToolCallDetail } from "../detail.ts";
import { unifiedHunks } from "../diff/index.ts";
import { languageOfPath, parsePatch } from "../patch/index.ts";
import { INPUT_LIMITS, PATCH_LIMITS, type Preview, type PreviewLimits, previewShared } from "./preview.ts";

/** One piece of a call's input as it is shown, with the language that highlights it. */
export interface InputBlock {
  path: string | null;
  language: string | null;
  text: string;
}

export interface InputPreview {
  limits: PreviewLimits;
  blocks: readonly (InputBlock & { preview: Preview })[];
}

/**
 * What a reader can check of a call: its command, program, patch by files, written text, or else its arguments. The
 * blocks of one call share one budget, so that nothing that is rendered from them needs to be cut again.
 */
export function previewInput(detail: ToolCallDetail): InputPreview {
  const limits = detail.kind === "apply_patch" ? PATCH_LIMITS : INPUT_LIMITS;
  const blocks = inputBlocks(detail);
  const previews = previewShared(blocks.map(({ text }) => text), limits);
  return { limits, blocks: blocks.map((block, index) => ({ ...block, preview: previews[index]! })) };
}

function inputBlocks(detail: ToolCallDetail): InputBlock[] {
  const { program, facts, kind, canonicalArguments } = detail;
  if (program !== null) return [{ path: null, ...program }];
  if (facts.command !== null && kind !== "wait") return [{ path: null, language: "bash", text: facts.command }];
  if (kind === "apply_patch") return patchBlocks(canonicalArguments?.["input"]);
  if (kind === "write_file" || kind === "edit_file") {
    const block = changeBlock(canonicalArguments);
    if (block !== null) return [block];
  }
  const text = argumentsText(detail.rawInput ?? canonicalArguments);
  return text === null ? [] : [{ path: null, language: "json", text }];
}

function patchBlocks(patch: unknown): InputBlock[] {
  if (typeof patch !== "string") return [];
  const parsed = parsePatch(patch);
  if (!parsed.ok) return [{ path: null, language: null, text: patch }];
  return parsed.files.map(({ path, movePath, language, diff }) => ({ path: movePath ?? path, language, text: diff }));
}

function changeBlock(change: ToolCallDetail["canonicalArguments"]): InputBlock | null {
  const path = change?.["path"];
  if (change === null || typeof path !== "string") return null;
  const language = languageOfPath(path);
  const { content, edits } = change;
  if (typeof content === "string") return { path, language, text: content };
  if (!Array.isArray(edits)) return null;
  const hunks = (edits as unknown[]).map((edit) =>
    isJsonObject(edit) && typeof edit["old"] === "string" && typeof edit["new"] === "string" ? unifiedHunks(asLines(edit["old"]), asLines(edit["new"])) : "",
  );
  // The pieces have no place in the file, so the numbers in their heads would be wrong.
  return { path, language, text: hunks.join("").replaceAll(/^@@ -[\d,]+ \+[\d,]+ @@$/gm, "@@") };
}

/** A piece of a file that ends inside a line; git's remark about it would only disturb. */
function asLines(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function argumentsText(value: unknown): string | null {
  if (typeof value === "string") return value === "" ? null : value;
  if (value === null || value === undefined || (isJsonObject(value) && Object.keys(value).length === 0)) return null;
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return null;
  }
}
