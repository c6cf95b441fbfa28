import type { Finder, Finding } from "./findings.ts";
import { displayName } from "./paths.ts";
import { bareOperandsOf, connectorIndex, isDashed, type ValueFlags } from "./words.ts";

// The lists are those of Codex 0.171, gaps included: a flag missing here leaves its value to be the query.
const RIPGREP_VALUE_FLAGS: ValueFlags = new Set([
  ...["-g", "--glob", "--iglob", "-t", "--type", "--type-add", "--type-not", "-m", "--max-count"],
  ...["-A", "-B", "-C", "--context", "--max-depth"],
]);
const AG_VALUE_FLAGS: ValueFlags = new Set([
  "-G",
  "-g",
  "--file-search-regex",
  "--ignore-dir",
  "--ignore-file",
  "--path-to-ignore",
]);
const FD_VALUE_FLAGS: ValueFlags = new Set(["-t", "--type", "-e", "--extension", "-E", "--exclude", "--search-path"]);
const GREP_PATTERN_FLAGS: ValueFlags = new Set(["-e", "--regexp", "-f", "--file"]);
const GREP_VALUE_FLAGS: ValueFlags = new Set([
  ...["-m", "--max-count", "-C", "--context", "-A", "--after-context", "-B", "--before-context"],
]);
const FIND_QUERY_FLAGS: ReadonlySet<string> = new Set(["-name", "-iname", "-path", "-regex"]);
const FIND_OPERATORS: ReadonlySet<string> = new Set(["!", "(", ")"]);

/** Commands that search in files or for files, by name (Codex 0.171 behaviour). Paths are shortened, queries never. */
export const SEARCHING_COMMANDS: Readonly<Record<string, Finder>> = {
  rg: ripgrep,
  rga: ripgrep,
  "ripgrep-all": ripgrep,
  grep: (words) => grepFrom(words, 1),
  egrep: (words) => grepFrom(words, 1),
  fgrep: (words) => grepFrom(words, 1),
  ag,
  ack: ag,
  pt: ag,
  fd,
  find,
};

/** A grep whose arguments begin at `words[from]`; also serves `git grep`. */
export function grepFrom(words: readonly string[], from: number): Finding {
  const end = connectorIndex(words, from);
  const operands: string[] = [];
  let pattern: string | undefined;
  let flagsEnded = false;
  for (let index = from; index < end; index++) {
    const word = words[index] ?? "";
    if (flagsEnded || !isDashed(word)) operands.push(word);
    else if (word === "--") flagsEnded = true;
    else if (GREP_PATTERN_FLAGS.has(word)) {
      index++;
      if (index < end) pattern ??= words[index];
    } else if (GREP_VALUE_FLAGS.has(word)) index++;
  }
  return pattern === undefined ? search(operands[0], operands[1]) : search(pattern, operands[0]);
}

function ripgrep(words: readonly string[]): Finding {
  const operands = bareOperandsOf(words, 1, RIPGREP_VALUE_FLAGS);
  // Even behind `--`, where ripgrep itself would take it for the pattern.
  const filesFlag = words.indexOf("--files", 1);
  if (filesFlag !== -1 && filesFlag < connectorIndex(words, 1)) return listing(operands[0]);
  return search(operands[0], operands[1]);
}

function ag(words: readonly string[]): Finding {
  const operands = bareOperandsOf(words, 1, AG_VALUE_FLAGS);
  return search(operands[0], operands[1]);
}

function fd(words: readonly string[]): Finding {
  const [first, second] = bareOperandsOf(words, 1, FD_VALUE_FLAGS);
  if (first === undefined) return listing(undefined);
  if (second === undefined && looksLikePath(first)) return listing(first);
  return search(first, second);
}

function find(words: readonly string[]): Finding {
  const end = connectorIndex(words, 1);
  let path: string | undefined;
  let query: string | undefined;
  let queryFlagSeen = false;
  for (let index = 1; index < end; index++) {
    const word = words[index] ?? "";
    // Any first bare word is the path, even one that is really the value of a test.
    if (path === undefined && !isDashed(word) && !FIND_OPERATORS.has(word)) path = word;
    if (!queryFlagSeen && FIND_QUERY_FLAGS.has(word)) {
      queryFlagSeen = true;
      if (index + 1 < end) query = words[index + 1];
    }
  }
  return query === undefined ? listing(path) : search(query, path);
}

function looksLikePath(word: string): boolean {
  return word === "." || word === ".." || word.includes("/") || word.includes("\\");
}

function listing(path: string | undefined): Finding {
  return { type: "listFiles", path: path === undefined ? null : displayName(path) };
}

function search(query: string | undefined, path: string | undefined): Finding {
  return { type: "search", query: query ?? null, path: path === undefined ? null : displayName(path) };
}
