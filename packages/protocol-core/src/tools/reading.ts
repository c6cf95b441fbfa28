import type { FileEdit } from "../harness/items.ts";
import type { AgentTool, CommandAction, PlanStep, WebSearchAction } from "../wire/index.ts";
import type { ToolKind } from "./tool-map.ts";

/** How a call becomes an item of the wire. */
export type Projection =
  /** `command` is the harness's own text, or an honest notation of the call such as `Read(src/app.ts, lines 1-120)`. */
  | { item: "command"; command: string; cwd: string | null; actions: CommandAction[] }
  /** `null`: the call writes files, but its change cannot be read from its input. */
  | { item: "edits"; edits: FileEdit[] | null }
  /** `null`: a plan tool whose call does not carry the plan. */
  | { item: "plan"; plan: PlanStep[] | null; explanation: string | null }
  | { item: "mcp"; server: string; tool: string; arguments: unknown }
  | { item: "webSearch"; query: string; action: WebSearchAction }
  | { item: "image"; path: string }
  | { item: "agent"; action: AgentTool; prompt: string | null; model: string | null }
  /** Waiting for a running command or task: `target` is its background id. Dynamic when the target is not known. */
  | { item: "wait"; target: string | null; tool: string; arguments: unknown }
  | { item: "dynamic"; namespace: string | null; tool: string; arguments: unknown };

/** A line range, counted from 1, both ends included; `last` null = open. */
export interface LineRange {
  first: number;
  last: number | null;
}

/** What a call is about, as far as its input says it; the material of titles. Paths are as the harness wrote them. */
export interface CallFacts {
  command: string | null;
  paths: readonly string[];
  query: string | null;
  /** File pattern that narrows a listing or a search. */
  pattern: string | null;
  lines: LineRange | null;
  url: string | null;
  /** Name of a tool that has no better word: `server/tool` of MCP, else the raw name. */
  tool: string | null;
  /** A short text of the call's own: a description, a question, an agent's task. */
  label: string | null;
}

/** What a call is and how it is shown. */
export interface CallReading {
  kind: ToolKind;
  /** The Responses-style tool that this call certainly is; null where it is none. */
  canonicalName: string | null;
  canonicalArguments: Readonly<Record<string, unknown>> | null;
  as: Projection;
  facts: CallFacts;
  /** Source of a code-mode program, one top-level statement a line; absent when its only call stands for it. */
  program?: { language: string; text: string };
  /** The transport wraps this call's output in an envelope of its own. */
  enveloped?: boolean;
  /** Calls of a code-mode program, in source order; absent for ordinary calls. */
  children?: readonly CallReading[];
}

export const NO_FACTS: CallFacts = {
  command: null,
  paths: [],
  query: null,
  pattern: null,
  lines: null,
  url: null,
  tool: null,
  label: null,
};
