import type { AgentTool, PlanStep } from "../../wire/index.ts";
import { isJsonObject } from "../../wire/json.ts";
import type { CallArguments } from "../arguments.ts";
import { resolvePath } from "../paths.ts";
import { type CallReading, NO_FACTS } from "../reading.ts";
import type { ToolRule } from "../tool-map.ts";

export function readSearchCall(call: CallArguments): CallReading | null {
  const queries = (call.list("query") ?? call.list("queries") ?? []).filter((entry) => typeof entry === "string");
  const query = call.filled("query") ?? queries[0] ?? null;
  if (query === null) return null;
  return {
    kind: "web_search",
    canonicalName: "web_search",
    canonicalArguments: queries.length > 1 ? { queries } : { query },
    as: {
      item: "webSearch",
      query,
      action: queries.length > 1 ? { type: "search", query: null, queries } : { type: "search", query, queries: null },
    },
    facts: { ...NO_FACTS, query },
  };
}

export function readFetchCall(call: CallArguments): CallReading | null {
  const urls = (call.list("url") ?? call.list("urls") ?? []).filter((entry) => typeof entry === "string");
  const text = call.filled("url") ?? urls[0];
  // Some tools take the address inside a prompt.
  const url = text === undefined ? null : /^\S+$/.test(text) ? text : (/https?:\/\/[^\s"'<>)]*[^\s"'<>).,;:!?]/.exec(text)?.[0] ?? null);
  if (url === null) return null;
  return {
    kind: "web_fetch",
    canonicalName: "web_fetch",
    canonicalArguments: { url },
    as: { item: "webSearch", query: url, action: { type: "openPage", url } },
    facts: { ...NO_FACTS, url },
  };
}

export function readImageCall(call: CallArguments, cwd: string): CallReading | null {
  const path = call.filled("path");
  if (path === null) return null;
  const absolute = resolvePath(cwd, path);
  return {
    kind: "view_image",
    canonicalName: "view_image",
    canonicalArguments: { path: absolute },
    as: { item: "image", path: absolute },
    facts: { ...NO_FACTS, paths: [path] },
  };
}

export function readWaitCall(name: string, input: unknown, call: CallArguments, rule: ToolRule | undefined): CallReading {
  const raw = call.value("target");
  const target = typeof raw === "string" && raw !== "" ? raw : typeof raw === "number" ? String(raw) : null;
  const field = rule?.options?.["waitWithoutInput"];
  const typed = typeof field === "string" ? call.object[field] : undefined;
  const writes = typeof typed === "string" && typed !== "";
  return {
    kind: writes ? "run_command" : "wait",
    canonicalName: typeof field === "string" && target !== null ? "write_stdin" : null,
    canonicalArguments: typeof field === "string" && target !== null ? { session_id: target, chars: writes ? typed : "" } : null,
    as: { item: "wait", target, tool: name, arguments: input ?? {} },
    facts: {
      ...NO_FACTS,
      tool: name,
      command: writes ? null : call.filled("command"),
      label: writes ? firstLine(typed) : (call.filled("label") ?? target),
    },
  };
}

const AGENT_ACTIONS: ReadonlySet<string> = new Set<AgentTool>([
  "spawnAgent", "sendInput", "resumeAgent", "wait", "closeAgent", "sendMessage", "followupTask", "interruptAgent", "listAgents",
]);

export function readAgentCall(call: CallArguments, rule: ToolRule | undefined): CallReading {
  const named = rule?.options?.["agent"];
  const action = typeof named === "string" && AGENT_ACTIONS.has(named) ? (named as AgentTool) : "spawnAgent";
  const prompt = call.filled("prompt");
  const spawns = action === "spawnAgent" && prompt !== null;
  return {
    kind: action === "wait" ? "wait" : "spawn_agent",
    canonicalName: spawns ? "spawn_agent" : null,
    canonicalArguments: spawns ? { message: prompt } : null,
    as: { item: "agent", action, prompt, model: call.filled("model") },
    facts: { ...NO_FACTS, label: call.filled("label") ?? firstLine(prompt) },
  };
}

export function readPlanCall(name: string, input: unknown, call: CallArguments): CallReading {
  const plan = planSteps(call);
  const label = call.filled("label") ?? call.filled("subject");
  // A call about one step of a list that it does not carry is still something that the agent did.
  const single = plan === null && Object.keys(call.object).length > 0;
  const explanation = call.filled("explanation");
  return {
    kind: "update_plan",
    canonicalName: plan === null ? null : "update_plan",
    canonicalArguments: plan === null ? null : { ...(explanation === null ? {} : { explanation }), plan },
    as: single ? { item: "dynamic", namespace: null, tool: name, arguments: input ?? {} } : { item: "plan", plan, explanation },
    facts: { ...NO_FACTS, label: firstLine(label) },
  };
}

const STEP_TEXT = ["step", "content", "title", "description", "text", "subject", "task", "task_description"] as const;

function planSteps(call: CallArguments): PlanStep[] | null {
  const entries = call.list("plan");
  if (entries === null) {
    const text = call.filled("plan");
    return text === null ? null : markdownSteps(text);
  }
  const steps: PlanStep[] = [];
  for (const entry of entries) {
    const step = planStep(entry);
    if (step === null) return null;
    steps.push(step);
  }
  return steps;
}

function planStep(entry: unknown): PlanStep | null {
  if (typeof entry === "string") return { step: entry, status: "pending" };
  if (!isJsonObject(entry)) return null;
  for (const field of STEP_TEXT) {
    const text = entry[field];
    if (typeof text === "string" && text !== "") return { step: text, status: stepStatus(entry) };
  }
  return null;
}

function stepStatus(entry: Readonly<Record<string, unknown>>): PlanStep["status"] {
  const status = entry["status"] ?? entry["state"];
  if (typeof status !== "string") return entry["completed"] === true || entry["done"] === true ? "completed" : "pending";
  const word = status.toLowerCase().replaceAll("_", "").replaceAll("-", "").replaceAll(" ", "");
  if (word === "completed" || word === "done" || word === "complete" || word === "finished") return "completed";
  return word === "inprogress" || word === "active" || word === "doing" ? "inProgress" : "pending";
}

/** A checklist such as `- [x] done`, `- [ ] open`, `- [-] running`; null when the text is none. */
function markdownSteps(text: string): PlanStep[] | null {
  const steps: PlanStep[] = [];
  for (const line of text.slice(0, 100_000).split("\n")) {
    const mark = /^\s*(?:[-*]|\d+[.)])\s*\[([^\]])\]\s*(\S.*)$/.exec(line);
    if (mark === null) continue;
    const done = mark[1] === "x" || mark[1] === "X";
    steps.push({ step: mark[2]!, status: done ? "completed" : mark[1] === " " ? "pending" : "inProgress" });
  }
  return steps.length === 0 ? null : steps;
}

