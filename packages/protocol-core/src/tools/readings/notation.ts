import { displayPath } from "../paths.ts";
import { type CallFacts, type LineRange, NO_FACTS } from "../reading.ts";
import type { ToolKind } from "../tool-map.ts";

/** The call of a looking tool in words that no shell would take: `Read(src/app.ts, lines 1-120)`, `Grep("foo", src/)`. */
export function writeNotation(name: string, kind: ToolKind, facts: CallFacts, cwd: string): string {
  const parts: string[] = [];
  if (facts.query !== null) parts.push(JSON.stringify(facts.query));
  if (kind === "list_files" && facts.pattern !== null) parts.push(facts.pattern);
  for (const path of facts.paths) parts.push(displayPath(cwd, path));
  if (kind === "search_files" && facts.pattern !== null) parts.push(facts.pattern);
  if (facts.lines !== null) parts.push(`lines ${facts.lines.first}-${facts.lines.last ?? ""}`);
  return `${name}(${parts.join(", ")})`;
}

const NOTATION = /^[A-Za-z_][\w.-]*\((.*)\)$/s;
const LINES = /(?:^|, )lines (\d{1,15})-(\d{0,15})$/;
const QUERY = /^"(?:[^"\\]|\\.)*"/s;

/**
 * The facts behind a notation, given what the item's action says; null when the command is none. Paths come back as
 * they were written.
 */
export function readNotation(kind: ToolKind, command: string, hasPath: boolean): CallFacts | null {
  let rest = NOTATION.exec(command)?.[1];
  if (rest === undefined) return null;
  let query: string | null = null;
  let lines: LineRange | null = null;
  if (kind === "search_files") {
    const literal = QUERY.exec(rest)?.[0];
    if (literal !== undefined) {
      query = parseText(literal);
      rest = rest.slice(literal.length).replace(/^, /, "");
    }
  } else if (kind === "read_file") {
    const range = LINES.exec(rest);
    if (range !== null) {
      lines = { first: Number(range[1]), last: range[2] === "" ? null : Number(range[2]) };
      rest = rest.slice(0, range.index);
    }
  }
  const parts = rest === "" ? [] : rest.split(", ");
  if (kind === "read_file") return { ...NO_FACTS, paths: parts, lines };
  if (!hasPath) return { ...NO_FACTS, query, pattern: parts.length === 0 ? null : rest };
  if (kind === "list_files") {
    return { ...NO_FACTS, paths: parts.slice(-1), pattern: parts.length > 1 ? parts.slice(0, -1).join(", ") : null };
  }
  return { ...NO_FACTS, query, paths: parts.slice(0, 1), pattern: parts.length > 1 ? parts.slice(1).join(", ") : null };
}

function parseText(literal: string): string | null {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
