/** A tool call found in a recording, in the harness's own words. */
export interface LiftedCall {
  id: string | null;
  name: string;
  input: unknown;
  /** The name is a kind of the Agent Client Protocol, because the agent does not name its tool. */
  isAcpKind?: boolean;
}

export interface LiftedEnd {
  id: string;
  output: string | null;
  structured: unknown;
  failed: boolean;
}

export type Found = { call: LiftedCall } | { end: LiftedEnd };
type Node = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 16;

/** Every call and every end inside one JSON value, in any of the forms that the recorded harnesses use. */
export function* liftFrom(value: unknown, depth = 0): Generator<Found> {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const entry of value as unknown[]) yield* liftFrom(entry, depth + 1);
    return;
  }
  if (!isNode(value)) return;
  const call = callOf(value);
  if (call !== null) yield { call };
  const end = endOf(value);
  if (end !== null) yield { end };
  for (const [key, entry] of Object.entries(value)) {
    // Hermes keeps the calls as JSON text.
    const inner = key === "tool_calls" && typeof entry === "string" && entry.startsWith("[") ? parse(entry) : entry;
    yield* liftFrom(inner, depth + 1);
  }
}

function callOf(node: Node): LiftedCall | null {
  const { type, name } = node;
  const named = text(name);
  if (type === "tool_use" && named !== null) return { id: text(node["id"]), name: named, input: node["input"] };
  const functionOf = node["function"];
  if (isNode(functionOf) && text(functionOf["name"]) !== null && "arguments" in functionOf) {
    return { id: text(node["id"]), name: text(functionOf["name"])!, input: functionOf["arguments"] };
  }
  if ((type === "function_call" || type === "custom_tool_call") && named !== null) {
    return { id: text(node["call_id"]), name: named, input: node["arguments"] ?? node["input"] };
  }
  if (type === "local_shell_call" || type === "web_search_call" || type === "tool_search_call") {
    return { id: text(node["call_id"] ?? node["id"]), name: type, input: node };
  }
  if (type === "toolCall" && named !== null) return { id: text(node["id"]), name: named, input: node["arguments"] };
  if (type === "tool.call" && named !== null) return { id: text(node["toolCallId"]), name: named, input: node["args"] };
  if (type === "tool" && text(node["tool"]) !== null && isNode(node["state"])) {
    return { id: text(node["callID"]), name: text(node["tool"])!, input: node["state"]["input"] };
  }
  if (node["kind"] === "toolUse" && isNode(node["data"]) && text(node["data"]["name"]) !== null) {
    return { id: text(node["data"]["toolUseId"]), name: text(node["data"]["name"])!, input: node["data"]["input"] };
  }
  const functionCall = node["functionCall"];
  if (isNode(functionCall) && text(functionCall["name"]) !== null) {
    return { id: text(functionCall["id"]), name: text(functionCall["name"])!, input: functionCall["args"] };
  }
  if (text(node["toolName"]) !== null && "arguments" in node) {
    return { id: text(node["toolCallId"]), name: text(node["toolName"])!, input: node["arguments"] };
  }
  if (named !== null && "args" in node && type === undefined) return { id: text(node["id"]), name: named, input: node["args"] };
  return acpCallOf(node);
}

const ACP_KINDS = new Set(["execute", "read", "edit", "delete", "move", "search", "fetch", "think", "switch_mode", "other"]);

function acpCallOf(node: Node): LiftedCall | null {
  const update = node["sessionUpdate"];
  if (update !== "tool_call" && update !== "tool_call_update") return null;
  const id = text(node["toolCallId"]);
  const meta = isNode(node["_meta"]) ? node["_meta"] : {};
  const xai = meta["x.ai/tool"];
  const claude = meta["claudeCode"];
  const input = node["rawInput"];
  const prefix = id === null ? null : (/^([a-z_]+)__/.exec(id)?.[1] ?? null);
  const name = (isNode(xai) ? text(xai["name"]) : null) ?? text(meta["toolName"]) ?? (isNode(claude) ? text(claude["toolName"]) : null) ?? prefix;
  if (name !== null) return { id, name, input };
  const title = text(node["title"]);
  if (update === "tool_call" && title !== null && /^[A-Za-z]+$/.test(title) && !isNode(input)) return { id, name: title, input };
  const kind = text(node["kind"]);
  return kind !== null && ACP_KINDS.has(kind) ? { id, name: kind, input, isAcpKind: true } : null;
}

function endOf(node: Node): LiftedEnd | null {
  const { type } = node;
  if (type === "tool_result") return end(node["tool_use_id"], node["content"], null, node["is_error"] === true);
  if (type === "function_call_output" || type === "custom_tool_call_output") return end(node["call_id"], node["output"], null, false);
  if (type === "tool.result" && isNode(node["result"])) return end(node["toolCallId"], node["result"]["output"], null, node["result"]["isError"] === true);
  if (node["role"] === "toolResult") return end(node["toolCallId"], node["content"], node["details"], node["isError"] === true);
  if (node["role"] === "tool") return end(node["tool_call_id"], node["content"], null, false);
  const response = node["functionResponse"];
  if (isNode(response)) return end(response["id"], isNode(response["response"]) ? response["response"]["output"] : null, null, false);
  if (type === "tool" && isNode(node["state"])) {
    const { status, output, metadata } = node["state"];
    return status === "completed" || status === "error" ? end(node["callID"], output ?? node["state"]["error"], metadata, status === "error") : null;
  }
  if (type === "tool.execution_complete" && isNode(node["data"])) {
    const { toolCallId, result, success } = node["data"];
    return end(toolCallId, isNode(result) ? result["content"] : null, result, success === false);
  }
  return null;
}

function end(id: unknown, output: unknown, structured: unknown, failed: boolean): LiftedEnd | null {
  const callId = text(id);
  return callId === null ? null : { id: callId, output: outputText(output), structured: structured ?? null, failed };
}

function outputText(output: unknown): string | null {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) return null;
  return (output as unknown[]).map((part) => (isNode(part) ? (text(part["text"]) ?? "") : "")).join("");
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}
