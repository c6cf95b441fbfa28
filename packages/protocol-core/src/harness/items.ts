import type { AgentStatus, AgentTool, CommandExecutionItem, MessagePhase, PlanStep, ToolContentItem, UserInput, WebSearchAction } from "../wire/index.ts";

/** Where a record stands in the harness's own store. Opaque; kept for audit in an item's detail only. */
export interface NativeReference {
  file?: string;
  line?: number;
  id?: string;
}

/** One hunk with line numbers that the harness vouches for. `lines` keep their ` `, `+`, `-` or `\` mark. */
export interface DiffHunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: readonly string[];
}

/**
 * One change of one file. Give the best evidence that the harness has; the projection derives the rest:
 * `before`/`after` full texts (null = the file did not/does not exist, absent = not known), else `hunks`
 * (reliable positions), else `fragments` (old and new pieces without positions: no net count is claimed).
 */
export interface FileEdit {
  path: string;
  movePath?: string | null;
  before?: string | null;
  after?: string | null;
  hunks?: readonly DiffHunk[];
  fragments?: readonly { old: string; new: string }[];
  /** Needed only where the texts do not say it. */
  kind?: "add" | "update" | "delete";
}

/** A child agent's state. `ref` is the harness's own id of the child, stable in its session. */
export interface ChildAgent {
  ref: string;
  name?: string | null;
  role?: string | null;
  status: AgentStatus;
  message?: string | null;
}

interface ItemBase {
  /** Unique in its turn; the adapter's own, never shown to clients. */
  id: string;
  ref?: NativeReference;
}

/**
 * What a harness can put into a turn. `tool` is the ordinary case for a tool call in the harness's own words:
 * the tools layer decides what it is (`map` names the tool-name map to read it with, the session's own by
 * default). The typed kinds are for harnesses that say so themselves.
 */
export type HarnessItem =
  | (ItemBase & { kind: "userMessage"; content: UserInput[]; clientId?: string | null })
  | (ItemBase & {
      kind: "message";
      text?: string;
      /** Unset = inferred by the host. `commentary` = opts out of being taken for the final answer. */
      phase?: MessagePhase | null;
    })
  | (ItemBase & { kind: "reasoning"; text?: string })
  | (ItemBase & { kind: "command"; command: string; cwd?: string | null; source?: CommandExecutionItem["source"]; processId?: string | null })
  | (ItemBase & { kind: "fileChange"; edits: readonly FileEdit[] })
  | (ItemBase & { kind: "mcpCall"; server: string; tool: string; input: unknown })
  | (ItemBase & { kind: "webSearch"; query: string; action?: WebSearchAction | null })
  | (ItemBase & { kind: "imageView"; path: string })
  | (ItemBase & { kind: "plan"; text: string })
  | (ItemBase & { kind: "compaction" })
  | (ItemBase & {
      kind: "agent";
      action: AgentTool;
      prompt?: string | null;
      model?: string | null;
      effort?: string | null;
      children: readonly ChildAgent[];
    })
  | (ItemBase & {
      kind: "tool";
      name: string;
      input: unknown;
      map?: string;
      /** A record of a kind that the adapter does not know: it is shown, and says nothing of whether the agent was done. */
      unknown?: true;
    });
export type HarnessItemKind = HarnessItem["kind"];

/** Changes of an open item. Text and output are appended; everything else replaces. */
export type ItemUpdate =
  | { type: "text"; append: string }
  | { type: "output"; append: string }
  | { type: "input"; input: unknown }
  | { type: "edits"; edits: readonly FileEdit[] }
  | { type: "children"; children: readonly ChildAgent[] };

/**
 * How a call ended, in the harness's words. All members are optional evidence; what is absent is not known.
 * `output` is authoritative over what was streamed. `structured` is the harness's own structured result.
 */
export interface ItemResult {
  /** A message's or a reasoning's whole text; replaces the streamed one where they differ. */
  text?: string;
  output?: string | null;
  content?: readonly ToolContentItem[];
  structured?: unknown;
  exitCode?: number | null;
  durationMs?: number | null;
  edits?: readonly FileEdit[];
  children?: readonly ChildAgent[];
  results?: readonly unknown[];
}

export type ItemOutcome =
  | { status: "succeeded" }
  | { status: "failed"; message?: string }
  | { status: "cancelled" }
  /** Somebody refused the approval. */
  | { status: "declined" };

/** A failure as a client shows it. `code` is a `codexErrorInfo` of Codex 0.171; default `other`. */
export interface HarnessError {
  message: string;
  code?: string | Record<string, unknown>;
  details?: string | null;
}

/** `unknown` exists in history only: the file does not say how the turn ended. */
export type TurnOutcome =
  | { status: "succeeded" }
  | { status: "failed"; error: HarnessError }
  | { status: "cancelled"; reason?: string }
  | { status: "unknown" };

/** Token counts of the last model response, of the whole session where the harness knows it. */
export interface UsageReport {
  last: TokenCounts;
  total?: TokenCounts;
  contextWindow?: number | null;
}
/** `input` counts everything that was read, what came from the cache included. */
export interface TokenCounts {
  input: number;
  cachedInput?: number;
  cacheWrite?: number;
  output: number;
  reasoning?: number;
}

export type PlanReport = readonly PlanStep[];
