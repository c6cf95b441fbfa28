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
export function commandFacts(command: string, actions: readonly CommandAction[]): CallFacts {
  const kind = kindOfActions(actions);
  const first = actions[0];
  if (first === undefined || kind === "run_command") return { ...NO_FACTS, command };
  const facts = { ...NO_FACTS, command };
  if (kind === "read_file") {
    const paths = actions.map((action) => (action.type === "read" ? action.path : ""));
    return { ...facts, paths: [...new Set(paths)], lines: actions.length === 1 ? printedLines(first.command) : null };
  }
  if (first.type === "search") return { ...facts, query: first.query, paths: operand(first, first.query) };
  return { ...facts, paths: first.type === "listFiles" ? operand(first, null) : [] };
}

function operand(action: { command: string; path: string | null }, query: string | null): string[] {
  const short = action.path;
  if (short === null || short === "") return [];
  const words = shlexSplit(action.command) ?? [];
  let queries = query === null ? 0 : 1;
  for (let index = 1; index < words.length; index++) {
    const word = words[index]!;
    if (word === query && queries-- > 0) continue;
    if (word === short || lastNamed(word) === short) return [word];
  }
  return [short];
}

function lastNamed(word: string): string {
  const parts = word.replaceAll("\\", "/").split("/");
  for (let index = parts.length - 1; index >= 0; index--) {
    const part = parts[index]!;
    if (part !== "" && part !== "build" && part !== "dist" && part !== "node_modules" && part !== "src") return part;
  }
  return word.replace(/\/+$/, "");
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
