import { isJsonObject } from "../wire/json.ts";
import type { ToolRule } from "./tool-map.ts";

/** Usual raw names of a canonical argument, best first; a rule's own `fields` come before them. */
const COMMON_FIELDS: Readonly<Record<string, readonly string[]>> = {
  command: ["command", "cmd", "script"],
  cwd: ["cwd", "workdir", "working_dir"],
  path: [
    "file_path", "path", "filePath", "target_file", "absolute_path", "notebook_path", "target_directory", "dir_path",
    "directory", "dir",
  ],
  paths: ["paths", "file_paths"],
  offset: ["offset", "line_offset", "start_line"],
  limit: ["limit", "n_lines"],
  last: ["end_line"],
  range: ["view_range"],
  pattern: ["pattern", "query", "regex"],
  glob: ["glob", "include"],
  old: ["old_string", "oldString", "old_str", "oldText", "old_text"],
  new: ["new_string", "newString", "new_str", "newText", "new_text", "new_source"],
  content: ["content", "file_text", "contents", "text"],
  edits: ["edits"],
  mode: ["mode", "edit_mode"],
  patch: ["patch", "input", "patchText"],
  query: ["query", "search_query", "q"],
  url: ["url", "uri"],
  target: ["task_id", "cell_id", "session_id", "bash_id", "shell_id", "process_id", "taskId", "shellId", "id"],
  prompt: ["prompt", "message", "task"],
  label: ["description", "label", "name"],
  plan: ["todos", "plan", "items", "tasks", "entries"],
  question: ["question", "questions"],
};

const MAX_PARSED_INPUT = 8_000_000;

/** The named arguments of one call, read through its rule. Never throws, whatever the input is. */
export class CallArguments {
  /** The input as an object; empty when it is not one. */
  readonly object: Readonly<Record<string, unknown>>;
  /** The input as free text; null when it is an object, or JSON of one, be it cut off. */
  readonly text: string | null;
  readonly #fields: ToolRule["fields"];

  constructor(input: unknown, rule: ToolRule | undefined) {
    const object = typeof input === "string" ? parseObject(input) : input;
    this.object = isJsonObject(object) ? object : {};
    this.text = typeof input === "string" && object === null && !/^\s*\{\s*"/.test(input) ? input : null;
    this.#fields = rule?.fields;
  }

  /** First candidate field that is present and not null. */
  value(name: string): unknown {
    const own = this.#fields?.[name];
    if (typeof own === "string") {
      const found = reach(this.object, own);
      if (found !== undefined && found !== null) return found;
    } else if (own !== undefined) {
      for (const field of own) {
        const found = reach(this.object, field);
        if (found !== undefined && found !== null) return found;
      }
    }
    const common = COMMON_FIELDS[name];
    if (common === undefined) return this.object[name] ?? undefined;
    for (const field of common) {
      const found = this.object[field];
      if (found !== undefined && found !== null) return found;
    }
    return undefined;
  }

  string(name: string): string | null {
    const value = this.value(name);
    return typeof value === "string" ? value : null;
  }

  /** As `string`, with the empty string taken for absent. */
  filled(name: string): string | null {
    const value = this.string(name);
    return value === null || value === "" ? null : value;
  }

  /** A whole number, also when the model wrote it as a string. */
  integer(name: string): number | null {
    const value = this.value(name);
    const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
    return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
  }

  list(name: string): readonly unknown[] | null {
    const value = this.value(name);
    if (Array.isArray(value)) return value as unknown[];
    // Some models write an array argument as its JSON text.
    if (typeof value !== "string" || !value.trimStart().startsWith("[") || value.length > MAX_PARSED_INPUT) return null;
    const parsed = parseJson(value);
    return Array.isArray(parsed) ? (parsed as unknown[]) : null;
  }
}

function reach(object: Readonly<Record<string, unknown>>, field: string): unknown {
  const direct = object[field];
  if (direct !== undefined || !field.includes(".")) return direct;
  let value: unknown = object;
  for (const part of field.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  if (text.length > MAX_PARSED_INPUT || !/^\s*\{/.test(text)) return null;
  const parsed = parseJson(text);
  return isJsonObject(parsed) ? parsed : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
