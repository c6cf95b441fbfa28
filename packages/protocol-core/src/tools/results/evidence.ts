import { isJsonObject } from "../../wire/json.ts";
import type { CallReading } from "../reading.ts";

/** Countable facts of a result; null = not known. Never a repetition of what the call itself says. */
export interface ToolEvidence {
  /** Lines of a file that was read. */
  lines: number | null;
  /** Hits of a search. */
  hits: number | null;
  /** Files found. */
  files: number | null;
  /** Sources of a web search. */
  sources: number | null;
  /** True when the searched path proved to be a directory. */
  directory: boolean;
  exitCode: number | null;
  durationMs: number | null;
  truncated: boolean;
}

export const NO_EVIDENCE: ToolEvidence = {
  lines: null, hits: null, files: null, sources: null, directory: false, exitCode: null, durationMs: null, truncated: false,
};

/** Text that is measured at most; a longer output gives no counts, since a part of it would give wrong ones. */
const MAX_MEASURED = 1_048_576;

/** What a successful look at files found, from the harness's structured result, else from the text. */
export function measureLook(reading: CallReading, structured: unknown, output: string | null): Partial<ToolEvidence> {
  const told = isJsonObject(structured) ? fromStructured(reading, structured) : null;
  const text = output !== null && output.length <= MAX_MEASURED ? output : null;
  switch (reading.kind) {
    case "read_file":
      // An empty text from a tool that reads files itself may stand for a picture.
      if (told !== null) return told;
      if (text === null || reading.facts.paths.length > 1 || (text === "" && reading.facts.command === null)) return {};
      return { lines: countReadLines(text) };
    case "search_files": {
      const found = told ?? (text === null ? {} : countHits(reading, text));
      return text === null ? found : { ...found, directory: provesDirectory(reading.facts.paths[0], text) };
    }
    case "list_files":
      return told ?? (text === null ? {} : countFiles(reading, text));
    default:
      return {};
  }
}

/** Structured results of Claude Code's Read, Grep and Glob; null when the object is none of them. */
function fromStructured(reading: CallReading, result: Readonly<Record<string, unknown>>): Partial<ToolEvidence> | null {
  if (reading.kind === "read_file") {
    const file = result["file"];
    if (!isJsonObject(file)) return null;
    const content = file["content"];
    if (typeof content === "string" && content.length <= MAX_MEASURED) return { lines: countLines(content) };
    const lines = count(file["numLines"]);
    return lines === null ? null : { lines };
  }
  const truncated = result["truncated"] === true;
  const files = count(result["numFiles"]);
  if (reading.kind === "list_files") return files === null ? null : { files, truncated };
  const mode = result["mode"];
  if (mode === "content") {
    const hits = count(result["numLines"]);
    return hits === null ? null : { hits };
  }
  if (mode === "count") {
    const hits = count(result["numMatches"]);
    return hits === null ? null : { hits };
  }
  return files === null ? null : { files };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Lines of a text; a final newline ends the last line and begins none. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) lines += 1;
  return lines;
}

const NUMBERED = /^(?:content:)?\s*\d+(?:→|\t|: |\|)/;

/** Tools that read files often number the lines and add words of their own around them: then only those count. */
function countReadLines(text: string): number | null {
  let numbered = 0;
  let plain = 0;
  let lastNumbered = "";
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + 40));
    if (NUMBERED.test(line)) {
      numbered += 1;
      lastNumbered = line;
    } else {
      plain += 1;
      if (numbered === 0 && plain > 8) return countLines(text);
    }
    start = end + 1;
  }
  if (numbered === 0) return plain;
  // A file's final newline shows up as one more numbered line with nothing in it.
  return /\d+(?:→|\t|: |\|)$/.test(lastNumbered) && numbered > 1 ? numbered - 1 : numbered;
}

const TOLD_HITS = /\bfound (\d{1,9}) (?:total )?(?:match|matches|matching lines?|results?|occurrences?)\b/i;
const TOLD_FILES = /\bfound (\d{1,9}) (?:matching )?files?\b/i;
const TOLD_NONE = /^\s*no (?:matches|files|results|matching files)\b[^\n]*found\b|^\s*no (?:matches|files|results) found\b/i;

function countHits(reading: CallReading, text: string): Partial<ToolEvidence> {
  if (TOLD_NONE.test(text.slice(0, 200))) return { hits: 0 };
  const head = text.slice(0, 400);
  const command = reading.facts.command;
  if (command === null) {
    const told = TOLD_HITS.exec(head);
    if (told !== null) return { hits: Number(told[1]) };
    const files = TOLD_FILES.exec(head);
    if (files !== null) return { files: Number(files[1]) };
    const hits = countMatching(text, /^[^\n]{1,400}?:\d+[:-]/);
    return hits === null ? {} : { hits };
  }
  // A formatting command behind a pipe (`| head`, `| wc -l`) changes what the lines mean, as context and counts do.
  if (command.includes("|") || UNCOUNTABLE.test(command)) return {};
  return NAMING.test(command) ? { files: countFilled(text) } : { hits: countFilled(text) };
}

const UNCOUNTABLE = /\s(?:-[A-Za-z]*[ABCc]|--(?:\w+-)?context|--count|--json)/;
const NAMING = /^(?:fd|find)\s|\s(?:-[A-Za-z]*l|--files-with)/;

function countFiles(reading: CallReading, text: string): Partial<ToolEvidence> {
  const head = text.slice(0, 400);
  if (TOLD_NONE.test(head)) return { files: 0 };
  const told = TOLD_FILES.exec(head) ?? TOLD_HITS.exec(head);
  if (told !== null) return { files: Number(told[1]) };
  const command = reading.facts.command;
  if (command === null) {
    if (reading.facts.pattern === null) return {};
    const files = countMatching(text, /^[^\s:][^:\n]{0,400}$/);
    return files === null ? {} : { files };
  }
  return !command.includes("|") && /^(?:rg (?:.* )?--files\b|git ls-files\b|find .*-type f\b)/.test(command) ? { files: countFilled(text) } : {};
}

function countFilled(text: string): number {
  let filled = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (text.slice(start, end).trim() !== "" && text.slice(start, end) !== "--") filled += 1;
    start = end + 1;
  }
  return filled;
}

/** Number of lines, when every filled line has the form; null when one has not. */
function countMatching(text: string, form: RegExp): number | null {
  let matching = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, end);
    if (line.trim() !== "") {
      if (!form.test(line.slice(0, 500))) return null;
      matching += 1;
    }
    start = end + 1;
  }
  return matching;
}

/** A hit below the searched path shows that the path is a directory. */
function provesDirectory(path: string | undefined, text: string): boolean {
  if (path === undefined || path.endsWith("/")) return false;
  const inside = `${path.replace(/^\.\//, "")}/`;
  return text.startsWith(inside) || text.startsWith(`./${inside}`) || text.includes(`\n${inside}`);
}
