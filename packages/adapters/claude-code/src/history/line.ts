import { isJsonObject } from "@foldcast/protocol-core/wire";
import { filledString, objectOf, parseRecord } from "@foldcast/adapter-kit";
import { isHidden, isToolResult, isToolUse, messageOf, type SessionRecord } from "./record.ts";

/** What the index needs of one line. */
export interface LineFacts {
  type: string;
  subtype: string | null;
  uuid: string | null;
  /** Id of the line before it in the chain. */
  parent: string | null;
  timestamp: string | null;
  hidden: boolean;
  aborted: boolean;
  /** A client sent this line under an id of its own (2.1.3xx), and so waits for its turn, also for that of a command. */
  sentByClient: boolean;
  /** Which turn of the session a prompt begins; recorded by 2.1.3xx on lines that begin one. */
  turnIndex: number | null;
  messageId: string | null;
  hasMessage: boolean;
  /** The message has a text or a block of some kind. */
  speaks: boolean;
  blocks: readonly BlockFacts[];
}
export interface BlockFacts {
  type: string;
  /** Of a tool call: its own id. Of a tool result: the id of its call. */
  callId: string | null;
  isCall: boolean;
  isResult: boolean;
}

/** Null for a line without a type. */
export function factsOf(record: SessionRecord): LineFacts | null {
  const { type } = record;
  if (typeof type !== "string") return null;
  const message = messageOf(record);
  const { content } = message;
  const turnIndex = record["turnPosition"] === undefined ? null : objectOf(record["turnPosition"])["turnIndex"];
  const blocks = Array.isArray(content) ? content.map(blockFacts) : typeof content === "string" && content !== "" ? ONE_TEXT : NO_BLOCKS;
  return {
    type,
    subtype: filledString(record["subtype"]),
    uuid: filledString(record["uuid"]),
    parent: filledString(record["parentUuid"]),
    timestamp: filledString(record["timestamp"]),
    hidden: isHidden(record),
    aborted: record["isAbortedMidStream"] === true,
    sentByClient: record["turnAttributionKey"] !== undefined && record["turnAttributionKey"] === record["uuid"],
    turnIndex: typeof turnIndex === "number" ? turnIndex : null,
    messageId: filledString(message["id"]),
    hasMessage: typeof content === "string" || Array.isArray(content),
    speaks: blocks.some((block) => block.type !== ""),
    blocks,
  };
}

const NO_BLOCKS: readonly BlockFacts[] = [];
const ONE_TEXT: readonly BlockFacts[] = [{ type: "text", callId: null, isCall: false, isResult: false }];

function blockFacts(block: unknown): BlockFacts {
  if (!isJsonObject(block)) return { type: "", callId: null, isCall: false, isResult: false };
  const isCall = isToolUse(block);
  const isResult = isToolResult(block);
  return { type: filledString(block["type"]) ?? "", callId: isCall ? filledString(block["id"]) : isResult ? filledString(block["tool_use_id"]) : null, isCall, isResult };
}

/** Types of lines that say nothing a reader of the conversation would miss (1.0 to 2.1.332). */
export const SILENT_TYPES: ReadonlySet<string> = new Set([
  "progress", "file-history-snapshot", "file-history-delta", "permission-mode", "queue-operation", "ai-title", "last-prompt", "summary",
  "mode", "agent-name", "agent-color", "agent-setting", "worktree-state", "custom-title", "atis-latch", "pr-link", "frame-link", "started",
  "result", "relocated", "bridge-session", "tools-used", "cost-state", "tag", "content-replacement", "attribution-snapshot",
  // Copies of what was sent to the model; their texts stand in the lines of the conversation.
  "api-request", "api-request-shape", "api-request-blob",
]);

/** Whether only Claude Code writes such a line. `system` lines prove nothing: its relatives have the same. */
export function isOwnLine(facts: LineFacts, record: SessionRecord): boolean {
  // The program's output (`stream-json`) tells the same, with other names and much that no session has.
  if (facts.type === "user" || facts.type === "assistant") return facts.hasMessage && record["session_id"] === undefined;
  if (facts.type === "attachment") return isJsonObject(record["attachment"]) && facts.uuid !== null;
  return SILENT_TYPES.has(facts.type)
    && (typeof record["sessionId"] === "string" || facts.type === "summary" || facts.type === "file-history-snapshot");
}

/** The check of one line of a file's head, which may end in the middle of it. */
export function looksLikeOwnLine(line: string): boolean {
  const record = parseRecord(line);
  const facts = record === null ? null : factsOf(record);
  if (record !== null && facts !== null) return isOwnLine(facts, record);
  return line.startsWith("{") && /"type":\s*"(?:user|assistant|queue-operation|file-history-snapshot|attachment)"/.test(line)
    && /"(?:parentUuid|sessionId|messageId)":/.test(line) && !line.includes("\"parts\":");
}
