import { type Plucked, plucker } from "@foldcast/adapter-kit";
import { isJsonObject } from "@foldcast/protocol-core/wire";

const pluckLine = plucker({
  type: "repeated",
  subtype: "repeated",
  uuid: true,
  sessionId: "repeated",
  cwd: "repeated",
  timestamp: true,
  isSidechain: true,
  agentId: "repeated",
  isMeta: true,
  isCompactSummary: true,
  isVisibleInTranscriptOnly: true,
  isApiErrorMessage: true,
  isAbortedMidStream: true,
  turnPosition: { turnIndex: true },
  durationMs: true,
  aiTitle: "repeated",
  customTitle: "repeated",
  summary: "repeated",
  leafUuid: "repeated",
  messageId: "repeated",
  attachment: { type: "repeated" },
  message: { id: "repeated", role: "repeated", stop_reason: "repeated", content: [{ type: "repeated", id: true, tool_use_id: true }] },
});

/** What the index needs of one line, taken without parsing it whole. */
export interface LineFacts {
  type: string;
  subtype: string | null;
  uuid: string | null;
  sessionId: string | null;
  cwd: string | null;
  timestamp: string | null;
  sidechain: boolean;
  agentId: string | null;
  /** Text for the model or for a special view, not from the person and not the agent's. */
  hidden: boolean;
  compactSummary: boolean;
  apiError: boolean;
  aborted: boolean;
  /** Which turn of the session a prompt begins; recorded by 2.1.3xx on lines that begin one. */
  turnIndex: number | null;
  durationMs: number | null;
  title: { kind: "ai" | "custom" | "summary"; text: string } | null;
  attachmentType: string | null;
  messageId: string | null;
  stopReason: string | null;
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

/** Null when the bytes are no JSON object, or one without a type. */
export function readLine(bytes: Buffer, start: number, end: number): LineFacts | null {
  const line = pluckLine(bytes, start, end);
  if (line === null || typeof line["type"] !== "string") return null;
  const message = isJsonObject(line["message"]) ? line["message"] : null;
  const position = isJsonObject(line["turnPosition"]) ? line["turnPosition"]["turnIndex"] : null;
  const attachment = isJsonObject(line["attachment"]) ? line["attachment"] : {};
  const content = message === null ? undefined : message["content"];
  const blocks = Array.isArray(content) ? (content as (Plucked | null)[]).map(blockFacts) : [];
  return {
    type: line["type"],
    subtype: text(line, "subtype"),
    uuid: text(line, "uuid"),
    sessionId: text(line, "sessionId"),
    cwd: text(line, "cwd"),
    timestamp: text(line, "timestamp"),
    sidechain: line["isSidechain"] === true,
    agentId: text(line, "agentId"),
    hidden: line["isMeta"] === true || line["isVisibleInTranscriptOnly"] === true,
    compactSummary: line["isCompactSummary"] === true,
    apiError: line["isApiErrorMessage"] === true,
    aborted: line["isAbortedMidStream"] === true,
    turnIndex: typeof position === "number" ? position : null,
    durationMs: typeof line["durationMs"] === "number" && line["durationMs"] >= 0 ? line["durationMs"] : null,
    title: titleOf(line),
    attachmentType: text(attachment, "type"),
    messageId: message === null ? null : text(message, "id"),
    stopReason: message === null ? null : text(message, "stop_reason"),
    hasMessage: content !== undefined,
    speaks: typeof content === "string" ? content !== "" : blocks.some((block) => block.type !== ""),
    blocks,
  };
}

function blockFacts(block: Plucked | null): BlockFacts {
  const type = block === null ? "" : (text(block, "type") ?? "");
  const isCall = type.endsWith("tool_use");
  const isResult = type.endsWith("tool_result");
  const callId = block === null || !(isCall || isResult) ? null : text(block, isCall ? "id" : "tool_use_id");
  return { type, callId, isCall, isResult };
}

function titleOf(line: Plucked): LineFacts["title"] {
  const custom = text(line, "customTitle");
  if (custom !== null) return { kind: "custom", text: custom };
  const made = text(line, "aiTitle");
  if (made !== null) return { kind: "ai", text: made };
  const summary = line["type"] === "summary" ? text(line, "summary") : null;
  return summary === null ? null : { kind: "summary", text: summary };
}

function text(line: Plucked, name: string): string | null {
  const value = line[name];
  return typeof value === "string" && value !== "" ? value : null;
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
export function isOwnLine(facts: LineFacts): boolean {
  if (facts.type === "user" || facts.type === "assistant") return facts.hasMessage;
  if (facts.type === "attachment") return facts.attachmentType !== null && facts.uuid !== null;
  return SILENT_TYPES.has(facts.type)
    && (facts.sessionId !== null || facts.type === "summary" || facts.type === "file-history-snapshot");
}

/** The check of one line of a file's head, which may end in the middle of it. */
export function looksLikeOwnLine(line: string): boolean {
  const bytes = Buffer.from(line);
  const facts = readLine(bytes, 0, bytes.length);
  if (facts !== null) return isOwnLine(facts);
  return line.startsWith("{") && /"type":\s*"(?:user|assistant|queue-operation|file-history-snapshot|attachment)"/.test(line)
    && /"(?:parentUuid|sessionId|messageId)":/.test(line) && !line.includes("\"parts\":");
}
