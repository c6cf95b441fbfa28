import { isJsonObject } from "@foldcast/protocol-core/wire";

/** A JSON object from outside: a line of a session file, or what an agent sent. Nothing is promised about any member. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** The object that a text holds; null when it is no JSON or no object. */
export function parseRecord(text: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function objectOf(value: unknown): JsonRecord {
  return isJsonObject(value) ? value : {};
}

/** The objects of an array; what is no object is left out. */
export function objectsOf(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A string that says something; null for an empty one. */
export function filledString(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function finiteNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** Whitespace of a text made single spaces, cut to `length` characters. */
export function firstWords(text: string, length: number): string {
  const words = text.slice(0, length * 8).replace(/\s+/g, " ").trim().slice(0, length);
  return words.replace(/[\ud800-\udbff]$/, "");
}

/** Deeper than any call's input; what is deeper could not be written out again. */
const MAX_DEPTH = 200;
const TOO_DEEP = "[nested too deeply to show]";

/** The record itself, or a copy in which a note stands for what is nested too deeply. */
export function withoutDepths(record: JsonRecord): JsonRecord {
  return isTooDeep(record, 0) ? (cutDepths(record, 0) as JsonRecord) : record;
}

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === MAX_DEPTH) return true;
  // Without a list of the members: this is asked of every line.
  for (const name in value) {
    const member = (value as JsonRecord)[name];
    if (typeof member === "object" && isTooDeep(member, depth + 1)) return true;
  }
  return false;
}

function cutDepths(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((member) => cutDepths(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutDepths(member, depth + 1)]));
}
