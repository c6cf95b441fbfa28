import type { UserInput } from "@foldcast/protocol-core/wire";
import { filledString, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";
import { member, type SessionRecord, stringsOf } from "./record.ts";

/** What a person sent. Empty where a record holds only text that the harness put in for the model. */
export interface UserContent {
  input: UserInput[];
  /** All texts; equal in every copy of the same message. */
  text: string;
}

/** Longest image that is handed on, in characters of its address: a thread of screenshots must stay readable. */
const MAX_IMAGE_CHARACTERS = 1024 * 1024;

/** Texts that begin so are the harness's, not the person's (0.20 to 0.171). */
const INJECTED_STARTS = [
  "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<permissions instructions>",
  "<apps_instructions>", "<plugins_instructions>", "<skills_instructions>", "<collaboration_mode>", "<multi_agent_mode>",
  "<multi_agent_role>", "<model_switch>", "<personality_spec>", "<turn_aborted>", "<user_shell_command>", "<user_action>",
  "<subagent_notification>", "<skill>", "<tools>", "<hook_prompt", "<goal_context>", "<token_budget>",
];
/** Newer versions wrap what they inject in one tag of several words. */
const WRAPPED = /^<([a-z]+(?:_[a-z]+)+)(?:\s[^>]*)?>[^]*<\/\1>$/;

export function isInjected(text: string): boolean {
  const start = text.trim();
  return INJECTED_STARTS.some((prefix) => start.startsWith(prefix)) || (start.startsWith("<") && WRAPPED.test(start));
}

/** Content of a `message` item of role `user`. Newer versions say of each part whether the person wrote it (0.171). */
export function contentOfItem(payload: SessionRecord): UserContent {
  const passthrough = objectOf(payload["internal_chat_message_metadata_passthrough"]);
  const origins = Array.isArray(passthrough["content_item_metadata"]) ? passthrough["content_item_metadata"] : [];
  const { content } = payload;
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : Array.isArray(content) ? content.map(objectOf) : [];
  return collect(parts.filter((part, at) => {
    const origin = objectOf(objectOf(origins[at])["provenance"])["type"];
    if (typeof origin === "string") return origin === "user";
    return typeof part["text"] !== "string" || !isInjected(part["text"]);
  }));
}

/** Content of a `user_message` event: one text, and images beside it. The first versions tell injected ones by `kind`. */
export function contentOfEvent(payload: SessionRecord): UserContent {
  const text = stringOf(payload["message"]) ?? "";
  const kind = payload["kind"];
  if (kind === "user_instructions" || kind === "environment_context") return { input: [], text: "" };
  return collect([
    ...(text.trim() === "" ? [] : [{ type: "text", text, text_elements: payload["text_elements"] }]),
    ...stringsOf(payload["images"]).map((url) => ({ type: "image", url })),
    ...stringsOf(payload["local_images"]).map((path) => ({ type: "local_image", path })),
  ]);
}

/** Content of a completed `UserMessage` item. */
export function contentOfUserMessage(item: SessionRecord): UserContent {
  return collect(objectsOf(item["content"]));
}

/** The working directory that an injected text names: all that the first rollouts say of it. */
export function directoryIn(text: string): string | null {
  if (!text.trimStart().startsWith("<environment_context>")) return null;
  const found = /<cwd>([^<]+)<\/cwd>/.exec(text) ?? /^\s*Current working directory:\s*(.+)$/m.exec(text);
  return filledString(found?.[1]?.trim());
}

function collect(parts: readonly SessionRecord[]): UserContent {
  const input: UserInput[] = [];
  const texts: string[] = [];
  for (const part of parts) {
    const text = stringOf(part["text"]);
    if (text !== null) {
      // Marks around an image that stands beside them.
      if (/^<\/?image\b[^>]*>$/.test(text.trim()) || text.trim() === "") continue;
      texts.push(text);
      const elements = Array.isArray(part["text_elements"]) ? (part["text_elements"] as never[]) : [];
      input.push({ type: "text", text, text_elements: elements });
    } else {
      const other = otherInput(part);
      if (other !== null) input.push(other);
    }
  }
  return { input, text: texts.join("\n") };
}

function otherInput(part: SessionRecord): UserInput | null {
  const type = stringOf(part["type"]) ?? "";
  const path = filledString(part["path"]);
  const name = filledString(part["name"]);
  if (/local_?image/i.test(type) && path !== null) return { type: "localImage", path };
  if (type === "skill" && path !== null) return { type: "skill", name: name ?? path, path };
  if (type === "mention" && path !== null) return { type: "mention", name: name ?? path, path };
  const url = filledString(part["url"]) ?? filledString(member(part, "image_url"));
  if (url !== null && /image/.test(type)) return imageInput(url);
  return type === "" ? null : { type: "text", text: `[${name === null ? type : `${type}: ${name}`}]`, text_elements: [] };
}

function imageInput(url: string): UserInput {
  return url.length <= MAX_IMAGE_CHARACTERS ? { type: "image", url } : { type: "text", text: omittedImage(url), text_elements: [] };
}

/** Words for an image that is too large to hand on. */
export function omittedImage(url: string): string {
  const type = /^data:([^;,]+)/.exec(url)?.[1] ?? "image";
  return `[${type}, ${Math.floor((url.length * 3) / 4)} bytes, too large to show]`;
}

export function isOmitted(url: string): boolean {
  return url.length > MAX_IMAGE_CHARACTERS;
}
