import type { ToolContentItem } from "@foldcast/protocol-core/wire";
import { type JsonRecord, filledString, objectOf, objectsOf, stringOf } from "../json.ts";

/** Longest image that is handed on, in base64 characters. */
const MAX_IMAGE_CHARACTERS = 1024 * 1024;

/** A content block as text; what is no text is named. */
export function textOfBlock(block: JsonRecord): string {
  const text = stringOf(block["text"]);
  if (text !== null) return text;
  if (block["type"] === "resource_link") return `[${filledString(block["name"]) ?? filledString(block["uri"]) ?? "link"}](${stringOf(block["uri"]) ?? ""})`;
  if (block["type"] === "resource") {
    const resource = objectOf(block["resource"]);
    return stringOf(resource["text"]) ?? `[${filledString(resource["uri"]) ?? "resource"}]`;
  }
  return `[${filledString(block["type"]) ?? "content"}]`;
}

/** What a call gave back, from its `content` of the kind `content`. */
export interface CallContent {
  text: string;
  /** Where pictures are among it. */
  parts: ToolContentItem[] | null;
}

/** Null when the content holds no text or picture at all. */
export function contentOf(content: unknown): CallContent | null {
  const blocks = objectsOf(content).filter((part) => part["type"] === "content").map((part) => objectOf(part["content"]));
  if (blocks.length === 0) return null;
  const text = blocks.filter((block) => block["type"] !== "image").map(textOfBlock).join("\n");
  return { text, parts: blocks.some((block) => block["type"] === "image") ? blocks.map(partOf) : null };
}

function partOf(block: JsonRecord): ToolContentItem {
  const data = stringOf(block["data"]);
  if (block["type"] !== "image") return { type: "inputText", text: textOfBlock(block) };
  if (data === null || data === "") return filledString(block["uri"]) === null ? { type: "inputText", text: "[image]" } : { type: "inputImage", imageUrl: stringOf(block["uri"])! };
  if (data.length > MAX_IMAGE_CHARACTERS) return { type: "inputText", text: `[image, ${data.length} characters, too large to show]` };
  return { type: "inputImage", imageUrl: `data:${filledString(block["mimeType"]) ?? "image/png"};base64,${data}` };
}

/** Ids of the client's terminals that a call shows. */
export function terminalsOf(content: unknown): string[] {
  return objectsOf(content).flatMap((part) => (part["type"] === "terminal" ? (filledString(part["terminalId"]) ?? []) : []));
}
