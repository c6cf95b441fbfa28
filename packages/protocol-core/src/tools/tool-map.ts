/** What a tool is, whatever its harness calls it. */
export type ToolKind =
  | "run_command" | "read_file" | "list_files" | "search_files" | "edit_file" | "write_file" | "apply_patch"
  | "web_search" | "web_fetch" | "wait" | "call_tool" | "spawn_agent" | "update_plan" | "ask_user" | "view_image"
  | "unknown";

/**
 * How one raw tool is read: its kind, and per canonical argument the raw field names that may hold it, best first
 * (dots reach into objects). Pure data, so that a harness adds tools without code. A canonical argument that is not
 * listed is looked for under the usual names (`COMMON_FIELDS` in arguments.ts), so most rules are a kind alone. `unknown` is for a tool that
 * no other kind fits: it is read as `call_tool`, because the map knows it.
 *
 * Canonical arguments by kind:
 * - run_command: command, cwd
 * - read_file: path, paths, offset, limit, last (last line), range (`[first, last]`)
 * - list_files: path, pattern
 * - search_files: pattern, path, glob
 * - edit_file, write_file: path, old, new, content, edits (array of objects with old and new), mode
 * - apply_patch: patch
 * - web_search: query; web_fetch: url
 * - wait: target (id of what is waited for)
 * - call_tool: server, tool, arguments
 * - spawn_agent: prompt, model, label
 * - update_plan: plan (array or text), explanation
 * - ask_user: question; view_image: path; unknown: label (a short string for the title)
 */
export interface ToolRule {
  kind: ToolKind;
  fields?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Units and forms where raw and canonical differ.
   * - `lineBase`: 0 where lines are counted from zero (1 by default)
   * - `program`: the language of an input that is a program; `javascript` = a code-mode program that calls other tools
   * - `effect: "delete"`: the call deletes the file that it names
   * - `patchInShell`: a command that is nothing but an apply_patch invocation is taken as a patch
   * - `waitWithoutInput`: the call writes the text of this field to a running command; without it, it only waits
   * - `agent`: the agent action (`spawnAgent` by default)
   * - `envelope`: the transport wraps the output (exit code, wall time) before the model sees it
   * - `server`: the MCP server of a tool whose name does not say it
   */
  options?: Readonly<Record<string, string | number | boolean>>;
}
/** Raw tool name, exactly as the harness writes it → rule. */
export type ToolMap = Readonly<Record<string, ToolRule>>;
