import { isJsonObject, type ToolContentItem, type UserInput } from "@foldcast/protocol-core/wire";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { type ContentBlock } from "./record.ts";

/** Longest image that is handed on, in base64 characters: a thread of screenshots must stay readable. */
export const MAX_IMAGE_CHARACTERS = 1024 * 1024;

/** The address of an image block, or a text that says what was left out. */
function imageAddress(block: ContentBlock): { url: string } | { omitted: string } {
  const source = objectOf(block["source"]);
  const url = filledString(source["url"]);
  if (url !== null) return { url };
  const data = stringOf(source["data"]);
  const type = filledString(source["media_type"]) ?? "image";
  if (data === null) return { omitted: `[${type}, not kept in the session file]` };
  if (data.length > MAX_IMAGE_CHARACTERS) return { omitted: `[${type}, ${Math.floor((data.length * 3) / 4)} bytes, too large to show]` };
  return { url: `data:${type};base64,${data}` };
}

export function imageInput(block: ContentBlock): UserInput {
  const image = imageAddress(block);
  return "url" in image ? { type: "image", url: image.url } : { type: "text", text: image.omitted, text_elements: [] };
}

export function imageContent(block: ContentBlock): ToolContentItem {
  const image = imageAddress(block);
  return "url" in image ? { type: "inputImage", imageUrl: image.url } : { type: "inputText", text: image.omitted };
}

export function isOmittedImage(block: ContentBlock): boolean {
  return block["type"] === "image" && "omitted" in imageAddress(block);
}

/** A tool's structured result without image bytes: the result's content has them already. */
export function withoutImageBytes(structured: unknown): unknown {
  if (!isJsonObject(structured)) return structured;
  const file = structured["file"];
  if (!isJsonObject(file) || typeof file["base64"] !== "string") return structured;
  return { ...structured, file: Object.fromEntries(Object.entries(file).filter(([name]) => name !== "base64")) };
}
