import type { CommandAction } from "./items.ts";
import type { JsonValue } from "./json.ts";

/** Decisions of command and file approvals that foldcast offers; native Codex has two more for commands. */
export type ApprovalDecision = "accept" | "acceptForSession" | "decline" | "cancel";

interface ItemRequest {
  threadId: string;
  turnId: string;
  itemId: string;
}
interface ApprovalRequest extends ItemRequest {
  /** Unix milliseconds. Without it a stock TUI refuses the request. */
  startedAtMs: number;
  reason: string | null;
}

export interface CommandApprovalParams extends ApprovalRequest {
  kind: "command";
  environmentId: string | null;
  command: string | null;
  cwd: string | null;
  commandActions: CommandAction[] | null;
  /** In the order in which a client lists them; it lists no other. */
  availableDecisions: ApprovalDecision[];
}
export interface FileChangeApprovalParams extends ApprovalRequest {
  grantRoot: string | null;
}
export interface PermissionsApprovalParams extends ApprovalRequest {
  environmentId: string | null;
  cwd: string;
  permissions: { network: { enabled: boolean | null } | null; fileSystem: { read: string[] | null; write: string[] | null } | null };
}
export interface UserInputQuestion {
  id: string;
  header: string;
  question: string;
  /** A free text may be given in place of an option. */
  isOther: boolean;
  isSecret: boolean;
  options: { label: string; description: string }[] | null;
}
export interface UserInputParams extends ItemRequest {
  questions: UserInputQuestion[];
  isBlocking: boolean;
  autoResolutionMs: number | null;
}

interface ElicitationBase {
  threadId: string;
  turnId: string | null;
  serverName: string;
  message: string;
  _meta: JsonValue;
}
/** One property of the form: a primitive schema of MCP 2025-11-25, closed. */
export type ElicitationFieldSchema = Readonly<Record<string, JsonValue>> & { type: "string" | "number" | "integer" | "boolean" | "array" };
export type ElicitationParams = ElicitationBase & (
  | { mode: "form"; requestedSchema: { type: "object"; properties: Record<string, ElicitationFieldSchema>; required: string[] } }
  | { mode: "url"; url: string; elicitationId: string }
);

/** Method → params of the requests that the server makes of its clients (Codex 0.171 names and shapes). */
export interface ServerRequestParams {
  "item/commandExecution/requestApproval": CommandApprovalParams;
  "item/fileChange/requestApproval": FileChangeApprovalParams;
  "item/permissions/requestApproval": PermissionsApprovalParams;
  "item/tool/requestUserInput": UserInputParams;
  "mcpServer/elicitation/request": ElicitationParams;
}
export type ServerRequestMethod = keyof ServerRequestParams;
export type ServerRequest = { [M in ServerRequestMethod]: { method: M; params: ServerRequestParams[M] } }[ServerRequestMethod];

/** Method → result of a client's answer. */
export interface ServerRequestReplies {
  "item/commandExecution/requestApproval": { decision: ApprovalDecision };
  "item/fileChange/requestApproval": { decision: ApprovalDecision };
  "item/permissions/requestApproval": { permissions: Readonly<Record<string, JsonValue>>; scope: "turn" | "session" };
  "item/tool/requestUserInput": { answers: Record<string, { answers: string[] }> };
  /** Content with `accept` of a form only. */
  "mcpServer/elicitation/request": { action: "accept" | "decline" | "cancel"; content: Readonly<Record<string, JsonValue>> | null };
}
export type ServerRequestReply = ServerRequestReplies[ServerRequestMethod];
