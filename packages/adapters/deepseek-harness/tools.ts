import type { ToolMap } from "@foldcast/protocol-core/tools";

/** Tools of the DeepSeek Harness. */
export const deepseekHarnessTools: ToolMap = {
  bash: { kind: "run_command" },
  bash_output: { kind: "wait" },
  kill_bash: { kind: "call_tool", fields: { label: "shell_id" } },
  read: { kind: "read_file" },
  glob: { kind: "list_files" },
  ls: { kind: "list_files" },
  grep: { kind: "search_files" },
  edit: { kind: "edit_file" },
  write: { kind: "write_file" },
  web_search: { kind: "web_search" },
  web_fetch: { kind: "web_fetch" },
  todo_write: { kind: "update_plan" },
  ask_user_question: { kind: "ask_user" },
  subagent: { kind: "spawn_agent" },
  subagent_start: { kind: "spawn_agent" },
  subagent_wait: { kind: "spawn_agent", options: { agent: "wait" } },
  subagent_stop: { kind: "spawn_agent", options: { agent: "closeAgent" } },
  task: { kind: "spawn_agent" },
  skill: { kind: "call_tool", fields: { label: "name" } },
};
