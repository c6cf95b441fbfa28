import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { UserInput } from "@foldcast/protocol-core/wire";

const MEDIA_TYPES: Readonly<Record<string, string>> = { ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp" };

/** What a person sent as a prompt of ACP. Rejects with a readable message for an image that cannot be read or sent. */
export async function promptOf(input: readonly UserInput[], images: boolean): Promise<ContentBlock[]> {
  return Promise.all(input.map((part) => blockOf(part, images)));
}

async function blockOf(part: UserInput, images: boolean): Promise<ContentBlock> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      if (!images) throw new Error("This agent takes no images.");
      return imageOfUrl(part.url);
    case "localImage":
      if (!images) throw new Error("This agent takes no images.");
      return imageOfFile(part.path);
    case "mention":
      return { type: "resource_link", name: part.name, uri: pathToFileURL(part.path).href };
    case "skill":
      return { type: "text", text: `/${part.name}` };
  }
}

function imageOfUrl(url: string): ContentBlock {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
  return { type: "resource_link", name: "image", uri: url };
}

async function imageOfFile(path: string): Promise<ContentBlock> {
  const mimeType = MEDIA_TYPES[extname(path).toLowerCase()];
  if (mimeType === undefined) throw new Error(`Only PNG, JPEG, GIF and WebP images can be sent; ${path} is none of them.`);
  try {
    return { type: "image", mimeType, data: (await readFile(path)).toString("base64") };
  } catch (error) {
    throw new Error(`The image ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
