import type { ToolMap } from "@foldcast/protocol-core/tools";

const read = {
  kind: "read_file",
  fields: {
    path: ["path", "operations.0.path"],
    offset: ["start_line", "offset", "operations.0.offset"],
    limit: ["limit", "operations.0.limit"],
  },
} as const;
const write = { kind: "write_file", fields: { mode: "command", old: ["oldStr"], new: ["newStr"], content: ["fileText", "text"] } } as const;

/** Tools of Kiro CLI 2, and of the Amazon Q names that it grew out of. */
export const kiroCliTools: ToolMap = {
  shell: { kind: "run_command", fields: { cwd: "working_dir", label: "__tool_use_purpose" } },
  execute_bash: { kind: "run_command", fields: { cwd: "working_dir", label: "summary" } },
  execute_cmd: { kind: "run_command", fields: { cwd: "working_dir" } },
  read: { ...read, options: { lineBase: 0 } },
  fs_read: read,
  write,
  fs_write: write,
  ls: { kind: "list_files" },
  glob: { kind: "list_files" },
  grep: { kind: "search_files" },
  code: { kind: "search_files", fields: { pattern: ["pattern", "symbol_name", "query"] } },
  web_search: { kind: "web_search" },
  web_fetch: { kind: "web_fetch" },
  todo_list: { kind: "update_plan", fields: { plan: ["tasks"], label: "task_list_description" } },
  use_subagent: { kind: "spawn_agent" },
  subagent: { kind: "spawn_agent", fields: { prompt: ["task", "prompt", "query"] } },
  delegate: { kind: "spawn_agent", fields: { prompt: "task", label: "agent" } },
  thinking: { kind: "call_tool", fields: { label: "thought" } },
  introspect: { kind: "call_tool", fields: { label: "query" } },
  knowledge: { kind: "call_tool", fields: { label: "command" } },
  session: { kind: "call_tool" },
  switch_to_execution: { kind: "call_tool" },
  report_issue: { kind: "call_tool", fields: { label: "title" } },
  gh_issue: { kind: "call_tool", fields: { label: "title" } },
  use_aws: { kind: "call_tool", fields: { label: ["label", "service_name"] } },
  aws: { kind: "call_tool", fields: { label: ["label", "service_name"] } },
};
