import type { ItemOutcome } from "../harness/items.ts";
import type { CommandExecutionItem, FileChangeItem, ThreadItem, WebSearchItem } from "../wire/index.ts";
import { isJsonObject } from "../wire/json.ts";
import { CallArguments } from "./arguments.ts";
import { detailOf, type ToolCallDetail } from "./detail.ts";
import { interpretCall } from "./interpret.ts";
import { withTold } from "./narrow.ts";
import { type CallReading, NO_FACTS } from "./reading.ts";
import { commandFacts, kindOfActions } from "./readings/command-facts.ts";
import { asCommand } from "./readings/commands.ts";
import { readNotation } from "./readings/notation.ts";
import { unwrapShell } from "./shell/index.ts";
import { readAgentCall, readImageCall, readMcpCall } from "./readings/others.ts";
import { pendingView } from "./result-view.ts";
import { type CallResult, interpretResult, NO_RESULT } from "./result.ts";

/**
 * The detail of a wire item as a client has it: a native Codex item gives the same titles and views as a call that
 * foldcast read, with `rawName` and `rawInput` null. `extra` is the item's namespaced member, if the client asked for
 * it; what it says goes before what the item lets guess. Null for items that are no tool call.
 */
export function toolDetail(item: ThreadItem, extra?: unknown): ToolCallDetail | null {
  const read = readItem(item);
  if (read === null) return null;
  const { reading, outcome, result } = read;
  const raw = { callId: item.id, rawName: null, rawInput: null };
  const bare = detailOf(raw, reading, outcome, outcome === null ? null : interpretResult(reading, { ...NO_RESULT, ...result, outcome }));
  return isJsonObject(extra) ? withTold(bare, pendingView(reading), extra) : bare;
}

/** What goes beside an item on the wire: the detail without what the item itself carries. */
export function itemDetail(detail: ToolCallDetail): Readonly<Record<string, unknown>> {
  const { view } = detail;
  if (view.card !== "web" || view.kind !== "search") return { ...detail };
  return { ...detail, view: { ...view, sources: undefined } };
}

interface ReadItem {
  reading: CallReading;
  /** Null while the item is in progress. */
  outcome: ItemOutcome | null;
  result: Partial<CallResult>;
}

function readItem(item: ThreadItem): ReadItem | null {
  switch (item.type) {
    case "commandExecution":
      return {
        reading: commandReading(item),
        outcome: outcomeOf(item.status),
        result: { output: item.aggregatedOutput, exitCode: item.exitCode, durationMs: item.durationMs },
      };
    case "fileChange":
      return { reading: changeReading(item), outcome: outcomeOf(item.status), result: {} };
    case "mcpToolCall":
      return {
        reading: readMcpCall(item.server, item.tool, item.arguments),
        outcome: outcomeOf(item.status, item.error?.message),
        result: { durationMs: item.durationMs },
      };
    case "dynamicToolCall":
      return {
        reading: interpretCall({ name: item.tool, input: item.arguments, rule: undefined, cwd: "/" }),
        outcome: outcomeOf(item.status),
        result: { content: item.contentItems, durationMs: item.durationMs },
      };
    case "collabAgentToolCall":
      return {
        reading: readAgentCall(new CallArguments({ prompt: item.prompt, model: item.model }, undefined), {
          kind: "spawn_agent",
          options: { agent: item.tool },
        }),
        outcome: outcomeOf(item.status),
        result: {},
      };
    case "webSearch":
      return {
        reading: webReading(item),
        outcome: item.completedAtMs === null && item.startedAtMs != null && item.results === null ? null : { status: "succeeded" },
        result: { structured: item.results === null ? null : { sources: item.results } },
      };
    case "imageView": {
      const reading = readImageCall(new CallArguments({ path: item.path }, undefined), "/");
      return reading === null ? null : { reading, outcome: { status: "succeeded" }, result: {} };
    }
    case "userMessage":
    case "agentMessage":
    case "reasoning":
    case "plan":
    case "contextCompaction":
      return null;
    default:
      // An item of native Codex that this version has no shape for.
      return null;
  }
}

function commandReading(item: CommandExecutionItem): CallReading {
  const actions = item.commandActions;
  const kind = kindOfActions(actions);
  const first = actions[0];
  const command = unwrapShell(item.command) ?? item.command;
  // A looking tool's item repeats its notation in every action.
  const hasPath = first !== undefined && first.type !== "unknown" && first.path !== null;
  const noted = first?.command === item.command ? readNotation(kind, item.command, hasPath) : null;
  return asCommand(command, null, item.cwd, actions, noted ?? commandFacts(command, actions, null));
}

function changeReading({ changes }: FileChangeItem): CallReading {
  const only = changes.length === 1 ? changes[0] : undefined;
  const paths = changes.map((change) => (change.kind.type === "update" ? (change.kind.move_path ?? change.path) : change.path));
  return {
    kind: only === undefined ? "apply_patch" : only.kind.type === "add" ? "write_file" : "edit_file",
    canonicalName: null,
    canonicalArguments: null,
    as: { item: "edits", edits: changes.map(({ path }) => ({ path })) },
    facts: { ...NO_FACTS, paths },
  };
}

function webReading(item: WebSearchItem): CallReading {
  const action = item.action ?? { type: "search", query: item.query, queries: null };
  const shared = { canonicalArguments: null, as: { item: "webSearch" as const, query: item.query, action } };
  if (action.type === "openPage" || action.type === "findInPage") {
    return { ...shared, kind: "web_fetch", canonicalName: "web_fetch", facts: { ...NO_FACTS, url: action.url ?? item.query } };
  }
  return { ...shared, kind: "web_search", canonicalName: "web_search", facts: { ...NO_FACTS, query: item.query } };
}

function outcomeOf(status: string, message?: string): ItemOutcome | null {
  switch (status) {
    case "inProgress":
      return null;
    case "completed":
      return { status: "succeeded" };
    case "declined":
      return { status: "declined" };
    case "interrupted":
      return { status: "cancelled" };
    default:
      return message === undefined ? { status: "failed" } : { status: "failed", message };
  }
}
