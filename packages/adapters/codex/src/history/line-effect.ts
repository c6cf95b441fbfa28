import { SILENT_EVENTS } from "./events.ts";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { type SessionRecord, textsOf } from "./record.ts";
import type { LineEffect } from "./turn-list.ts";

/** What a record of the model's API or an event is for the index; `silent` lines are never read again. */
export type LineRole = "user" | "asked" | "compaction" | "early" | "silent" | "unknown" | { effect: LineEffect };

const WORK: LineRole = { effect: "work" };
const ANSWER: LineRole = { effect: "answer" };
const NOTE: LineRole = { effect: "note" };

const ITEM_ROLES: Readonly<Record<string, LineRole>> = {
  agent_message: WORK,
  function_call: WORK,
  function_call_output: WORK,
  custom_tool_call: WORK,
  custom_tool_call_output: WORK,
  local_shell_call: WORK,
  tool_search_call: WORK,
  tool_search_output: WORK,
  web_search_call: WORK,
  image_generation_call: WORK,
  compaction: "compaction",
  compaction_summary: "compaction",
  context_compaction: "compaction",
  compaction_trigger: "silent",
  additional_tools: "silent",
  ghost_snapshot: "silent",
  other: "silent",
};

/** Role of a `response_item`. */
export function roleOfItem(payload: SessionRecord): LineRole {
  const type = stringOf(payload["type"]) ?? "";
  if (type === "message") {
    const { role } = payload;
    if (role === "user") return "asked";
    return role === "assistant" ? ANSWER : "silent";
  }
  if (type === "reasoning") {
    const says = textsOf(payload["summary"]).length > 0 || textsOf(payload["content"]).length > 0;
    return says ? WORK : "silent";
  }
  return Object.hasOwn(ITEM_ROLES, type) ? ITEM_ROLES[type]! : "unknown";
}

const EVENT_ROLES: Readonly<Record<string, LineRole>> = {
  user_message: "user",
  agent_message: ANSWER,
  agent_reasoning: WORK,
  agent_reasoning_raw_content: WORK,
  exec_command_end: WORK,
  patch_apply_end: WORK,
  mcp_tool_call_end: WORK,
  web_search_end: WORK,
  view_image_tool_call: WORK,
  image_generation_end: WORK,
  dynamic_tool_call_response: WORK,
  collab_agent_spawn_end: WORK,
  collab_agent_interaction_end: WORK,
  collab_waiting_end: WORK,
  collab_close_end: WORK,
  collab_resume_end: WORK,
  sub_agent_activity: NOTE,
  context_compacted: "compaction",
  entered_review_mode: "early",
  exited_review_mode: NOTE,
};

/** Role of an event that says something about a turn's content. */
export function roleOfEvent(payload: SessionRecord): LineRole {
  const type = stringOf(payload["type"]) ?? "";
  if (type === "item_completed") return roleOfCompleted(objectOf(payload["item"]));
  if (Object.hasOwn(EVENT_ROLES, type)) return EVENT_ROLES[type]!;
  return SILENT_EVENTS.has(type) ? "silent" : "unknown";
}

function roleOfCompleted(item: SessionRecord): LineRole {
  switch (item["type"]) {
    case "UserMessage":
      return "user";
    case "AgentMessage":
    case "Plan":
      return ANSWER;
    case "ContextCompaction":
      return "compaction";
    case "SubAgentActivity":
      return NOTE;
    default:
      return WORK;
  }
}

/** The turn that a line says it belongs to; null where it does not say. */
export function turnIdOf(payload: SessionRecord): string | null {
  const passthrough = objectOf(payload["internal_chat_message_metadata_passthrough"]);
  // A review's own events name the turn that asked for it.
  if (payload["type"] === "entered_review_mode" || payload["type"] === "exited_review_mode") return null;
  return filledString(payload["turn_id"]) ?? filledString(payload["turnId"]) ?? filledString(passthrough["turn_id"]);
}

