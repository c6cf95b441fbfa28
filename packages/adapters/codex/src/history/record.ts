import { isJsonObject } from "@foldcast/protocol-core/wire";

/** JSON as it stands in a session file. Nothing is promised about any member. */
export type SessionRecord = Readonly<Record<string, unknown>>;

export function parseRecord(text: string): SessionRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Deeper than any call's input; what is deeper could not be written out again. */
const MAX_DEPTH = 200;
const TOO_DEEP = "[nested too deeply to show]";

/** The record itself, or a copy in which a note stands for what is nested too deeply. */
export function withoutDepths(record: SessionRecord): SessionRecord {
  return isTooDeep(record, 0) ? (cutDepths(record, 0) as SessionRecord) : record;
}

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === MAX_DEPTH) return true;
  for (const member of Object.values(value)) if (typeof member === "object" && isTooDeep(member, depth + 1)) return true;
  return false;
}

function cutDepths(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((member) => cutDepths(member, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutDepths(member, depth + 1)]));
}

/**
 * A member by its snake_case name; items were written in camelCase for a while (0.146).
 */
export function member(record: SessionRecord, name: string): unknown {
  return record[name] ?? record[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
}

export function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A string that says something; null for an empty one. */
export function filledString(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function objectOf(value: unknown): SessionRecord {
  return isJsonObject(value) ? value : {};
}

/** The objects of an array; what is no object is left out. */
export function objectsOf(value: unknown): SessionRecord[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The strings of an array; what is none is left out. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

export function finiteNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Milliseconds of a duration `{secs, nanos}`, as Rust writes it. */
export function durationOf(value: unknown): number | null {
  const { secs, nanos } = objectOf(value);
  return typeof secs === "number" && typeof nanos === "number" ? Math.floor(secs * 1000 + nanos / 1e6) : null;
}

/** Unix milliseconds of an ISO time; null when there is none. */
export function isoTime(value: unknown): number | null {
  if (typeof value !== "string") return null;
  const time = Date.parse(value);
  return Number.isFinite(time) ? time : null;
}

/** Unix milliseconds of Unix seconds. */
export function secondsTime(value: unknown): number | null {
  const seconds = finiteNumber(value);
  return seconds === null || seconds <= 0 ? null : seconds * 1000;
}

/** Whitespace of a text made single spaces, cut to `length` characters. */
export function firstWords(text: string, length: number): string {
  const words = text.slice(0, length * 8).replace(/\s+/g, " ").trim().slice(0, length);
  return words.replace(/[\ud800-\udbff]$/, "");
}

/** The text that messages show of a list of content parts, in Codex's two spellings of `text`. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return objectsOf(content).flatMap((part) => stringOf(part["text"]) ?? []);
}
