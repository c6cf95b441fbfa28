import type { SessionOptions } from "@foldcast/protocol-core/harness";
import type { Frame } from "../program/frame.ts";

/** Levels of 2.1.332. */
export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
/** The model that the user's own settings name. */
export const DEFAULT_MODEL = "default";

/** Clients choose among Codex's names; what is not meant for this harness changes nothing. */
export function effortOf(thinking: string | null): string | null {
  if (thinking === "minimal") return "low";
  return EFFORTS.find((effort) => effort === thinking) ?? null;
}

/** Of 2.1.332. */
export const MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"] as const;
/** Codex's profiles: reading is free in every mode, and so is editing in the workspace in the second. */
const PROFILES: Readonly<Record<string, string>> = { ":read-only": "default", ":workspace": "acceptEdits", ":danger-full-access": "bypassPermissions" };

/** Null = as the user's own settings say. */
export function modeOf(permissionMode: string | null): string | null {
  if (permissionMode === null) return null;
  return PROFILES[permissionMode] ?? MODES.find((mode) => mode === permissionMode) ?? null;
}

/** How the options are given to a program that starts. */
export function optionArgs({ model, thinking, permissionMode }: SessionOptions): string[] {
  const effort = effortOf(thinking);
  const mode = modeOf(permissionMode);
  return [
    ...(model === null || model === DEFAULT_MODEL ? [] : ["--model", model]),
    ...(effort === null ? [] : ["--effort", effort]),
    // The command line has another name for the default.
    ...(mode === null ? [] : ["--permission-mode", mode === "default" ? "manual" : mode]),
    // Without it the mode can be chosen at the start only, and here only who chose it has it.
    ...(mode === "bypassPermissions" ? ["--allow-dangerously-skip-permissions"] : []),
  ];
}

/** The same for a program that runs, one request for each. */
export function optionRequests({ model, thinking, permissionMode }: Partial<SessionOptions>): Frame[] {
  const effort = thinking === undefined ? null : effortOf(thinking);
  const mode = permissionMode === undefined ? null : (modeOf(permissionMode) ?? "default");
  return [
    ...(model === undefined ? [] : [{ subtype: "set_model", model: model ?? DEFAULT_MODEL }]),
    ...(effort === null ? [] : [{ subtype: "apply_flag_settings", settings: { effortLevel: effort } }]),
    ...(mode === null ? [] : [{ subtype: "set_permission_mode", mode }]),
  ];
}
