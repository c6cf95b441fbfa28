import { isJsonObject } from "@foldcast/protocol-core/wire";

/** One line of a session file as it stands there. Nothing is promised about any member. */
export type SessionRecord = Readonly<Record<string, unknown>>;
export type ContentBlock = Readonly<Record<string, unknown>>;

export function parseRecord(text: string): SessionRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Deeper than any call's input; what is deeper could not be written out again. */
const MAX_DEPTH = 200;
const TOO_DEEP = "[nested too deeply to show]";

/** The record itself, or a copy in which a note stands for what is nested too deeply. */
export function withoutDepths(record: SessionRecord): SessionRecord {
  return isTooDeep(record, 0) ? (cutDepths(record, 0) as SessionRecord) : record;
}

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === MAX_DEPTH) return true;
  for (const member of Object.values(value)) if (typeof member === "object" && isTooDeep(member, depth + 1)) return true;
  return false;
}

function cutDepths(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((member) => cutDepths(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutDepths(member, depth + 1)]));
}

export function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A string that says something; null for an empty one. */
export function filledString(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

/** Unix milliseconds of an ISO time; null when there is none. */
export function timeOf(record: SessionRecord): number | null {
  const text = record["timestamp"];
  if (typeof text !== "string") return null;
  const time = Date.parse(text);
  return Number.isFinite(time) ? time : null;
}

export function messageOf(record: SessionRecord): Readonly<Record<string, unknown>> {
  return objectOf(record["message"]);
}

/** A message's blocks; a plain string is one text block, and what is no object is left out. */
export function blocksOf(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/**
 * What the program puts behind a turn that ended without an answer when it goes on with the session (2.1.332): nobody
 * said it.
 */
export function isFiller(record: SessionRecord): boolean {
  const message = messageOf(record);
  if (record["type"] !== "assistant" || message["model"] !== "<synthetic>" || record["isApiErrorMessage"] === true) return false;
  const blocks = blocksOf(message["content"]);
  return blocks.length === 1 && blocks[0]!["text"] === "No response requested.";
}

/** A call that was cut off with its program; what stands in the place of its result is a note for the model. */
export function isCutOff(record: SessionRecord): boolean {
  return record["toolDenialKind"] === "interrupted";
}

/** `tool_use`, and `server_tool_use` and the like for tools that the API runs itself. */
export function isToolUse(block: ContentBlock): boolean {
  const type = block["type"];
  return typeof type === "string" && type.endsWith("tool_use");
}

/** `tool_result` of a user line, and `web_search_tool_result` and the like in an assistant's own line. */
export function isToolResult(block: ContentBlock): boolean {
  const type = block["type"];
  return typeof type === "string" && type.endsWith("tool_result");
}

/** Whitespace of a text made single spaces, cut to `length` characters. */
export function firstWords(text: string, length: number): string {
  const words = text.slice(0, length * 8).replace(/\s+/g, " ").trim().slice(0, length);
  return words.replace(/[\ud800-\udbff]$/, "");
}
