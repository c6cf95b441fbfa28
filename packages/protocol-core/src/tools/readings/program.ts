import type { CommandAction } from "../../wire/index.ts";
import type { CallArguments } from "../arguments.ts";
import { type ExecCall, formatTopLevelStatements, readExecProgram, summarizeExec } from "../exec-wrapper/index.ts";
import type { Interpreter } from "../interpret.ts";
import { type CallReading, NO_FACTS, type Projection } from "../reading.ts";
import type { ToolMap } from "../tool-map.ts";

/** Tools that code-mode programs call (Codex 0.171), beside those of MCP servers. */
const NESTED_TOOLS: ToolMap = {
  exec_command: { kind: "run_command", options: { patchInShell: true } },
  shell_command: { kind: "run_command", options: { patchInShell: true } },
  write_stdin: { kind: "wait", options: { waitWithoutInput: "chars" } },
  apply_patch: { kind: "apply_patch" },
  view_image: { kind: "view_image" },
  update_plan: { kind: "update_plan" },
  request_user_input: { kind: "ask_user" },
  web_search: { kind: "web_search" },
  web__run: { kind: "web_search", fields: { query: ["query", "search_query.0.q"] } },
  spawn_agent: { kind: "spawn_agent" },
};

/** A program that calls other tools: its only call, or a parent of its calls, or its source where nothing is certain. */
export function readProgramCall(name: string, input: unknown, call: CallArguments, cwd: string, interpret: Interpreter): CallReading | null {
  const source = call.text ?? call.filled("patch") ?? call.filled("code") ?? call.filled("source");
  if (source === null) return null;
  const { calls } = readExecProgram(source);
  const summary = summarizeExec({ calls });
  const read = (child: ExecCall): CallReading => readChild(child, cwd, interpret);
  if (summary.kind === "single") return { ...read(summary.call), enveloped: true };
  const children = calls.map(read);
  return {
    kind: summary.kind === "several" ? "call_tool" : "run_command",
    canonicalName: null,
    canonicalArguments: null,
    as: summary.kind === "several" ? joined(name, input, calls, children) : { item: "dynamic", namespace: null, tool: name, arguments: input },
    facts: { ...NO_FACTS, label: "JavaScript" },
    program: { language: "javascript", text: formatTopLevelStatements(source) },
    children,
    enveloped: true,
  };
}

function readChild(child: ExecCall, cwd: string, interpret: Interpreter): CallReading {
  const name = child.name ?? "?";
  if (child.status === "resolved") {
    const rule = Object.hasOwn(NESTED_TOOLS, name) ? NESTED_TOOLS[name] : undefined;
    return interpret({ name, input: child.args ?? {}, rule, cwd });
  }
  return {
    kind: "unknown",
    canonicalName: null,
    canonicalArguments: null,
    as: { item: "dynamic", namespace: null, tool: name, arguments: child.known ?? {} },
    facts: { ...NO_FACTS, tool: name },
  };
}

/** One item for all calls: what ran and what changed, where every call is certain and of one sort. */
function joined(name: string, input: unknown, calls: readonly ExecCall[], children: readonly CallReading[]): Projection {
  const dynamic: Projection = { item: "dynamic", namespace: null, tool: name, arguments: input };
  if (calls.some((call) => call.status === "unresolved")) return dynamic;
  const commands: string[] = [];
  const actions: CommandAction[] = [];
  for (const { as } of children) {
    if (as.item !== "command" || as.cwd !== null) return dynamic;
    commands.push(as.command);
    actions.push(...as.actions);
  }
  return { item: "command", command: commands.join("\n"), cwd: null, actions };
}
