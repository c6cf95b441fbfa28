import type { NotedLine, ShownDiff, WireNote } from "./notes.ts";
import { inputOf, outputOf, spokenPart } from "./parts.ts";
import { questionsOf } from "./questions.ts";
import { filledString, type JsonRecord, finiteNumber, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";
import { usageOf } from "./usage.ts";

/**
 * Reads a line of kimi-cli's `wire.jsonl` (protocol 1.0 to 1.10): `{timestamp, message: {type, payload}}`, with the time
 * in seconds. Types are those of its wire protocol.
 */
export function decodeCli(record: JsonRecord): NotedLine {
  const seconds = finiteNumber(record["timestamp"]);
  return { at: seconds === null ? null : Math.round(seconds * 1000), notes: messageNotes(objectOf(record["message"])) };
}

function messageNotes(message: JsonRecord): WireNote[] {
  const type = stringOf(message["type"]) ?? "message";
  const payload = objectOf(message["payload"]);
  switch (type) {
    case "TurnBegin":
      return [{ type: "prompt", input: inputOf(payload["user_input"]), byPerson: true, notice: null, turnId: null, undoable: true }];
    case "SteerInput":
      return [{ type: "steer", input: inputOf(payload["user_input"]) }];
    case "TurnEnd":
      // Left out where a turn was stopped or failed.
      return [{ type: "end", outcome: { status: "succeeded" }, durationMs: null }];
    case "StepBegin":
      return [{ type: "stepBegin", step: null }];
    case "StepInterrupted":
      return [{ type: "interrupted", error: null }];
    case "ContentPart":
    case "TextPart":
    case "ThinkPart": {
      const spoken = spokenPart(payload);
      if (spoken !== null) return spoken.text === "" ? [] : [{ type: "spoken", id: null, step: null, part: spoken }];
      return [{ type: "aside", name: filledString(payload["type"]) ?? type, input: payload, output: null, failed: false }];
    }
    case "ToolCall": {
      const fn = objectOf(payload["function"]);
      const id = filledString(payload["id"]);
      if (id === null) return [{ type: "unknown", name: type, record: message }];
      // The text itself is kept while it may grow: it is JSON only once it is whole.
      return [{ type: "call", call: { id, name: filledString(fn["name"]) ?? "tool", input: stringOf(fn["arguments"]) ?? "" }, growing: true }];
    }
    case "ToolCallPart":
      return [{ type: "callPart", append: stringOf(payload["arguments_part"]) ?? "" }];
    case "ToolResult":
      return [resultNote(payload)];
    case "StatusUpdate": {
      const usage = usageOf(payload["token_usage"], finiteNumber(payload["max_context_tokens"]));
      return usage === null ? [] : [{ type: "usage", usage }];
    }
    case "ApprovalRequest": {
      const id = filledString(payload["id"]);
      if (id === null) return [];
      return [{
        type: "approval", id, callId: filledString(payload["tool_call_id"]), toolName: filledString(payload["sender"]),
        title: filledString(payload["description"]) ?? filledString(payload["action"]), display: objectsOf(payload["display"])[0] ?? {},
      }];
    }
    case "ApprovalResponse":
    case "ApprovalRequestResolved": {
      const id = filledString(payload["request_id"]);
      return id === null ? [] : [{ type: "answered", id, how: payload["response"] === "reject" ? "declined" : "accepted" }];
    }
    case "QuestionRequest": {
      const id = filledString(payload["id"]);
      return id === null ? [] : [{ type: "question", id, callId: filledString(payload["tool_call_id"]), questions: questionsOf(payload["questions"]) }];
    }
    case "QuestionResponse": {
      const id = filledString(payload["request_id"]);
      return id === null ? [] : [{ type: "answered", id, how: "answered" }];
    }
    case "CompactionBegin":
      return [{ type: "compaction", phase: "begin" }];
    case "CompactionEnd":
      return [{ type: "compaction", phase: "done" }];
    case "SubagentEvent": {
      const [note] = messageNotes(objectOf(payload["event"]));
      const callId = filledString(payload["parent_tool_call_id"]) ?? filledString(payload["task_tool_call_id"]);
      return [{ type: "childNote", callId, agentId: filledString(payload["agent_id"]), role: filledString(payload["subagent_type"]), note: note ?? null }];
    }
    case "PlanDisplay":
      return [{ type: "plan", text: stringOf(payload["content"]) ?? "" }];
    case "Notification":
      return [{
        type: "aside", name: "notification", input: without(payload, ["body", "payload"]), output: filledString(payload["body"]),
        failed: payload["severity"] === "error",
      }];
    case "BtwEnd": {
      const error = filledString(payload["error"]);
      return [{ type: "aside", name: "btw", input: without(payload, ["response", "error"]), output: filledString(payload["response"]) ?? error, failed: error !== null }];
    }
    case "BtwBegin":
      return [{ type: "aside", name: "btw", input: payload, output: null, failed: false }];
    default:
      return SILENT.has(type) ? [] : [{ type: "unknown", name: type, record: message }];
  }
}

/** A call that runs outside of the program is announced twice; hooks and servers are the terminal's business. */
const SILENT: ReadonlySet<string> = new Set([
  "ToolCallRequest", "HookTriggered", "HookResolved", "HookRequest", "HookResponse", "MCPLoadingBegin", "MCPLoadingEnd", "MCPStatusSnapshot",
]);

function resultNote(payload: JsonRecord): WireNote {
  const returned = objectOf(payload["return_value"] ?? payload["result"]);
  const { output, content } = outputOf(returned["output"]);
  const message = filledString(returned["message"]);
  return {
    type: "result",
    callId: filledString(payload["tool_call_id"]),
    // The message is for the model where there is an output, and all there is where there is none.
    output: output === "" && content === null ? (message ?? "") : output,
    content,
    failed: returned["is_error"] === true || returned["type"] === "error",
    durationMs: null,
    diffs: objectsOf(returned["display"]).flatMap(diffOf),
  };
}

function diffOf(block: JsonRecord): ShownDiff[] {
  const data = block["type"] === "diff" && block["path"] === undefined ? objectOf(block["data"]) : block;
  const path = filledString(data["path"]);
  const old = stringOf(data["old_text"]);
  const after = stringOf(data["new_text"]);
  // Of a large file only the numbers of lines are kept.
  if (block["type"] !== "diff" || path === null || old === null || after === null || data["is_summary"] === true) return [];
  return [{ path, old, new: after }];
}

function without(record: JsonRecord, members: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !members.includes(name)));
}

