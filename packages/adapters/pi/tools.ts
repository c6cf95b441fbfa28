import type { ToolMap } from "@foldcast/protocol-core/tools";

/** Tools of Pi (earendil 1.6, mariozechner 0.73). */
export const piTools: ToolMap = {
  bash: { kind: "run_command" },
  bashExecution: { kind: "run_command" },
  read: { kind: "read_file" },
  ls: { kind: "list_files" },
  find: { kind: "list_files" },
  grep: { kind: "search_files" },
  edit: { kind: "edit_file" },
  write: { kind: "write_file" },
  todo: { kind: "update_plan" },
  subagent: { kind: "spawn_agent", fields: { prompt: ["task", "prompt"], label: ["agent", "description"] } },
  web_search: { kind: "web_search" },
  web_fetch: { kind: "web_fetch" },
  webfetch: { kind: "web_fetch" },
  process: { kind: "call_tool", fields: { label: ["action", "sessionId"] } },
};
