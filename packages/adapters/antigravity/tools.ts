import type { ToolMap } from "@foldcast/protocol-core/tools";

const target = ["TargetFile", "AbsolutePath"];

/** Tools of Antigravity, whose fields are in capitals and whose nested values are JSON text. */
export const antigravityTools: ToolMap = {
  run_command: { kind: "run_command", fields: { command: "CommandLine", cwd: "Cwd" } },
  command_status: { kind: "wait", fields: { target: "CommandId" } },
  send_command_input: { kind: "wait", fields: { target: "CommandId" }, options: { waitWithoutInput: "Input" } },
  read_terminal: { kind: "wait", fields: { target: "ProcessID" } },
  view_file: { kind: "read_file", fields: { path: ["AbsolutePath", "File"], offset: "StartLine", last: "EndLine" } },
  view_file_outline: { kind: "read_file", fields: { path: "AbsolutePath" } },
  view_code_item: { kind: "read_file", fields: { path: "File" } },
  view_content_chunk: { kind: "read_file", fields: { path: "DocumentId" } },
  list_dir: { kind: "list_files", fields: { path: "DirectoryPath" } },
  find_by_name: { kind: "list_files", fields: { path: "SearchDirectory", pattern: "Pattern" } },
  grep_search: { kind: "search_files", fields: { pattern: "Query", path: "SearchPath" } },
  codebase_search: { kind: "search_files", fields: { pattern: "Query", path: "TargetDirectories.0" } },
  replace_file_content: { kind: "edit_file", fields: { path: target, old: "TargetContent", new: "ReplacementContent" } },
  multi_replace_file_content: {
    kind: "edit_file",
    fields: { path: target, edits: "ReplacementChunks", old: "TargetContent", new: "ReplacementContent" },
  },
  write_to_file: { kind: "write_file", fields: { path: target, content: "CodeContent" } },
  search_web: { kind: "web_search" },
  read_url_content: { kind: "web_fetch", fields: { url: "Url" } },
  open_browser_url: { kind: "web_fetch", fields: { url: "Url" } },
  view_image: { kind: "view_image", fields: { path: "AbsolutePath" } },
  invoke_subagent: { kind: "spawn_agent", fields: { prompt: ["Prompt"], label: ["Name", "Role"] } },
  browser_subagent: { kind: "spawn_agent", fields: { prompt: "Task", label: "TaskName" } },
  send_message: { kind: "spawn_agent", fields: { prompt: "Message", label: "Recipient" }, options: { agent: "sendMessage" } },
  send_message_to_agent: { kind: "spawn_agent", options: { agent: "sendMessage" } },
  task_boundary: { kind: "update_plan", fields: { label: "TaskName" } },
  notify_user: { kind: "ask_user", fields: { question: "Message" } },
  ask_question: { kind: "ask_user" },
  ask_permission: { kind: "ask_user" },
  generate_image: { kind: "call_tool", fields: { label: "ImageName" } },
  schedule: { kind: "call_tool" },
  manage_task: { kind: "call_tool", fields: { label: ["Action", "TaskId"] } },
  manage_subagents: { kind: "spawn_agent", options: { agent: "listAgents" } },
  define_subagent: { kind: "call_tool", fields: { label: "Name" } },
};
