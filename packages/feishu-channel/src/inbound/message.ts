import { z } from "zod";
import type { MessageReceivedEvent } from "../platform/port.ts";

/** A resource that somebody sent with a message. */
export interface Attachment {
  readonly kind: "image" | "file";
  readonly key: string;
  readonly name: string | null;
}

/** What of a message concerns an agent. `text` has mentions written out, the bot's own left out. */
export interface InboundContent {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** A message of a kind that cannot be given to an agent. */
  readonly unsupported: string | null;
}

const Text = z.object({ text: z.string() });
const Image = z.object({ image_key: z.string() });
const File = z.object({ file_key: z.string(), file_name: z.string().optional() });
const Piece = z.looseObject({ tag: z.string(), text: z.string().optional(), href: z.string().optional(), user_name: z.string().optional(), user_id: z.string().optional(), image_key: z.string().optional(), file_key: z.string().optional(), language: z.string().optional() });
type Piece = z.infer<typeof Piece>;
const Post = z.object({ title: z.string().optional(), content: z.array(z.array(Piece)) });

/** Reads a message's content; what does not fit its type is unsupported, never an error. */
export function readContent(event: Pick<MessageReceivedEvent, "messageType" | "content" | "mentions">, botOpenId: string): InboundContent {
  let raw: unknown;
  try {
    raw = JSON.parse(event.content);
  } catch {
    return unsupported(event.messageType);
  }
  switch (event.messageType) {
    case "text": {
      const read = Text.safeParse(raw);
      return read.success ? { text: withNames(read.data.text, event.mentions, botOpenId), attachments: [], unsupported: null } : unsupported("text");
    }
    case "post": {
      // What a person sends has no level of locales; a forwarded one may.
      const read = Post.safeParse(raw).data ?? Object.values(z.record(z.string(), z.unknown()).safeParse(raw).data ?? {}).map((one) => Post.safeParse(one).data).find((one) => one !== undefined);
      return read === undefined ? unsupported("post") : readPost(read, event.mentions, botOpenId);
    }
    case "image": {
      const read = Image.safeParse(raw);
      return read.success ? { text: "", attachments: [{ kind: "image", key: read.data.image_key, name: null }], unsupported: null } : unsupported("image");
    }
    case "file": {
      const read = File.safeParse(raw);
      return read.success ? { text: "", attachments: [{ kind: "file", key: read.data.file_key, name: read.data.file_name ?? null }], unsupported: null } : unsupported("file");
    }
    default:
      return unsupported(event.messageType);
  }
}

function unsupported(kind: string): InboundContent {
  return { text: "", attachments: [], unsupported: kind };
}

type Mentions = MessageReceivedEvent["mentions"];

/** `@_user_1` is a beginning of `@_user_10`, so the longest key goes first. */
function withNames(text: string, mentions: Mentions, botOpenId: string): string {
  let shown = text;
  for (const { key, name, openId } of [...mentions].sort((a, b) => b.key.length - a.key.length)) shown = shown.replaceAll(key, openId === botOpenId ? "" : `@${name}`);
  return shown.trim();
}

function readPost({ title, content }: z.infer<typeof Post>, mentions: Mentions, botOpenId: string): InboundContent {
  const attachments: Attachment[] = [];
  const lines = content.map((pieces) => pieces.map((piece) => pieceText(piece, mentions, botOpenId, attachments)).join(""));
  const text = [...(title === undefined || title === "" ? [] : [title]), ...lines].join("\n");
  return { text: withNames(text, mentions, botOpenId), attachments, unsupported: null };
}

function pieceText(piece: Piece, mentions: Mentions, botOpenId: string, attachments: Attachment[]): string {
  switch (piece.tag) {
    case "a":
      return piece.href === undefined || piece.href === piece.text ? (piece.text ?? "") : `${piece.text ?? ""} (${piece.href})`;
    case "at": {
      const mention = mentions.find(({ key, openId }) => key === piece.user_id || openId === piece.user_id);
      if ((mention?.openId ?? piece.user_id) === botOpenId) return "";
      return `@${mention?.name ?? piece.user_name ?? ""}`;
    }
    case "img":
      if (piece.image_key !== undefined) attachments.push({ kind: "image", key: piece.image_key, name: null });
      return "";
    case "media":
      if (piece.file_key !== undefined) attachments.push({ kind: "file", key: piece.file_key, name: null });
      return "";
    case "code_block":
      return `\n\`\`\`${(piece.language ?? "").toLowerCase()}\n${(piece.text ?? "").replace(/\n$/, "")}\n\`\`\`\n`;
    default:
      return piece.text ?? "";
  }
}

/** Whether the message is for the bot: by its own id, never by `@everyone`. */
export function mentionsBot(mentions: Mentions, botOpenId: string): boolean {
  return mentions.some(({ openId }) => openId === botOpenId);
}
