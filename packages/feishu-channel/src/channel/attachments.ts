import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { UserInput } from "@foldcast/protocol-core/wire";
import type { Attachment } from "../inbound/message.ts";
import type { FeishuPort } from "../platform/port.ts";

const MAX_BYTES = 100 * 1024 * 1024;

/** Takes what somebody sent onto this machine: an image becomes image input, a file is named in words. Null: not taken. */
export async function takeAttachment(port: FeishuPort, folder: string, messageId: string, attachment: Attachment): Promise<UserInput | null> {
  const outcome = await port.downloadResource({ messageId, key: attachment.key, kind: attachment.kind, maxBytes: MAX_BYTES });
  if (outcome.kind !== "ok") return null;
  const { bytes, contentType, fileName } = outcome.value;
  const given = attachment.name ?? fileName ?? `${attachment.kind}${suffixOf(contentType)}`;
  // A name from outside must not leave the folder.
  const name = `${messageId.replaceAll(/\W/g, "")}-${given.replaceAll(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^\.+/, "").slice(-120)}`;
  const path = join(folder, name === "" ? "file" : name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, bytes, { mode: 0o600 });
  return attachment.kind === "image" ? { type: "localImage", path } : { type: "text", text: `[${given}: ${path}]`, text_elements: [] };
}

function suffixOf(contentType: string | null): string {
  const found = /^image\/(png|jpe?g|gif|webp)/.exec(contentType ?? "")?.[1];
  return found === undefined ? "" : `.${found === "jpeg" ? "jpg" : found}`;
}
