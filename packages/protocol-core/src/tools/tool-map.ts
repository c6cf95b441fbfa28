/** What a tool is, whatever its harness calls it. */
export type ToolKind =
  | "run_command" | "read_file" | "list_files" | "search_files" | "edit_file" | "write_file" | "apply_patch"
  | "web_search" | "web_fetch" | "wait" | "call_tool" | "spawn_agent" | "update_plan" | "ask_user" | "view_image"
  | "unknown";

/**
 * How one raw tool is read: its kind, and per canonical argument the raw field names that may hold it, best first
 * (dots reach into objects). Pure data, so that a harness adds tools without code.
 */
export interface ToolRule {
  kind: ToolKind;
  fields?: Readonly<Record<string, string | readonly string[]>>;
  /** Units and forms where raw and canonical differ, e.g. `{lineBase: 0}`. */
  options?: Readonly<Record<string, string | number | boolean>>;
}
/** Raw tool name, exactly as the harness writes it → rule. */
export type ToolMap = Readonly<Record<string, ToolRule>>;
