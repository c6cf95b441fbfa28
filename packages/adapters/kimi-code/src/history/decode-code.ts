import type { NotedLine, WireNote } from "./notes.ts";
import { failureOf, failureOfText, retryOf } from "./failure.ts";
import { noticeOf } from "./notice.ts";
import { inputOf, outputOf, spokenPart, spokenParts, textInput, textOfInput } from "./parts.ts";
import { questionsOf } from "./questions.ts";
import { filledString, type JsonRecord, finiteNumber, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";
import { usageOf } from "./usage.ts";

/**
 * Reads a record of kimi-code's `wire.jsonl` (protocol 1.1 to 1.5; Kimi Code 2.1.0 writes 1.5). Names of records that
 * say nothing a reader of the conversation would miss give no notes.
 */
export function decodeCode(record: JsonRecord): NotedLine {
  const type = stringOf(record["type"]) ?? "";
  const at = finiteNumber(record["time"]);
  return { at, notes: record["kind"] === "event" ? twinNotes(type, record) : notesOf(type, record) };
}

function notesOf(type: string, record: JsonRecord): WireNote[] {
  switch (type) {
    case "turn.prompt":
      return [promptOf(record)];
    case "turn.steer":
      return isTyped(objectOf(record["origin"])) ? [{ type: "steer", input: shownInput(record["input"], objectOf(record["origin"])) }] : [];
    case "context.append_message":
      return contextNotes(objectOf(record["message"]));
    case "context.append_loop_event":
      return loopNotes(objectOf(record["event"]));
    case "usage.record": {
      // Compactions count for the session, not for what the turn's context holds.
      const usage = record["usageScope"] === "session" ? null : usageOf(record["usage"]);
      return usage === null ? [] : [{ type: "usage", usage }];
    }
    case "interaction.request":
      return interactionNotes(record);
    case "interaction.resolved":
      return answerNotes(record);
    case "permission.record_approval_result":
      return approvalResult(record);
    case "turn.step.retrying":
      return [{ type: "retry", error: retryOf(record) }];
    case "turn.step.interrupted":
      return [{ type: "interrupted", error: record["reason"] === "error" ? failureOfText(filledString(record["message"])) : null }];
    case "turn.cancel":
      // A queued turn that is called off never began.
      return record["target"] === "queued" ? [] : [{ type: "cancel" }];
    case "turn.ended":
      return [{ type: "end", outcome: outcomeOf(record), durationMs: finiteNumber(record["durationMs"]) }];
    case "full_compaction.begin":
      return [{ type: "compaction", phase: "begin" }];
    case "full_compaction.complete":
    case "context.apply_compaction":
      return [{ type: "compaction", phase: "done" }];
    case "full_compaction.cancel":
      return [{ type: "compaction", phase: "cancelled" }];
    case "context.undo": {
      const count = finiteNumber(record["count"]);
      return count !== null && Number.isSafeInteger(count) && count > 0 ? [{ type: "undo", count }] : [];
    }
    case "context.clear":
      return [{ type: "clear" }];
    case "subagent.spawned": {
      const agentId = filledString(record["subagentId"]);
      if (agentId === null) return [];
      return [{
        type: "childStarted", callId: filledString(record["parentToolCallId"]), agentId, name: filledString(record["description"]),
        role: filledString(record["subagentName"]), background: record["runInBackground"] === true,
      }];
    }
    case "subagent.completed":
    case "subagent.failed":
    case "subagent.cancelled": {
      const agentId = filledString(record["subagentId"]);
      if (agentId === null) return [];
      const status = type === "subagent.completed" ? "completed" : type === "subagent.failed" ? "errored" : "interrupted";
      const error = filledString(record["error"]) ?? filledString(objectOf(record["error"])["message"]);
      return [{ type: "childEnded", agentId, status, message: filledString(record["resultSummary"]) ?? error }];
    }
    case "task.started":
    case "task.terminated": {
      const info = objectOf(record["info"]);
      const id = filledString(info["taskId"]);
      // Foreground work is a task too, and nothing follows its end.
      return id === null || (type === "task.started" && info["detached"] !== true) ? [] : [{ type: "task", id, running: type === "task.started" }];
    }
    case "file_history.tracked": {
      const path = filledString(record["path"]);
      const { key, oversize } = objectOf(record["entry"]);
      // Of a file that was too large there is no copy either.
      if (path === null || oversize === true || (key !== null && typeof key !== "string")) return [];
      return [{ type: "fileBefore", path, key }];
    }
    case "llm.request": {
      const model = record["kind"] === "compaction" ? null : (filledString(record["modelAlias"]) ?? filledString(record["model"]));
      return model === null ? [] : [{ type: "model", model }];
    }
    default:
      return SILENT.has(type) ? [] : [{ type: "unknown", name: type === "" ? "record" : type, record }];
  }
}

function promptOf(record: JsonRecord): WireNote {
  const origin = objectOf(record["origin"]);
  const input = shownInput(record["input"], origin);
  const base = { type: "prompt" as const, turnId: finiteNumber(record["turnId"]), undoable: isTyped(origin) };
  if (isTyped(origin)) return { ...base, input, byPerson: true, notice: null };
  // The task that a parent gave its sub-agent is what the sub-agent was sent.
  if (origin["kind"] === "system_trigger" && origin["name"] === "subagent") return { ...base, input, byPerson: false, notice: null };
  return { ...base, input: [], byPerson: false, notice: noticeOf(textOfInput(input), origin) };
}

/** Typed by a person: a prompt, or a slash command of a skill or a plugin. */
function isTyped(origin: JsonRecord): boolean {
  const { kind } = origin;
  if (kind === undefined || kind === "user") return true;
  return (kind === "skill_activation" || kind === "plugin_command") && origin["trigger"] === "user-slash";
}

/** A slash command is shown as it was typed, not as the text that it stands for. */
function shownInput(input: unknown, origin: JsonRecord): ReturnType<typeof inputOf> {
  const skill = filledString(origin["skillName"]);
  const command = filledString(origin["commandName"]);
  if (origin["kind"] === "skill_activation" && skill !== null) return [textInput(slashCommand(skill, origin["skillArgs"]))];
  if (origin["kind"] === "plugin_command" && command !== null) {
    const plugin = filledString(origin["pluginId"]);
    return [textInput(slashCommand(plugin === null ? command : `${plugin}:${command}`, origin["commandArgs"]))];
  }
  return inputOf(input);
}

function slashCommand(name: string, args: unknown): string {
  const text = filledString(args);
  return text === null ? `/${name}` : `/${name} ${text}`;
}

function contextNotes(message: JsonRecord): WireNote[] {
  const origin = objectOf(message["origin"]);
  if (message["role"] === "assistant") {
    if (origin["kind"] === "compaction_summary") return [];
    return [{ type: "contextAnswer", parts: spokenParts(message["content"]), calls: callsOf(message["toolCalls"]) }];
  }
  if (message["role"] !== "user") return [];
  if (origin["kind"] === "shell_command") {
    const text = textOfInput(inputOf(message["content"]));
    if (origin["phase"] === "input") return [{ type: "shellInput", command: untagged(text) }];
    return [{ type: "shellOutput", text: untagged(text), failed: origin["isError"] === true }];
  }
  if (!isTyped(origin)) return [];
  // Early records carry no origin on what the harness put in for the model.
  const input = shownInput(message["content"], origin);
  if (origin["kind"] === undefined && /^\s*<(?:system-reminder|notification|system)[\s>]/.test(textOfInput(input))) return [];
  return [{ type: "contextPrompt", input, undoable: origin["inTurn"] !== true }];
}

function callsOf(value: unknown): { id: string; name: string; input: unknown }[] {
  return objectsOf(value).flatMap((call) => {
    const fn = objectOf(call["function"]);
    const id = filledString(call["id"]);
    const name = filledString(call["name"]) ?? filledString(fn["name"]);
    return id === null || name === null ? [] : [{ id, name, input: argumentsOf(call["arguments"] ?? fn["arguments"]) }];
  });
}

/** Arguments as an object; text that is no JSON stays text. */
export function argumentsOf(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  try {
    return value === "" ? {} : (JSON.parse(value) as unknown);
  } catch {
    return value;
  }
}

function loopNotes(event: JsonRecord): WireNote[] {
  const step = filledString(event["stepUuid"]) ?? filledString(event["uuid"]);
  switch (event["type"]) {
    case "step.begin":
      return [{ type: "stepBegin", step }];
    case "step.end":
      return [{ type: "stepEnd", step, finish: filledString(event["finishReason"]), usage: usageOf(event["usage"]) }];
    case "content.part": {
      const part = objectOf(event["part"]);
      const spoken = spokenPart(part);
      if (spoken !== null) return spoken.text === "" ? [] : [{ type: "spoken", id: filledString(event["uuid"]), step, part: spoken }];
      return [{ type: "aside", name: filledString(part["type"]) ?? "content.part", input: part, output: null, failed: false }];
    }
    case "tool.call": {
      const id = filledString(event["toolCallId"]) ?? filledString(event["uuid"]);
      if (id === null) return [{ type: "unknown", name: "tool.call", record: event }];
      return [{ type: "call", call: { id, name: filledString(event["name"]) ?? "tool", input: argumentsOf(event["args"]) }, growing: false }];
    }
    case "tool.result": {
      const result = objectOf(event["result"]);
      return [{
        type: "result", callId: filledString(event["toolCallId"]), ...outputOf(result["output"]), failed: result["isError"] === true,
        durationMs: finiteNumber(result["durationMs"]), diffs: [],
      }];
    }
    default:
      return [{ type: "unknown", name: stringOf(event["type"]) ?? "loop event", record: event }];
  }
}

function interactionNotes(record: JsonRecord): WireNote[] {
  const request = objectOf(record["request"]);
  const id = filledString(record["id"]) ?? filledString(request["id"]);
  const callId = filledString(record["toolCallId"]) ?? filledString(request["toolCallId"]);
  if (id === null) return [];
  if (record["kind"] === "question") return [{ type: "question", id, callId, questions: questionsOf(request["questions"]) }];
  if (record["kind"] !== "approval") return [{ type: "unknown", name: "interaction.request", record }];
  return [{
    type: "approval", id, callId, toolName: filledString(request["toolName"]), title: filledString(request["action"]),
    display: objectOf(request["display"]),
  }];
}

function answerNotes(record: JsonRecord): WireNote[] {
  const id = filledString(record["id"]);
  const response = objectOf(record["response"]);
  const { decision } = response;
  if (id === null) return [];
  if (decision === "approved") return [{ type: "answered", id, how: "accepted" }];
  if (decision === "rejected") return [{ type: "answered", id, how: "declined" }];
  return [{ type: "answered", id, how: decision === "cancelled" || response["cancelled"] === true ? "cancelled" : "answered" }];
}

/** Before 1.5 the decision is the only trace of an approval. */
function approvalResult(record: JsonRecord): WireNote[] {
  const callId = filledString(record["toolCallId"]);
  const { decision } = objectOf(record["result"]);
  if (callId === null || decision !== "rejected") return [];
  return [{ type: "answered", id: `call:${callId}`, how: "declined" }];
}

function outcomeOf(record: JsonRecord): Extract<WireNote, { type: "end" }>["outcome"] {
  switch (record["reason"]) {
    case "completed":
      return { status: "succeeded" };
    case "cancelled":
      return { status: "cancelled" };
    case "failed":
      return { status: "failed", error: failureOf(record["error"]) };
    case "blocked":
      return { status: "failed", error: record["error"] === undefined ? { message: "A hook blocked the prompt." } : failureOf(record["error"]) };
    default:
      return { status: "unknown" };
  }
}

/** Copies of what the turn did, written when it ends; only the assistant's can hold more than the records. */
function twinNotes(type: string, record: JsonRecord): WireNote[] {
  if (type !== "agent.message.appended") return [];
  const outer = objectOf(record["message"]);
  const message = objectOf(outer["message"]);
  if (message["role"] !== "assistant") return [];
  return [{
    type: "twin", parts: spokenParts(message["content"]), calls: callsOf(message["toolCalls"]),
    salvaged: objectOf(outer["meta"])["source"] === "salvaged",
  }];
}

function untagged(text: string): string {
  return text.replace(/^\s*<(bash-input|bash-stdout|bash-stderr)>([^]*)<\/\1>\s*$/, "$2");
}

/** Record types of protocol 1.1 to 1.5 without anything to show. */
const SILENT: ReadonlySet<string> = new Set([
  "metadata", "forked", "config.update", "profile.bind", "runtime.set_binding", "permission.set_mode", "permission.rules.add",
  "permission.approval.requested", "permission.approval.resolved", "plan_mode.enter", "plan_mode.exit", "plan_mode.cancel", "plan.revision",
  "swarm_mode.enter", "swarm_mode.exit", "tower_mode.enter", "tower_mode.exit", "tower.inbox.sent", "tools.register_user_tool",
  "tools.unregister_user_tool", "tools.set_active_tools", "tools.reset_active_tools", "tools.update_store", "tool.list.updated",
  "micro_compaction.apply", "context.update_token_count", "context.spliced", "context.undone", "agent.switched", "goal.create", "goal.update",
  "goal.updated", "goal.set", "goal.status", "goal.clear", "llm.tools_snapshot", "mcp.tools_discovered", "mcp.server.status",
  "token_counting.measured", "token_counting.truncated", "token_counting.rebased", "token_counting.turn_recorded", "prompt.accepted",
  "prompt.submitted", "prompt.started", "prompt.queued", "prompt.completed", "prompt.aborted", "prompt.steered", "subagent.started",
  "subagent.suspended", "task.notified", "task.waitDelivered", "cron.add", "cron.cursor", "cron.delete",
  "cron.fired", "plugin.session_start", "plugin_command.activated", "skill.activated", "staleGuard.recorded", "staleGuard.cleared",
  "interruptionReminder.recorded", "file_history.checkpoint", "session.meta.updated", "agent.status.updated", "hook.result", "warning",
]);
