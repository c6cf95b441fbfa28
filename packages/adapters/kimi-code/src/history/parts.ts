import type { ToolContentItem, UserInput } from "@foldcast/protocol-core/wire";
import type { SpokenPart } from "./notes.ts";
import { filledString, type JsonRecord, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";

/** Longest image that is handed on, in base64 characters: a thread of screenshots must stay readable. */
const MAX_IMAGE_CHARACTERS = 1024 * 1024;

/** Content as parts; a plain string is one text part. */
export function partsOf(content: unknown): JsonRecord[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
}

/** Address of an image, audio or video part: kimi-cli writes `image_url: {url}`, kimi-code `imageUrl: {url}`. */
function urlOf(part: JsonRecord): string | null {
  const type = stringOf(part["type"]) ?? "";
  const camel = type.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return filledString(objectOf(part[type])["url"]) ?? filledString(objectOf(part[camel])["url"]);
}

/** An image that can be shown; else what stands in its place. */
function imageOf(part: JsonRecord): { url: string } | { omitted: string } | null {
  if (part["type"] !== "image_url") return null;
  const url = urlOf(part);
  if (url === null || url.startsWith("blobref:")) return { omitted: "[image, not kept in the session file]" };
  return url.length > MAX_IMAGE_CHARACTERS ? { omitted: `[image, ${url.length} characters, too large to show]` } : { url };
}

/** What a person sent. Parts that cannot be shown are named in brackets. */
export function inputOf(content: unknown): UserInput[] {
  return partsOf(content).flatMap((part): UserInput[] => {
    const image = imageOf(part);
    if (image !== null) return ["url" in image ? { type: "image", url: image.url } : textInput(image.omitted)];
    const text = stringOf(part["text"]);
    if (text !== null) return text === "" ? [] : [textInput(text)];
    const type = filledString(part["type"]);
    return type === null ? [] : [textInput(`[${type.replace(/_url$/, "")}]`)];
  });
}

export function textInput(text: string): UserInput {
  return { type: "text", text, text_elements: [] };
}

export function textOfInput(input: readonly UserInput[]): string {
  return input.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** Text and thinking of an assistant's content; other parts are left out. */
export function spokenParts(content: unknown): SpokenPart[] {
  return partsOf(content).flatMap((part): SpokenPart[] => {
    const spoken = spokenPart(part);
    return spoken === null || spoken.text === "" ? [] : [spoken];
  });
}

export function spokenPart(part: JsonRecord): SpokenPart | null {
  if (part["type"] === "text" && typeof part["text"] === "string") return { kind: "text", text: part["text"] };
  if (part["type"] === "think" && typeof part["think"] === "string") return { kind: "think", text: part["think"] };
  return null;
}

/** A tool's output: its text, and its parts where the text does not say it all. */
export function outputOf(output: unknown): { output: string; content: ToolContentItem[] | null } {
  if (typeof output === "string") return { output, content: null };
  if (!Array.isArray(output)) return { output: output === undefined || output === null ? "" : JSON.stringify(output), content: null };
  const parts = objectsOf(output);
  const text = parts.flatMap((part) => stringOf(part["text"]) ?? []).join("\n");
  if (parts.every((part) => part["type"] === "text")) return { output: text, content: null };
  const content = parts.map((part): ToolContentItem => {
    const image = imageOf(part);
    if (image !== null) return "url" in image ? { type: "inputImage", imageUrl: image.url } : { type: "inputText", text: image.omitted };
    return { type: "inputText", text: stringOf(part["text"]) ?? `[${filledString(part["type"]) ?? "part"}]` };
  });
  return { output: text, content };
}
