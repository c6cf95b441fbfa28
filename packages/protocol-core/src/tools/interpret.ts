import { isJsonObject } from "../wire/json.ts";
import { CallArguments } from "./arguments.ts";
import type { CallReading } from "./reading.ts";
import { readCommandCall, readLookCall } from "./readings/commands.ts";
import { patchText, readEditCall, readPatchCall } from "./readings/edits.ts";
import {
  readAgentCall, readFetchCall, readImageCall, readMcpCall, readOtherCall, readPlanCall, readQuestionCall, readSearchCall,
  readWaitCall,
} from "./readings/others.ts";
import { readProgramCall } from "./readings/program.ts";
import type { ToolMap, ToolRule } from "./tool-map.ts";

export interface ToolCall {
  /** Exactly as the harness writes it. */
  name: string;
  /** An object, its JSON text, or free text. */
  input: unknown;
  rule: ToolRule | undefined;
  /** Absolute working directory of the call. */
  cwd: string;
}

export type Interpreter = (call: ToolCall) => CallReading;

/** The rule of a raw tool name: its own, or that of its server where the map knows it as a prefix `server__`. */
export function ruleOf(map: ToolMap, name: string): ToolRule | undefined {
  if (Object.hasOwn(map, name)) return map[name];
  const end = name.indexOf("__");
  const prefix = end > 0 ? name.slice(0, end + 2) : "";
  return prefix !== "" && Object.hasOwn(map, prefix) ? map[prefix] : undefined;
}

/**
 * What a tool call is, and the item that it becomes. Pure and total: an input that does not fit its rule becomes a
 * dynamic call with the raw name and input, of kind `unknown` when it says nothing at all.
 */
export function interpretCall(call: ToolCall): CallReading {
  const named = call.rule === undefined ? mcpName(call.name) : null;
  if (named !== null) return readMcpCall(named.server, named.tool, call.input);
  const read = new CallArguments(call.input, call.rule);
  const reading = readByRule(call, read) ?? { ...readOtherCall(call.name, call.input, read), kind: kindByRule(call.rule) };
  return call.rule?.options?.["envelope"] === true ? { ...reading, enveloped: true } : reading;
}

/** A tool that a map names is known, also when no kind fits it: then it is called, and that is all that is said. */
function kindByRule(rule: ToolRule | undefined): CallReading["kind"] {
  if (rule === undefined) return "unknown";
  return rule.kind === "unknown" ? "call_tool" : rule.kind;
}

function readByRule(call: ToolCall, read: CallArguments): CallReading | null {
  const { name, input, rule, cwd } = call;
  switch (rule?.kind) {
    case "run_command":
      return rule.options?.["program"] === "javascript"
        ? readProgramCall(name, input, read, cwd, interpretCall)
        : readCommandCall(read, rule, cwd);
    case "read_file":
    case "list_files":
    case "search_files":
      return readLookCall(rule.kind, name, read, rule, cwd);
    case "edit_file":
    case "write_file":
      return readEditCall(rule.kind, read, rule, cwd);
    case "apply_patch": {
      const patch = patchText(read);
      return patch === null ? null : readPatchCall(patch, cwd, cwd);
    }
    case "web_search":
      return readSearchCall(read);
    case "web_fetch":
      return readFetchCall(read);
    case "view_image":
      return readImageCall(read, cwd);
    case "wait":
      return readWaitCall(name, input, read, rule);
    case "spawn_agent":
      return readAgentCall(read, rule);
    case "update_plan":
      return readPlanCall(name, input, read);
    case "ask_user":
      return readQuestionCall(name, input, read);
    case "call_tool":
      return readServerCall(name, input, read, rule);
    case "unknown":
    case undefined:
      return null;
  }
}

function readServerCall(name: string, input: unknown, read: CallArguments, rule: ToolRule): CallReading | null {
  const named = mcpName(name);
  if (named !== null) return readMcpCall(named.server, named.tool, input);
  const fixed = rule.options?.["server"];
  if (typeof fixed === "string") {
    const tool = name.startsWith(`${fixed}__`) ? name.slice(fixed.length + 2) : name;
    return readMcpCall(fixed, tool, input);
  }
  const server = read.filled("server");
  const tool = read.filled("tool");
  if (server === null || tool === null) return null;
  const inner = read.value("arguments");
  return readMcpCall(server, tool, isJsonObject(inner) || typeof inner === "string" ? inner : {});
}

/** `mcp__server__tool`; the tool may itself hold `__`. */
function mcpName(name: string): { server: string; tool: string } | null {
  if (!name.startsWith("mcp__")) return null;
  const end = name.indexOf("__", 5);
  return end <= 5 || end + 2 >= name.length ? null : { server: name.slice(5, end), tool: name.slice(end + 2) };
}
