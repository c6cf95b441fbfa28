import { filledString, type JsonRecord, objectOf } from "@foldcast/adapter-kit";
import { isJsonObject } from "@foldcast/protocol-core/wire";

/** One line of a session file as it stands there. Nothing is promised about any member. */
export type SessionRecord = JsonRecord;
export type ContentBlock = JsonRecord;

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
export function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.every(isJsonObject) ? content : content.filter(isJsonObject);
}

/** Whom the program takes for the person (2.1.332); a line that names nobody is the person's, too. */
const PERSON: ReadonlySet<string> = new Set(["human", "auto-continuation"]);

/** What a user line that is not the person's came from: a channel, another session, a task. Null for the person's. */
export function sourceOfNews(record: SessionRecord): string | null {
  const kind = filledString(objectOf(record["origin"])["kind"]);
  return kind === null || PERSON.has(kind) ? null : kind;
}

/** Whether the program says that somebody typed it (2.1.332): whatever it begins with, it is a prompt then. */
export function isTyped(record: SessionRecord): boolean {
  const kind = filledString(objectOf(record["origin"])["kind"]);
  if (kind !== null) return kind === "human";
  const source = filledString(record["promptSource"]);
  return source !== null && source !== "system";
}

/** Text for the model or for a special view, not from the person and not the agent's. */
export function isHidden(record: SessionRecord): boolean {
  return (record["isMeta"] === true && sourceOfNews(record) === null) || record["isVisibleInTranscriptOnly"] === true;
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
