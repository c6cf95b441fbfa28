import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { UserInput } from "@foldcast/protocol-core/wire";

/** Content of a user message, in the API's form. */
export type MessageContent = string | readonly object[];

const MEDIA_TYPES: Readonly<Record<string, string>> = { ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp" };

/** What a person sent, as the program takes it. Rejects with a readable message for an image that cannot be read. */
export async function messageContent(input: readonly UserInput[]): Promise<MessageContent> {
  const [first] = input;
  // A plain text stays plain: only so the program looks for its commands in it.
  if (input.length === 1 && first?.type === "text") return first.text;
  return Promise.all(input.map(toBlock));
}

async function toBlock(part: UserInput): Promise<object> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image": {
      const data = /^data:([^;,]+);base64,(.*)$/s.exec(part.url);
      return { type: "image", source: data === null ? { type: "url", url: part.url } : { type: "base64", media_type: data[1], data: data[2] } };
    }
    case "localImage":
      return { type: "image", source: { type: "base64", ...(await readImage(part.path)) } };
    case "mention":
      return { type: "text", text: `@${part.path}` };
    case "skill":
      return { type: "text", text: `/${part.name}` };
  }
}

async function readImage(path: string): Promise<{ media_type: string; data: string }> {
  const media_type = MEDIA_TYPES[extname(path).toLowerCase()];
  if (media_type === undefined) throw new Error(`Claude Code takes PNG, JPEG, GIF and WebP images; ${path} is none of them.`);
  try {
    return { media_type, data: (await readFile(path)).toString("base64") };
  } catch (error) {
    throw new Error(`The image ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Several messages that the program answers as one, which it joins line by line (2.1.332). */
export function joinedInput(inputs: readonly (readonly UserInput[])[]): UserInput[] {
  const parts = inputs.flat();
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return inputs.length > 1 && texts.length === parts.length ? [{ type: "text", text: texts.join("\n"), text_elements: [] }] : parts;
}
