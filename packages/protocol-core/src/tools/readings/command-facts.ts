import type { CommandAction } from "../../wire/index.ts";
import { type CallFacts, NO_FACTS } from "../reading.ts";
import { shlexSplit } from "../shell/index.ts";
import type { ToolKind } from "../tool-map.ts";

/** A command that only looks at files is what it looks for; anything else runs. */
export function kindOfActions(actions: readonly CommandAction[]): ToolKind {
  const first = actions[0]?.type;
  if (first === undefined || first === "unknown") return "run_command";
  for (const action of actions) if (action.type !== first) return "run_command";
  return first === "read" ? "read_file" : first === "search" ? "search_files" : "list_files";
}

/** What a classified command is about. Actions carry short names; the words of the command carry the paths. */
export function commandFacts(command: string, actions: readonly CommandAction[], label: string | null): CallFacts {
  const first = actions[0];
  const kind = kindOfActions(actions);
  let paths: readonly string[] = NO_FACTS.paths;
  let query: string | null = null;
  let lines: CallFacts["lines"] = null;
  if (first !== undefined && kind !== "run_command") {
    if (first.type === "read") {
      paths = readPaths(actions);
      if (actions.length === 1) lines = printedLines(first.command);
    } else if (first.type === "search") {
      query = first.query;
      paths = operand(first.command, first.path, query);
    } else if (first.type === "listFiles") paths = operand(first.command, first.path, null);
  }
  return { command, paths, query, pattern: null, lines, url: null, tool: null, label };
}

function readPaths(actions: readonly CommandAction[]): readonly string[] {
  const first = actions[0];
  if (actions.length === 1 && first?.type === "read") return [first.path];
  return [...new Set(actions.flatMap((action) => (action.type === "read" ? [action.path] : [])))];
}

function operand(command: string, short: string | null, query: string | null): readonly string[] {
  if (short === null || short === "") return NO_FACTS.paths;
  const words = shlexSplit(command) ?? [];
  let isQueryOpen = query !== null;
  for (let index = 1; index < words.length; index++) {
    const word = words[index]!;
    if (isQueryOpen && word === query) isQueryOpen = false;
    else if (word.includes(short) && (word === short || lastNamed(word) === short)) return [word];
  }
  return [short];
}

const UNNAMED: ReadonlySet<string> = new Set(["", "build", "dist", "node_modules", "src"]);

/** The component of a path that Codex takes for its name. */
function lastNamed(word: string): string {
  let end = word.length;
  while (end > 0) {
    const start = Math.max(word.lastIndexOf("/", end - 1), word.lastIndexOf("\\", end - 1));
    const part = word.slice(start + 1, end);
    if (!UNNAMED.has(part)) return part;
    end = start;
  }
  return word.replace(/[\\/]+$/, "");
}

const SED_RANGE = /(?:^|\s)'?(\d{1,9})(?:,(\d{1,9}))?p'?(?:\s|$)/;
const HEAD_LINES = /^head -n ?(\d{1,9})(?:\s|$)/;

/** Lines that `sed -n 1,120p` or `head -n 20` prints. */
function printedLines(command: string): CallFacts["lines"] {
  if (command.startsWith("sed ") || command.includes("sed -n")) {
    const range = SED_RANGE.exec(command);
    if (range === null) return null;
    const first = Number(range[1]);
    const last = range[2] === undefined ? first : Number(range[2]);
    return first >= 1 && last >= first ? { first, last } : null;
  }
  const head = HEAD_LINES.exec(command);
  const last = head === null ? 0 : Number(head[1]);
  return last >= 1 ? { first: 1, last } : null;
}
