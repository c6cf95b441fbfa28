import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { member, type SessionRecord } from "./record.ts";

/**
 * The completed item that an event of before 0.145 tells, in the form that `item_completed` has since; null for events
 * that tell none.
 */
export function itemOfEvent(payload: SessionRecord): SessionRecord | null {
  const id = filledString(member(payload, "call_id")) ?? filledString(payload["id"]) ?? filledString(payload["event_id"]) ?? undefined;
  switch (payload["type"]) {
    case "exec_command_end":
      return { ...payload, type: "CommandExecution", id, status: payload["status"] ?? (payload["exit_code"] === 0 ? "completed" : "failed") };
    case "patch_apply_end":
      return { ...payload, type: "FileChange", id, status: payload["status"] ?? (payload["success"] === false ? "failed" : "completed") };
    case "mcp_tool_call_end": {
      const { server, tool, arguments: input } = objectOf(payload["invocation"]);
      const result = objectOf(payload["result"]);
      const error = stringOf(result["Err"]);
      const isError = error !== null || objectOf(result["Ok"])["is_error"] === true || objectOf(result["Ok"])["isError"] === true;
      return {
        type: "McpToolCall", id, server, tool, arguments: input, duration: payload["duration"], status: isError ? "failed" : "completed",
        ...(error === null ? { result: result["Ok"] } : { error: { message: error } }),
      };
    }
    case "web_search_end":
      return { type: "WebSearch", id, query: payload["query"], action: payload["action"], results: payload["results"] };
    case "view_image_tool_call":
      return { type: "ImageView", id, path: payload["path"] };
    case "image_generation_end":
      return { ...payload, type: "ImageGeneration", id };
    case "dynamic_tool_call_response":
      return { ...payload, type: "DynamicToolCall", id, status: payload["success"] === false ? "failed" : "completed" };
    case "sub_agent_activity":
      return { ...payload, type: "SubAgentActivity", id };
    case "collab_agent_spawn_end":
      return collab(payload, id, "spawn_agent", [filledString(payload["new_thread_id"])], payload["status"]);
    case "collab_agent_interaction_end":
      return collab(payload, id, "send_input", [filledString(payload["receiver_thread_id"])], payload["status"]);
    case "collab_close_end":
      return collab(payload, id, "close_agent", [filledString(payload["receiver_thread_id"])], payload["status"]);
    case "collab_resume_end":
      return collab(payload, id, "resume_agent", [filledString(payload["receiver_thread_id"])], payload["status"]);
    case "collab_waiting_end":
      return { ...payload, type: "CollabAgentToolCall", id, tool: "wait", receiver_thread_ids: Object.keys(objectOf(payload["statuses"])), agents_states: payload["statuses"] };
    default:
      return null;
  }
}

function collab(payload: SessionRecord, id: string | undefined, tool: string, receivers: readonly (string | null)[], status: unknown): SessionRecord {
  const ids = receivers.filter((each) => each !== null);
  const nickname = filledString(payload["new_agent_nickname"]) ?? filledString(payload["receiver_agent_nickname"]);
  const role = filledString(payload["new_agent_role"]) ?? filledString(payload["receiver_agent_role"]);
  return {
    ...payload, type: "CollabAgentToolCall", id, tool, receiver_thread_ids: ids, agents_states: Object.fromEntries(ids.map((each) => [each, status])),
    receiver_agents: ids.map((each) => ({ thread_id: each, agent_nickname: nickname, agent_role: role })),
    ...(tool === "spawn_agent" && ids.length === 0 ? { status: "failed" } : { status: undefined }),
  };
}
