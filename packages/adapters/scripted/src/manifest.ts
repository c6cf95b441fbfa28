import type { HarnessManifest } from "@foldcast/protocol-core/harness";
import type { ToolKind, ToolMap } from "@foldcast/protocol-core/tools";

export const HARNESS_ID = "scripted";

/** A scenario that names no foreign map uses plain names: each kind by its own, and the usual short ones. */
const NAMES: Readonly<Record<Exclude<ToolKind, "unknown">, readonly string[]>> = {
  run_command: ["run_command", "exec_command", "shell", "bash", "command"],
  read_file: ["read_file", "read"],
  list_files: ["list_files", "list", "ls"],
  search_files: ["search_files", "search", "grep"],
  edit_file: ["edit_file", "edit"],
  write_file: ["write_file", "write"],
  apply_patch: ["apply_patch"],
  web_search: ["web_search"],
  web_fetch: ["web_fetch", "fetch"],
  wait: ["wait"],
  call_tool: ["call_tool"],
  spawn_agent: ["spawn_agent", "agent"],
  update_plan: ["update_plan", "plan"],
  ask_user: ["ask_user", "ask"],
  view_image: ["view_image"],
};
const tools: ToolMap = Object.fromEntries(
  (Object.keys(NAMES) as (keyof typeof NAMES)[]).flatMap((kind) => NAMES[kind].map((name) => [name, { kind }])),
);

export const manifest: HarnessManifest = {
  id: HARNESS_ID,
  displayName: "Scripted",
  capabilities: {
    steer: true,
    images: true,
    resume: true,
    fork: true,
    rollback: false,
    compact: true,
    interactions: true,
    selectModel: true,
    historyOutcome: "complete",
  },
  tools,
};
