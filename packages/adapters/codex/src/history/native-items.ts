import type { ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import { shlexJoin } from "@foldcast/protocol-core/tools";
import type { CommandExecutionItem, ToolContentItem, WebSearchAction } from "@foldcast/protocol-core/wire";
import { activityItem, collabItem } from "./agents.ts";
import { editsOf } from "./edits.ts";
import { readOutput } from "./outputs.ts";
import { filledString, finiteNumber, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";
import { durationOf, member, type SessionRecord, stringsOf } from "./record.ts";
import type { BuiltItem } from "./slots.ts";

/** Types of items that are read here (0.171 and before). */
const KNOWN: ReadonlySet<unknown> = new Set([
  "CommandExecution", "FileChange", "McpToolCall", "DynamicToolCall", "CollabAgentToolCall", "SubAgentActivity", "WebSearch", "ImageView", "ImageGeneration", "Sleep",
]);

export function isKnownItem(item: SessionRecord): boolean {
  return KNOWN.has(item["type"]);
}

/** The harness item of a completed item of Codex's own (`item_completed`); null for one that shows nothing. */
export function nativeItem(id: string, item: SessionRecord): BuiltItem | null {
  switch (item["type"]) {
    case "CommandExecution":
      return commandItem(id, item);
    case "FileChange":
      return { item: { kind: "fileChange", id, edits: editsOf(item["changes"]) }, outcome: outcomeOf(item) };
    case "McpToolCall":
      return mcpItem(id, item);
    case "DynamicToolCall":
      return dynamicItem(id, item);
    case "CollabAgentToolCall":
      return collabItem(id, item);
    case "SubAgentActivity":
      return activityItem(id, item);
    case "WebSearch":
      return webSearchItem(id, item);
    case "ImageView": {
      const path = pathOf(item["path"]);
      return path === null ? null : { item: { kind: "imageView", id, path }, outcome: { status: "succeeded" } };
    }
    case "ImageGeneration":
      return imageGenerationItem(id, item);
    case "Sleep":
      return genericItem(id, "sleep", { duration_ms: member(item, "duration_ms") });
    default:
      return genericItem(id, stringOf(item["type"]) ?? "item", withoutIds(item));
  }
}

/** What is not known is shown with its own name and content. */
function genericItem(id: string, name: string, input: SessionRecord): BuiltItem {
  return { item: { kind: "tool", id, name, input }, outcome: outcomeOf(input) };
}

function withoutIds(item: SessionRecord): SessionRecord {
  return Object.fromEntries(Object.entries(item).filter(([name]) => name !== "type" && name !== "id"));
}

const SOURCES: Readonly<Record<string, CommandExecutionItem["source"]>> = {
  agent: "agent", user_shell: "userShell", unified_exec_startup: "unifiedExecStartup", unified_exec_interaction: "unifiedExecInteraction",
};

function commandItem(id: string, item: SessionRecord): BuiltItem {
  const argv = stringsOf(item["command"]);
  const source = SOURCES[stringOf(item["source"]) ?? ""];
  const output = filledString(member(item, "aggregated_output")) ?? filledString(member(item, "formatted_output")) ?? joined(item["stdout"], item["stderr"]);
  return {
    item: {
      kind: "command", id, command: argv.length === 0 ? (stringOf(item["command"]) ?? "") : shlexJoin(argv), cwd: pathOf(item["cwd"]),
      ...(source === undefined ? {} : { source }), processId: filledString(member(item, "process_id")),
    },
    outcome: outcomeOf(item),
    result: { ...(output === null ? {} : { output }), exitCode: finiteNumber(member(item, "exit_code")), durationMs: durationOf(item["duration"]) },
  };
}

function joined(stdout: unknown, stderr: unknown): string | null {
  return filledString([stdout, stderr].filter((part) => typeof part === "string").join(""));
}

function mcpItem(id: string, item: SessionRecord): BuiltItem {
  const result = objectOf(item["result"]);
  const error = filledString(objectOf(item["error"])["message"]) ?? filledString(item["error"]);
  const texts = objectsOf(result["content"]).flatMap((part) => stringOf(part["text"]) ?? []);
  const images = objectsOf(result["content"]).filter((part) => part["type"] === "image" && typeof part["data"] === "string");
  const content: ToolContentItem[] = images.length === 0 ? [] : readOutput([
    ...texts.map((text) => ({ text })),
    ...images.map((part) => ({ image_url: `data:${stringOf(part["mimeType"]) ?? "image/png"};base64,${stringOf(part["data"]) ?? ""}` })),
  ]).content ?? [];
  const failed = item["status"] === "failed" || error !== null || result["isError"] === true || result["is_error"] === true;
  const structured = result["structuredContent"] ?? result["structured_content"];
  const told: ItemResult = {
    ...(texts.length === 0 ? {} : { output: texts.join("\n") }),
    ...(content.length === 0 ? {} : { content }),
    ...(structured === undefined || structured === null ? {} : { structured }),
    durationMs: durationOf(item["duration"]),
  };
  return {
    item: { kind: "mcpCall", id, server: stringOf(item["server"]) ?? "", tool: stringOf(item["tool"]) ?? "", input: item["arguments"] ?? null },
    outcome: failed ? { status: "failed", ...(error === null ? {} : { message: error }) } : { status: "succeeded" },
    result: told,
  };
}

function dynamicItem(id: string, item: SessionRecord): BuiltItem {
  const { content } = readOutput(member(item, "content_items"));
  const error = filledString(item["error"]);
  return {
    item: { kind: "tool", id, name: qualifiedName(filledString(item["namespace"]), stringOf(item["tool"]) ?? "tool"), input: item["arguments"] ?? {} },
    outcome: error === null ? outcomeOf(item) : { status: "failed", message: error },
    result: { ...(content === null ? {} : { content }), durationMs: durationOf(item["duration"]) },
  };
}

/** A tool's name as the model calls it in code, with its namespace before it. */
export function qualifiedName(namespace: string | null, name: string): string {
  return namespace === null || namespace === "functions" ? name : `${namespace.replace(/_+$/, "")}__${name}`;
}

function webSearchItem(id: string, item: SessionRecord): BuiltItem {
  const action = searchAction(item["action"]);
  const results = Array.isArray(item["results"]) ? item["results"] : null;
  const query = filledString(item["query"]) ?? (action?.type === "search" ? (action.query ?? action.queries?.[0]) : action?.type === "openPage" || action?.type === "findInPage" ? action.url : null) ?? "";
  return { item: { kind: "webSearch", id, query, action }, outcome: { status: "succeeded" }, ...(results === null ? {} : { result: { results } }) };
}

export function searchAction(value: unknown): WebSearchAction | null {
  const action = objectOf(value);
  switch (stringOf(action["type"])?.replaceAll("_", "").toLowerCase()) {
    case "search": {
      const queries = stringsOf(action["queries"]);
      return { type: "search", query: stringOf(action["query"]), queries: queries.length === 0 ? null : queries };
    }
    case "openpage":
      return { type: "openPage", url: stringOf(action["url"]) };
    case "findinpage":
      return { type: "findInPage", url: stringOf(action["url"]), pattern: stringOf(action["pattern"]) };
    case undefined:
      return value === "other" ? { type: "other" } : null;
    default:
      return { type: "other" };
  }
}

/** The image itself is megabytes; where it was put is enough. */
function imageGenerationItem(id: string, item: SessionRecord): BuiltItem {
  const { status, revised_prompt: prompt } = { status: item["status"], revised_prompt: member(item, "revised_prompt") };
  const saved = filledString(member(item, "saved_path"));
  return {
    item: { kind: "tool", id, name: "image_generation_call", input: { revised_prompt: prompt ?? null, ...(saved === null ? {} : { saved_path: saved }) } },
    outcome: outcomeOf({ status }),
    ...(saved === null ? {} : { result: { output: saved } }),
  };
}

function outcomeOf(item: SessionRecord): ItemOutcome {
  switch (item["status"]) {
    case "failed":
      return { status: "failed" };
    case "declined":
      return { status: "declined" };
    case "interrupted":
    case "in_progress":
    case "inProgress":
      return { status: "cancelled" };
    default:
      return { status: "succeeded" };
  }
}

/** A path, or the path of a `file:` address (0.145 and later). */
function pathOf(value: unknown): string | null {
  const text = filledString(value);
  if (text === null || !text.startsWith("file://")) return text;
  try {
    const path = decodeURIComponent(text.slice("file://".length));
    return /^\/[A-Za-z]:\//.test(path) ? path.slice(1) : path;
  } catch {
    return text;
  }
}
