import { exitCodeOrNull } from "../harness/index.ts";
import type { ChildAgent, HarnessItem, ItemOutcome, ItemResult } from "../harness/index.ts";
import type {
  AgentCallStatus, AgentTool, CallStatus, CollabAgentToolCallItem, CommandExecutionItem, ExecutionStatus,
  FileChangeItem, JsonValue, ThreadItem, ToolContentItem, UserInput,
} from "../wire/index.ts";
import { capText } from "./capped-text.ts";
import { asJson, contentItems, durationOf, type Entry } from "./entries.ts";
import type { CommandShape } from "./shapes.ts";
import { changeOfEdit } from "./file-changes.ts";

export interface BuildContext {
  threadId: string;
  cwd: string;
  childThreadId(ref: string): string;
}

/** The item as it stands in the entry; `completedAt` undefined while it is open. */
export function buildItem(id: string, entry: Entry, context: BuildContext, completedAt?: number | null): ThreadItem | null {
  const startedAtMs = entry.startedAt;
  const completedAtMs = completedAt ?? null;
  const { source, result, outcome, shape } = entry;
  switch (shape?.item) {
    case "user":
      return { type: "userMessage", id, clientId: clientIdOf(source), content: contentOf(source), startedAtMs, completedAtMs };
    case "message":
      return { type: "agentMessage", moderation: null, id, text: outcome === null ? "" : entry.text, phase: source.kind === "message" ? (source.phase ?? null) : null, memoryCitation: null, delivery: null, questions: null, startedAtMs, completedAtMs };
    case "reasoning":
      return { type: "reasoning", id, summary: outcome === null ? [] : [entry.text], content: [], startedAtMs, completedAtMs };
    case "compaction":
      return { type: "contextCompaction", id, startedAtMs, completedAtMs };
    case "planText":
      return { type: "plan", id, text: entry.text, startedAtMs, completedAtMs };
    case "command":
      return commandItem(id, shape, entry, context, completedAtMs);
    case "edits":
      return fileChangeItem(id, entry, completedAtMs);
    case "mcp":
      return {
        type: "mcpToolCall", id, server: shape.server, environmentId: null, tool: shape.tool, status: callStatus(outcome), arguments: asJson(shape.arguments),
        appContext: null, mcpAppUi: null, pluginId: null, readOnlyHint: null, ...mcpResult(entry), durationMs: durationOf(result, entry.startedAt, completedAt ?? null), startedAtMs, completedAtMs,
      };
    case "webSearch":
      return { type: "webSearch", id, query: shape.query, action: shape.action, results: result?.results === undefined ? null : result.results.map(asJson), startedAtMs, completedAtMs };
    case "image":
      return { type: "imageView", id, path: shape.path, startedAtMs, completedAtMs };
    case "agent":
      return agentItem(id, shape, entry, context, completedAtMs);
    case "wait":
    case "dynamic":
      return {
        type: "dynamicToolCall", id, namespace: shape.item === "dynamic" ? shape.namespace : null, tool: shape.tool, arguments: asJson(shape.arguments), status: callStatus(outcome),
        contentItems: outcome === null ? null : contentItems(result, outputOf(entry)), success: outcome === null ? null : outcome.status === "succeeded",
        durationMs: durationOf(result, entry.startedAt, completedAt ?? null), startedAtMs, completedAtMs,
      };
    case "plan":
    case undefined:
      return null;
  }
}

function commandItem(id: string, shape: CommandShape, entry: Entry, context: BuildContext, completedAtMs: number | null): CommandExecutionItem {
  const { source, outcome, result } = entry;
  const declined = outcome?.status === "declined";
  const exitCode = outcome === null || declined ? null : (result?.exitCode ?? null);
  const typed = source.kind === "command" ? source : null;
  return {
    type: "commandExecution", id, pluginId: null, scriptPath: null, command: shape.command, cwd: shape.cwd ?? context.cwd,
    processId: typed?.processId ?? null, source: typed?.source ?? "agent",
    status: executionStatus(outcome, exitCode), commandActions: shape.actions,
    aggregatedOutput: outcome === null || declined ? null : outputOf(entry),
    exitCode: exitCodeOrNull(exitCode), durationMs: declined ? null : durationOf(result, entry.startedAt, completedAtMs), startedAtMs: entry.startedAt, completedAtMs,
  };
}

