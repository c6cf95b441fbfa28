import type { JsonValue } from "./json.ts";

/** What the final-answer rule and every client's fold depend on. `null` = not classified. */
export type MessagePhase = "commentary" | "partial_answer" | "final_answer";

export type UserInput =
  | { type: "text"; text: string; text_elements: JsonValue[] }
  | { type: "image"; url: string; detail?: string }
  | { type: "localImage"; path: string; detail?: string }
  | { type: "skill"; name: string; path: string }
  | { type: "mention"; name: string; path: string };

export type CommandAction =
  | { type: "read"; command: string; name: string; path: string }
  | { type: "listFiles"; command: string; path: string | null }
  | { type: "search"; command: string; query: string | null; path: string | null }
  | { type: "unknown"; command: string };

export type FileChangeKind = { type: "add" } | { type: "delete" } | { type: "update"; move_path: string | null };

/** `diff`: hunks only for an update, the plain new text for an add, the plain old text for a delete. */
export interface FileUpdateChange {
  path: string;
  kind: FileChangeKind;
  diff: string;
}

export type WebSearchAction =
  | { type: "search"; query: string | null; queries: string[] | null }
  | { type: "openPage"; url: string | null }
  | { type: "findInPage"; url: string | null; pattern: string | null }
  | { type: "other" };

export type ExecutionStatus = "inProgress" | "completed" | "failed" | "declined";
export type CallStatus = "inProgress" | "completed" | "failed";
export type AgentCallStatus = CallStatus | "interrupted";
export type AgentTool =
  | "spawnAgent" | "sendInput" | "resumeAgent" | "wait" | "closeAgent"
  | "sendMessage" | "followupTask" | "interruptAgent" | "listAgents";
export type AgentStatus = "pendingInit" | "running" | "interrupted" | "completed" | "errored" | "shutdown" | "notFound";

export type ToolContentItem =
  | { type: "inputText"; text: string }
  | { type: "inputImage"; imageUrl: string }
  | { type: "inputAudio"; audioUrl: string };

/** Unix times in milliseconds, beside every item as in Codex 0.171. */
export interface ItemTimes {
  startedAtMs?: number | null;
  completedAtMs?: number | null;
}

export interface UserMessageItem extends ItemTimes {
  type: "userMessage";
  id: string;
  clientId: string | null;
  content: UserInput[];
}
export interface AgentMessageItem extends ItemTimes {
  type: "agentMessage";
  id: string;
  text: string;
  phase: MessagePhase | null;
  moderation: null;
  memoryCitation: null;
  delivery: null;
  questions: null;
}
export interface ReasoningItem extends ItemTimes {
  type: "reasoning";
  id: string;
  summary: string[];
  content: string[];
}
export interface CommandExecutionItem extends ItemTimes {
  type: "commandExecution";
  id: string;
  pluginId: null;
  scriptPath: null;
  command: string;
  cwd: string;
  processId: string | null;
  source: "agent" | "userShell" | "unifiedExecStartup" | "unifiedExecInteraction";
  status: ExecutionStatus;
  commandActions: CommandAction[];
  aggregatedOutput: string | null;
  exitCode: number | null;
  durationMs: number | null;
}
export interface FileChangeItem extends ItemTimes {
  type: "fileChange";
  id: string;
  changes: FileUpdateChange[];
  status: ExecutionStatus;
}
export interface McpToolCallItem extends ItemTimes {
  type: "mcpToolCall";
  id: string;
  server: string;
  environmentId: null;
  tool: string;
  status: CallStatus;
  arguments: JsonValue;
  appContext: null;
  mcpAppUi: null;
  pluginId: null;
  readOnlyHint: boolean | null;
  result: { content: JsonValue[]; structuredContent: JsonValue | null; _meta: JsonValue | null } | null;
  error: { message: string } | null;
  durationMs: number | null;
}
export interface DynamicToolCallItem extends ItemTimes {
  type: "dynamicToolCall";
  id: string;
  namespace: string | null;
  tool: string;
  arguments: JsonValue;
  status: CallStatus;
  contentItems: ToolContentItem[] | null;
  success: boolean | null;
  durationMs: number | null;
}
export interface CollabAgentToolCallItem extends ItemTimes {
  type: "collabAgentToolCall";
  id: string;
  tool: AgentTool;
  status: AgentCallStatus;
  senderThreadId: string;
  receiverThreadIds: string[];
  prompt: string | null;
  model: string | null;
  reasoningEffort: string | null;
  agentsStates: Record<string, { status: AgentStatus; message: string | null }>;
}
export interface WebSearchItem extends ItemTimes {
  type: "webSearch";
  id: string;
  query: string;
  action: WebSearchAction | null;
  results: JsonValue[] | null;
}
export interface ImageViewItem extends ItemTimes {
  type: "imageView";
  id: string;
  path: string;
}
export interface PlanItem extends ItemTimes {
  type: "plan";
  id: string;
  text: string;
}
export interface ContextCompactionItem extends ItemTimes {
  type: "contextCompaction";
  id: string;
}

/** The items of Codex 0.171 that foldcast makes. Native items of other types pass through untyped. */
export type ThreadItem =
  | UserMessageItem | AgentMessageItem | ReasoningItem | CommandExecutionItem | FileChangeItem
  | McpToolCallItem | DynamicToolCallItem | CollabAgentToolCallItem | WebSearchItem | ImageViewItem
  | PlanItem | ContextCompactionItem;
export type ThreadItemType = ThreadItem["type"];
