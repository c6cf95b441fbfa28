import { filledString, finiteNumber, objectOf } from "@foldcast/adapter-kit";
import { isoTime, type SessionRecord } from "./record.ts";

/**
 * What one line of a rollout is, whatever generation wrote it.
 * - `meta`: who the session is. `context`: settings of the turn. `usage`: token counts.
 * - `item`: a record of the model's own API, to 0.42 the only source of what was said.
 * - `event`: what Codex told its screens; `item_completed` and its forerunners are among them.
 * - `silent`: bookkeeping. `unknown`: a type that no version up to 0.171 writes.
 */
export interface RolloutLine {
  kind: "meta" | "context" | "item" | "event" | "compacted" | "usage" | "silent" | "unknown";
  /** The line's own type, for messages and items of unknown kind. */
  type: string;
  payload: SessionRecord;
  at: number | null;
  ordinal: number | null;
}

const KINDS: Readonly<Record<string, RolloutLine["kind"]>> = {
  session_meta: "meta",
  turn_context: "context",
  response_item: "item",
  event_msg: "event",
  compacted: "compacted",
  token_usage_record: "usage",
  inter_agent_communication: "item",
  inter_agent_communication_metadata: "silent",
  world_state: "silent",
};

/** Records that stand without an envelope in rollouts of 2025 (to about 0.39). */
const BARE_ITEMS: ReadonlySet<string> = new Set([
  "message", "reasoning", "function_call", "function_call_output", "local_shell_call", "custom_tool_call", "custom_tool_call_output", "web_search_call",
]);

/** Null for a record that is no line of a rollout. */
export function readLine(record: SessionRecord): RolloutLine | null {
  const type = filledString(record["type"]);
  const at = isoTime(record["timestamp"]);
  if (type === null) return bareLine(record, at);
  const ordinal = finiteNumber(record["ordinal"]);
  if (record["payload"] === undefined) {
    if (BARE_ITEMS.has(type) && (type !== "message" || typeof record["role"] === "string")) return { kind: "item", type, payload: record, at, ordinal };
    return { kind: Object.hasOwn(KINDS, type) ? "silent" : "unknown", type, payload: record, at, ordinal };
  }
  const payload = objectOf(record["payload"]);
  // Messages between agents are records of their own in some versions.
  if (type === "inter_agent_communication") return { kind: "item", type, payload: { ...payload, type: "agent_message" }, at, ordinal };
  return { kind: Object.hasOwn(KINDS, type) ? KINDS[type]! : "unknown", type, payload, at, ordinal };
}

/** The first line of 2025, and the marks between the items of that time. */
function bareLine(record: SessionRecord, at: number | null): RolloutLine | null {
  if (typeof record["record_type"] === "string") return { kind: "silent", type: record["record_type"], payload: {}, at, ordinal: null };
  if (filledString(record["id"]) === null || at === null || !("instructions" in record || "git" in record)) return null;
  return { kind: "meta", type: "session_meta", payload: record, at, ordinal: null };
}

/** Whether only Codex writes such a line. */
export function isOwnLine(line: RolloutLine): boolean {
  if (line.kind === "unknown") return false;
  if (line.kind === "silent") return line.type === "world_state" || line.type === "state";
  // Other harnesses have bare records of these types with other members.
  if (line.type === "reasoning") return Array.isArray(line.payload["summary"]);
  if (line.type !== "message") return true;
  const { content } = line.payload;
  return Array.isArray(content) && content.some((part) => ["input_text", "output_text"].includes(String(objectOf(part)["type"])));
}

/** The head of an envelope whose line is longer than what was read of it. */
export const ENVELOPE_HEAD = /^\{"timestamp":\s*"[^"]*",\s*(?:"ordinal":\s*\d+,\s*)?"type":\s*"(?:session_meta|response_item|event_msg|turn_context|compacted|world_state)"/;
