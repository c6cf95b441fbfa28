import type { ToolMap } from "@foldcast/protocol-core/tools";

/** For agents of the Agent Client Protocol that give a call's kind but not its tool: rules by ACP kind. */
export const acpKinds: ToolMap = {
  execute: { kind: "run_command" },
  read: { kind: "read_file" },
  edit: { kind: "write_file" },
  delete: { kind: "edit_file", options: { effect: "delete" } },
  move: { kind: "edit_file" },
  search: { kind: "search_files" },
  fetch: { kind: "web_fetch", fields: { url: ["url"] } },
  think: { kind: "call_tool" },
  switch_mode: { kind: "call_tool" },
  other: { kind: "call_tool" },
};