export function readQuestionCall(name: string, input: unknown, call: CallArguments): CallReading {
  const value = call.value("question");
  const first: unknown = Array.isArray(value) ? value[0] : value;
  const nested = isJsonObject(first) ? (first["question"] ?? first["text"] ?? first["title"]) : first;
  const question = typeof nested === "string" ? firstLine(nested) : null;
  return {
    kind: "ask_user",
    canonicalName: question === null ? null : "request_user_input",
    canonicalArguments: question === null ? null : { questions: Array.isArray(value) ? value : [{ question: nested }] },
    as: { item: "dynamic", namespace: null, tool: name, arguments: input },
    facts: { ...NO_FACTS, label: question },
  };
}

export function readMcpCall(server: string, tool: string, input: unknown): CallReading {
  return {
    kind: "call_tool",
    canonicalName: "call_tool",
    canonicalArguments: { server, tool, arguments: input ?? {} },
    as: { item: "mcp", server, tool, arguments: input ?? {} },
    facts: { ...NO_FACTS, tool: `${server}/${tool}`, label: safeSummary(input) },
  };
}

export function readOtherCall(name: string, input: unknown, call: CallArguments): CallReading {
  return {
    kind: "unknown",
    canonicalName: null,
    canonicalArguments: null,
    as: { item: "dynamic", namespace: null, tool: name, arguments: input ?? {} },
    facts: { ...NO_FACTS, tool: name, label: firstLine(call.filled("label")) ?? safeSummary(input) },
  };
}

const TELLING_FIELDS = ["path", "file_path", "url", "uri", "query", "q", "pattern", "name", "title", "id", "command", "cmd"] as const;

/** One short string of the arguments that tells calls of one tool apart; an address is cut to its host. */
export function safeSummary(input: unknown): string | null {
  if (!isJsonObject(input)) return null;
  for (const field of TELLING_FIELDS) {
    const value = input[field];
    if (typeof value === "string" && value.trim() !== "") return hostOf(value) ?? firstLine(value);
  }
  return null;
}

/** Host of a web address; null for other text. */
export function hostOf(url: string): string | null {
  const match = /^https?:\/\/(?:[^/?#@\s]*@)?([^/?#\s:]+)/i.exec(url);
  return match?.[1] ?? null;
}

/** First line that is not empty, cut where titles would become a burden. */
export function firstLine(text: string | null): string | null {
  if (text === null) return null;
  const line = text.trimStart().split("\n", 1)[0]!.trim();
  return line === "" ? null : line;
}
