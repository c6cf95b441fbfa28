/**
 * What one part of a shell command does, in the wire shape of `commandExecution.commandActions`
 * (Codex 0.171). `command` is display text, not something to run; the `path` of a read is absolute,
 * the `path` of the other two is a short name for display.
 */
export type CommandAction =
  | { type: "read"; command: string; name: string; path: string }
  | { type: "listFiles"; command: string; path: string | null }
  | { type: "search"; command: string; query: string | null; path: string | null }
  | { type: "unknown"; command: string };