function fileChangeItem(id: string, entry: Entry, completedAtMs: number | null): FileChangeItem {
  const changes = entry.edits.map(changeOfEdit).filter((change) => change !== null);
  return { type: "fileChange", id, changes, status: executionStatus(entry.outcome, null), startedAtMs: entry.startedAt, completedAtMs };
}

function agentItem(id: string, shape: { action: AgentTool; prompt: string | null; model: string | null }, entry: Entry, context: BuildContext, completedAtMs: number | null): CollabAgentToolCallItem {
  const children = entry.children.map((child) => ({ child, threadId: context.childThreadId(child.ref) }));
  return {
    type: "collabAgentToolCall", id, tool: shape.action, status: agentStatus(entry.outcome), senderThreadId: context.threadId,
    receiverThreadIds: children.map(({ threadId }) => threadId), prompt: shape.prompt, model: shape.model,
    reasoningEffort: entry.source.kind === "agent" ? (entry.source.effort ?? null) : null,
    agentsStates: Object.fromEntries(children.map(({ child, threadId }) => [threadId, agentState(child)])), startedAtMs: entry.startedAt, completedAtMs,
  };
}

function agentState(child: ChildAgent): CollabAgentToolCallItem["agentsStates"][string] {
  return { status: child.status, message: child.message ?? null };
}

/** The authoritative output if the call gave one, else what was streamed; capped. Sets `entry.truncated`. */
function outputOf(entry: Entry): string | null {
  const given = entry.result?.output;
  const capped = given !== undefined && given !== null ? capText(given) : entry.output?.touched === true ? entry.output.finish() : null;
  if (capped?.truncated === true) entry.truncated = true;
  return capped?.text ?? null;
}

function mcpResult(entry: Entry): { result: { content: JsonValue[]; structuredContent: JsonValue | null; _meta: null } | null; error: { message: string } | null } {
  if (entry.outcome === null) return { result: null, error: null };
  const output = outputOf(entry);
  if (entry.outcome.status !== "succeeded") return { result: null, error: { message: failureText(entry.outcome, entry.result) ?? output ?? entry.outcome.status } };
  const text: JsonValue[] = output === null ? [] : [{ type: "text", text: output }];
  const parts = (entry.result?.content ?? []).map(mcpContent);
  return { result: { content: parts.length > 0 ? parts : text, structuredContent: asJson(entry.result?.structured), _meta: null }, error: null };
}

/** As MCP itself has it, which is what native Codex hands on; clients parse it. */
function mcpContent(part: ToolContentItem): JsonValue {
  if (part.type === "inputText") return { type: "text", text: part.text };
  if (part.type !== "inputImage") return { ...part };
  const [, mimeType, data] = /^data:([^;,]+);base64,([^]*)$/.exec(part.imageUrl) ?? [];
  return data === undefined ? { type: "text", text: part.imageUrl } : { type: "image", data, mimeType: mimeType! };
}

function failureText(outcome: ItemOutcome, result: ItemResult | null): string | null {
  if (outcome.status === "failed" && outcome.message !== undefined) return outcome.message;
  return result?.text ?? null;
}

/** A command that ran to an exit code other than 0 failed, as in Codex; so did one that was stopped. */
function executionStatus(outcome: ItemOutcome | null, exitCode: number | null): ExecutionStatus {
  if (outcome === null) return "inProgress";
  if (outcome.status === "declined") return "declined";
  return outcome.status === "succeeded" && (exitCode ?? 0) === 0 ? "completed" : "failed";
}

function callStatus(outcome: ItemOutcome | null): CallStatus {
  if (outcome === null) return "inProgress";
  return outcome.status === "succeeded" ? "completed" : "failed";
}

function agentStatus(outcome: ItemOutcome | null): AgentCallStatus {
  return outcome?.status === "cancelled" ? "interrupted" : callStatus(outcome);
}

function clientIdOf(source: HarnessItem): string | null {
  return source.kind === "userMessage" ? (source.clientId ?? null) : null;
}

function contentOf(source: HarnessItem): UserInput[] {
  return source.kind === "userMessage" ? source.content : [];
}
