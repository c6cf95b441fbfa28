import type { CommandAction } from "./action.ts";
import { type Finder, type Finding, UNKNOWN } from "./findings.ts";
import { isFormatting } from "./formatting.ts";
import { gitListing, isPython, LISTING_COMMANDS, pythonListing } from "./listing.ts";
import { displayName, joinDirectory, resolvePath, samePath } from "./paths.ts";
import { getContent, READING_COMMANDS } from "./reading.ts";
import { parseFlatScript } from "./script.ts";
import { grepFrom, SEARCHING_COMMANDS } from "./searching.ts";
import { shlexJoin, shlexSplit } from "./shlex.ts";
import { isConnector, isDashed } from "./words.ts";
import { shellScriptOf } from "./wrapper.ts";

type Known = Exclude<Finding, { type: "unknown" }>;

/** A finding that stays in the result; a read carries its path from the virtual directory on. */
interface Kept {
  finding: Known;
  words: readonly string[];
  path: string;
}

/** PATH_MAX of Linux: no shell gets deeper, and many reads from a huge directory would multiply its length. */
const MAX_DIRECTORY_LENGTH = 4096;

const COMMANDS: ReadonlyMap<string, Finder> = new Map(
  Object.entries({ ...LISTING_COMMANDS, ...SEARCHING_COMMANDS, ...READING_COMMANDS, git }),
);

/**
 * Actions of a script as handed to a POSIX shell (`<shell> -lc <script>`), as Codex 0.171 reports them.
 * Either every command is understood, or the answer is one `unknown` with the whole script; a script that
 * does nothing but change directory has no actions. `cwd` is the absolute directory the script starts in.
 */
export function classifyCommand(script: string, options: { cwd: string }): CommandAction[] {
  const unknown: CommandAction[] = [{ type: "unknown", command: script }];
  const commands = parseFlatScript(script);
  if (commands === null) return unknown;
  const main = commands.filter((words) => !isFormatting(words));
  if (main.length === 0) return unknown;
  const kept = keepTelling(main, true);
  if (kept === null) return unknown;
  const only = kept.length === 1 ? kept[0] : undefined;
  const text = only === undefined ? null : singleText(script, only, commands.length);
  return toActions(kept, options.cwd, text);
}

/**
 * Actions of an argument vector: the script of a shell wrapper, or the words of a plain command, where words
 * that spell a connector separate commands (older rollouts split such strings themselves).
 */
export function classifyArgv(argv: readonly string[], cwd: string): CommandAction[] {
  const wrapped = shellScriptOf(argv);
  if (wrapped?.dialect === "posix") return classifyCommand(wrapped.script, { cwd });
  if (wrapped !== null) return [{ type: "unknown", command: wrapped.script }];
  const kept = keepTelling(splitAtConnectors(withoutPromptAnswer(argv)), false);
  return kept === null ? [{ type: "unknown", command: shlexJoin(argv) }] : toActions(kept, cwd, null);
}

/**
 * Follows `cd`, drops what tells nothing (`true`, a leading `echo`, `nl` as a filter) and returns the rest;
 * null as soon as a command is left that is not understood.
 */
function keepTelling(commands: readonly (readonly string[])[], isScript: boolean): Kept[] | null {
  const kept: Kept[] = [];
  let directory: string | null = null;
  let summarized = 0;
  let trues = 0;
  for (const words of commands) {
    const name = words[0] ?? "";
    if (name === "cd") {
      const target = directoryTarget(words);
      if (target !== undefined) directory = joinDirectory(directory, target);
      if (directory !== null && directory.length > MAX_DIRECTORY_LENGTH) return null;
      continue;
    }
    summarized++;
    const finding = findingOf(name, words);
    if (finding.type !== "unknown") {
      const path = finding.type === "read" ? joinDirectory(directory, finding.operand) : "";
      kept.push({ finding, words, path });
    } else if (name === "true" && words.length === 1) trues++;
    else if (name === "echo" && kept.length === 0) continue;
    else if (name !== "nl" || !words.every((word, index) => index === 0 || isDashed(word))) return null;
  }
  if (kept.length > 0 || summarized === 0) return kept;
  // Codex drops every `true` at once from a script of several commands, but never the last of an argv.
  return isScript && summarized > 1 && trues === summarized ? kept : null;
}

function findingOf(name: string, words: readonly string[]): Finding {
  const finder = COMMANDS.get(name);
  if (finder !== undefined) return finder(words);
  if (isPython(name)) return pythonListing(words);
  if (name.length === 11 && name.toLowerCase() === "get-content") return getContent(words);
  return UNKNOWN;
}

function git(words: readonly string[]): Finding {
  if (words[1] === "grep") return grepFrom(words, 2);
  return words[1] === "ls-files" ? gitListing(words) : UNKNOWN;
}

/** Where `cd` goes: the last operand, or whatever follows `--`; undefined when it stays. */
function directoryTarget(words: readonly string[]): string | undefined {
  let target: string | undefined;
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return words[index + 1];
    if (!isDashed(word)) target = word;
  }
  return target;
}

/**
 * Text of the only action left. A lone command shows the script with its quoting normalised; a pipeline
 * that ends up as one read through `sed -n` shows the script itself. Null leaves the command's own words.
 */
function singleText(script: string, only: Kept, commandCount: number): string | null {
  if (commandCount > 1 && only.finding.type !== "read") return null;
  if (commandCount > 1 && !(script.includes("|") && script.includes("sed"))) return null;
  const tokens = shlexSplit(script) ?? [script];
  if (commandCount === 1 && !tokens.some(isConnector)) return shlexJoin(tokens);
  const isSedPipe =
    tokens.includes("|") && tokens.some((token, index) => token === "sed" && tokens[index + 1] === "-n");
  return only.finding.type === "read" && isSedPipe ? script : null;
}

function toActions(kept: readonly Kept[], cwd: string, singleCommand: string | null): CommandAction[] {
  const actions: CommandAction[] = [];
  let previous: Kept | undefined;
  let previousText = "";
  for (const entry of kept) {
    const command = singleCommand ?? shlexJoin(entry.words);
    // The same text means the same finding, except for a read from another directory.
    const repeated = previous !== undefined && command === previousText && samePath(previous.path, entry.path);
    previous = entry;
    previousText = command;
    if (!repeated) actions.push(toAction(entry, command, cwd));
  }
  return actions;
}

function toAction({ finding, path }: Kept, command: string, cwd: string): CommandAction {
  switch (finding.type) {
    case "read":
      return { type: "read", command, name: displayName(finding.operand), path: resolvePath(cwd, path) };
    case "listFiles":
      return { type: "listFiles", command, path: finding.path };
    case "search":
      return { type: "search", command, query: finding.query, path: finding.path };
  }
}

function withoutPromptAnswer(argv: readonly string[]): readonly string[] {
  const answers = argv[0] === "yes" || argv[0] === "y" || argv[0] === "no" || argv[0] === "n";
  return answers && argv[1] === "|" ? argv.slice(2) : argv;
}

function splitAtConnectors(words: readonly string[]): string[][] {
  const commands: string[][] = [];
  let current: string[] = [];
  for (const word of words) {
    if (!isConnector(word)) current.push(word);
    else if (current.length > 0) {
      commands.push(current);
      current = [];
    }
  }
  if (current.length > 0 || commands.length === 0) commands.push(current);
  return commands;
}
