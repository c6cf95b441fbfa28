import { finiteNumber, type JsonRecord, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";

/** JSON as it stands in a session file. Nothing is promised about any member. */
export type SessionRecord = JsonRecord;

/**
 * A member by its snake_case name; items were written in camelCase for a while (0.146).
 */
export function member(record: SessionRecord, name: string): unknown {
  return record[name] ?? record[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
}

/** The strings of an array; what is none is left out. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
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

/** The text that messages show of a list of content parts, in Codex's two spellings of `text`. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return objectsOf(content).flatMap((part) => stringOf(part["text"]) ?? []);
}
