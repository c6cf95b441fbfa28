import type { CommandAction } from "../../wire/index.ts";
import type { CallArguments } from "../arguments.ts";
import { patchFromShell } from "../patch/index.ts";
import { baseName, resolvePath } from "../paths.ts";
import { type CallFacts, type CallReading, NO_FACTS } from "../reading.ts";
import { classifyArgv, classifyCommand, shlexJoin } from "../shell/index.ts";
import { shellScriptOf } from "../shell/wrapper.ts";
import type { ToolKind, ToolRule } from "../tool-map.ts";
import { commandFacts, kindOfActions } from "./command-facts.ts";
import { readPatchCall } from "./edits.ts";
import { writeNotation } from "./notation.ts";

/** A shell command. Null when the call does not say which. */
export function readCommandCall(call: CallArguments, rule: ToolRule | undefined, cwd: string): CallReading | null {
  const value = call.value("command") ?? call.text;
  const argv = isWordList(value) ? value : null;
  const command = argv === null ? value : (shellScriptOf(argv)?.script ?? shlexJoin(argv));
  if (typeof command !== "string" || command === "") return null;
  const ownDirectory = call.filled("cwd");
  const directory = ownDirectory === null ? cwd : resolvePath(cwd, ownDirectory);
  if (rule?.options?.["patchInShell"] === true) {
    const patch = patchFromShell(command);
    if (patch !== null) {
      const base = patch.workdir === null ? directory : resolvePath(directory, patch.workdir);
      return readPatchCall(patch.patch, base, cwd);
    }
  }
  const actions = argv === null ? classifyCommand(command, { cwd: directory }) : classifyArgv(argv, directory);
  return asCommand(command, ownDirectory, directory, actions, commandFacts(command, actions, call.filled("label")));
}

/** The reading of a command whose text is already plain, as of a bare item. */
export function asCommand(command: string, ownDirectory: string | null, directory: string, actions: CommandAction[], facts: CallFacts): CallReading {
  return {
    kind: kindOfActions(actions),
    canonicalName: "exec_command",
    canonicalArguments: ownDirectory === null ? { cmd: command } : { cmd: command, workdir: directory },
    as: { item: "command", command, cwd: ownDirectory === null ? null : directory, actions },
    facts,
  };
}

function isWordList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string");
}

/** A tool that looks into files by itself: shown as the command it stands for, in call notation. */
export function readLookCall(kind: ToolKind, name: string, call: CallArguments, rule: ToolRule | undefined, cwd: string): CallReading {
  const paths = pathsOf(call);
  const facts: CallFacts = {
    ...NO_FACTS,
    paths,
    query: kind === "search_files" ? call.filled("pattern") : null,
    pattern: kind === "list_files" ? call.filled("pattern") : kind === "search_files" ? call.filled("glob") : null,
    lines: kind === "read_file" ? lineRange(call, rule) : null,
  };
  const command = writeNotation(name, kind, facts, cwd);
  return {
    kind,
    canonicalName: kind,
    canonicalArguments: canonicalArguments(kind, facts, cwd),
    as: { item: "command", command, cwd: null, actions: lookActions(kind, command, facts, cwd) },
    facts,
  };
}

function lookActions(kind: ToolKind, command: string, facts: CallFacts, cwd: string): CommandAction[] {
  const paths = facts.paths.map((path) => resolvePath(cwd, path));
  const first = paths[0] ?? null;
  if (kind === "search_files") return [{ type: "search", command, query: facts.query, path: first }];
  if (kind === "list_files") return [{ type: "listFiles", command, path: first }];
  if (first === null) return [{ type: "unknown", command }];
  return paths.map((path) => ({ type: "read", command, name: baseName(path), path }));
}

function canonicalArguments(kind: ToolKind, facts: CallFacts, cwd: string): Record<string, unknown> {
  const path = facts.paths[0];
  const common = path === undefined ? {} : { path: resolvePath(cwd, path) };
  if (kind === "search_files") {
    return { ...(facts.query === null ? {} : { query: facts.query }), ...common, ...(facts.pattern === null ? {} : { glob: facts.pattern }) };
  }
  if (kind === "list_files") return { ...common, ...(facts.pattern === null ? {} : { pattern: facts.pattern }) };
  if (facts.lines === null) return common;
  const { first, last } = facts.lines;
  return { ...common, offset: first, ...(last === null ? {} : { limit: last - first + 1 }) };
}

export function pathsOf(call: CallArguments): string[] {
  const path = call.filled("path");
  if (path !== null) return [path];
  const list = call.list("paths") ?? call.list("path") ?? [];
  return list.filter((entry) => typeof entry === "string" && entry !== "") as string[];
}

/** The lines that a read asks for; null when it asks for the whole file or for a number of lines from the top. */
function lineRange(call: CallArguments, rule: ToolRule | undefined): CallFacts["lines"] {
  const range = call.list("range");
  if (range !== null) {
    const [from, to] = range;
    if (typeof from !== "number" || !Number.isSafeInteger(from) || from < 1) return null;
    return { first: from, last: typeof to === "number" && Number.isSafeInteger(to) && to >= from ? to : null };
  }
  const offset = call.integer("offset");
  const base = rule?.options?.["lineBase"] === 0 ? 1 : 0;
  const first = offset === null ? 1 : offset + base;
  if (first < 1) return null;
  const end = call.integer("last");
  if (end !== null && end + base >= first) return { first, last: end + base };
  const limit = call.integer("limit");
  if (limit !== null && limit > 0) return { first, last: first + limit - 1 };
  return offset === null || first === 1 ? null : { first, last: null };
}
