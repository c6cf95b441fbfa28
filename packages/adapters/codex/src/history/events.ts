import { finiteNumber } from "@foldcast/adapter-kit";
import { type SessionRecord, secondsTime } from "./record.ts";
import { errorOf } from "./failure.ts";
import type { TurnEnd } from "./turn-list.ts";

/** Events that change nothing in what a conversation shows; their content stands in other records (0.42 to 0.171). */
export const SILENT_EVENTS: ReadonlySet<string> = new Set([
  "thread_settings_applied", "thread_goal_updated", "session_configured", "background_event", "turn_diff", "plan_update", "plan_delta",
  "stream_error", "warning", "guardian_warning", "guardian_assessment", "model_reroute", "model_verification", "safety_buffering",
  "turn_moderation_metadata", "deprecation_notice", "shutdown_complete", "undo_started", "undo_completed", "agent_reasoning_section_break",
  "raw_response_item", "item_started", "hook_started", "hook_completed", "exec_command_begin", "exec_command_output_delta",
  "exec_approval_request", "apply_patch_approval_request", "patch_apply_begin", "patch_apply_updated", "mcp_tool_call_begin",
  "web_search_begin", "image_generation_begin", "collab_agent_spawn_begin", "collab_agent_interaction_begin", "collab_waiting_begin",
  "collab_close_begin", "collab_resume_begin", "terminal_interaction", "request_permissions", "request_user_input",
  "elicitation_request", "agent_message_delta", "agent_message_content_delta", "agent_reasoning_delta", "reasoning_content_delta",
  "reasoning_raw_content_delta", "mcp_startup_update", "mcp_startup_complete", "mcp_list_tools_response", "list_custom_prompts_response",
  "get_history_entry_response", "skills_update_available", "realtime_conversation_started", "realtime_conversation_sdp",
  "realtime_conversation_realtime", "realtime_conversation_closed", "dynamic_tool_call_request",
]);

/** The end that `task_complete` tells: an `error` in it makes it a failure (0.171). */
export function completion(payload: SessionRecord): TurnEnd {
  const error = errorOf(payload["error"]);
  return { outcome: error === null ? { status: "succeeded" } : { status: "failed", error }, ...times(payload) };
}

export function abortion(payload: SessionRecord): TurnEnd {
  const { reason } = payload;
  return { outcome: { status: "cancelled", ...(typeof reason === "string" ? { reason } : {}) }, ...times(payload) };
}

function times(payload: SessionRecord): Omit<TurnEnd, "outcome"> {
  return {
    startedAt: secondsTime(payload["started_at"]),
    completedAt: secondsTime(payload["completed_at"]),
    durationMs: finiteNumber(payload["duration_ms"]),
  };
}
