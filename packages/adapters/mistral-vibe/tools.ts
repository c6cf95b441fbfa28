import type { ToolMap } from "@foldcast/protocol-core/tools";

/** Tools of Mistral Vibe. */
export const mistralVibeTools: ToolMap = {
  bash: { kind: "run_command" },
  read_file: { kind: "read_file", options: { lineBase: 0 } },
  read: { kind: "read_file" },
  grep: { kind: "search_files" },
  glob: { kind: "list_files" },
  search_replace: { kind: "edit_file" },
  edit: { kind: "edit_file" },
  write_file: { kind: "write_file" },
  write: { kind: "write_file" },
  web_search: { kind: "web_search" },
  web_fetch: { kind: "web_fetch" },
  todo: { kind: "update_plan" },
  task: { kind: "spawn_agent", fields: { label: "agent" } },
  ask_user_question: { kind: "ask_user" },
  exit_plan_mode: { kind: "ask_user", fields: { question: "plan" } },
  skill: { kind: "call_tool", fields: { label: "name" } },
};
