import type { FileEdit, ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import type { ToolContentItem } from "@foldcast/protocol-core/wire";
import { editsOf } from "./edits.ts";
import { imageContent, withoutImageBytes } from "./images.ts";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { blocksOf, type ContentBlock, isCutOff, isToolResult, messageOf, type SessionRecord } from "./record.ts";

/** A call as far as its result needs it. */
export interface Call {
  name: string;
  input: unknown;
}

const REFUSED = "The user doesn't want to proceed with this tool use";
const STOPPED = "this call was stopped while running";
const SILENT = "(Bash completed with no output)";
const PERSISTED = "<persisted-output>";

/** How a call ended, by its result block and the line that holds it. */
export function resultOf(block: ContentBlock, record: SessionRecord, call: Call | null): { outcome: ItemOutcome; result: ItemResult } {
  const structured = ownStructured(record);
  const text = textOf(block["content"]);
  const content = contentOf(block["content"]);
  const outcome = outcomeOf(block, record, text);
  const edits: FileEdit[] | null = call === null ? null : editsOf(call.name, call.input, structured, text);
  const exitCode = call?.name === "Bash" && outcome.status === "failed" ? /^(?:Error: )?Exit code (\d{1,3})\b/.exec(text)?.[1] : undefined;
  const duration = objectOf(structured)["durationMs"];
  return {
    outcome,
    result: {
      ...(isCutOff(record) ? {} : { output: wholeOutput(text, structured) }),
      ...(content === null ? {} : { content }),
      ...(structured === undefined ? {} : { structured: withoutImageBytes(structured) }),
      ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
      ...(typeof duration === "number" && duration >= 0 ? { durationMs: duration } : {}),
      ...(edits === null ? {} : { edits }),
    },
  };
}

/** `toolUseResult` belongs to the line; with several results in it, it is not known whose it is. */
function ownStructured(record: SessionRecord): unknown {
  const results = blocksOf(messageOf(record)["content"]).filter(isToolResult).length;
  return results === 1 ? record["toolUseResult"] : undefined;
}

function outcomeOf(block: ContentBlock, record: SessionRecord, text: string): ItemOutcome {
  const content = objectOf(block["content"]);
  if (block["is_error"] !== true && !stringOf(content["type"])?.endsWith("_error")) return { status: "succeeded" };
  if (isCutOff(record)) return { status: "cancelled" };
  // Before 2.1.3xx an interrupt of a running call is written like a refusal.
  if (text.includes(STOPPED) || text.trim().startsWith("[Request interrupted by user")) return { status: "cancelled" };
  if (text.startsWith(REFUSED) || /^Permission to use .{1,200} has been denied/.test(text) || typeof record["toolDenialKind"] === "string") return { status: "declined" };
  const message = text.replace(/^<tool_use_error>|<\/tool_use_error>$/g, "").trim();
  return message === "" ? { status: "failed" } : { status: "failed", message: message.slice(0, 1000) };
}

/** Text that a result shows; what is no text is named or given as JSON. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return blocksOf(content).filter((block) => block["type"] !== "image").map(blockText).join("\n");
  return content === undefined || content === null ? "" : JSON.stringify(content);
}

function blockText(block: ContentBlock): string {
  const text = filledString(block["text"]) ?? filledString(block["tool_name"]);
  return text ?? (block["type"] === "text" ? "" : JSON.stringify(block));
}

/** Null when the text says it all. */
function contentOf(content: unknown): ToolContentItem[] | null {
  const blocks = Array.isArray(content) ? blocksOf(content) : [];
  if (!blocks.some((block) => block["type"] === "image")) return null;
  return blocks.map((block) => (block["type"] === "image" ? imageContent(block) : { type: "inputText", text: blockText(block) }));
}

/**
 * Of an output too large for the model, the model got the first 2 KB; the structured result has the first 30,000
 * characters. For a command without any output it got a note.
 */
function wholeOutput(text: string, structured: unknown): string {
  if (text === SILENT && objectOf(structured)["stdout"] === "" && objectOf(structured)["stderr"] === "") return "";
  if (!text.startsWith(PERSISTED)) return text;
  const { stdout, stderr } = objectOf(structured);
  if (typeof stdout !== "string" || stdout === "") return text;
  return typeof stderr === "string" && stderr !== "" ? `${stdout}\n${stderr}` : stdout;
}
