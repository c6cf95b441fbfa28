import { isJson } from "../refusal.ts";

export type MutableJson = Record<string, unknown>;

interface Place {
  readonly element: MutableJson;
  /** The list that it stands in, with its index; null for single places (a title, a button's text). */
  readonly list: unknown[] | null;
  readonly index: number;
  replace(element: MutableJson): void;
}

/** Where the element with this id stands in the card; undefined when there is none. */
export function findElement(card: MutableJson, id: string): Place | undefined {
  return search(card, id);
}

function search(holder: MutableJson | unknown[], id: string): Place | undefined {
  const entries: [number | string, unknown][] = Array.isArray(holder) ? [...holder.entries()] : Object.entries(holder);
  for (const [key, value] of entries) {
    if (typeof value !== "object" || value === null) continue;
    if (isJson(value) && typeof value["tag"] === "string" && value["element_id"] === id) {
      const place = Array.isArray(holder) ? { list: holder, index: Number(key) } : { list: null, index: -1 };
      return { element: value, ...place, replace: (element) => ((holder as MutableJson)[key] = element) };
    }
    const found = search(value as MutableJson | unknown[], id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Lays the change over the settings: objects are merged, everything else is replaced. */
export function mergeSettings(settings: MutableJson, change: MutableJson): void {
  for (const [name, value] of Object.entries(change)) {
    const old = settings[name];
    if (isJson(value) && isJson(old) && name !== "value") mergeSettings(old, value);
    else settings[name] = value;
  }
}
