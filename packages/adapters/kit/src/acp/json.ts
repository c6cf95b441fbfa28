import { isJsonObject } from "@foldcast/protocol-core/wire";

/** An object that an agent sent. Nothing is promised about any member: agents deviate from the schema, and from each other. */
export type AcpObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): AcpObject {
  return isJsonObject(value) ? value : {};
}

export function objectsOf(value: unknown): AcpObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A string that says something; null for an empty one. */
export function filledString(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
