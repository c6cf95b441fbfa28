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

export function finiteNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
