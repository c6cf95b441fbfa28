const MAX_DEPTH = 6;
const MAX_MEMBERS = 50;

/**
 * What a value is made of, with nothing of what it says: names of members, types and lengths. For looking into what
 * another program sent where its content must not get into a log.
 */
export function shapeOf(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return `string(${value.length})`;
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (depth >= MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((each) => shapeOf(each, depth + 1));
  return Object.fromEntries(Object.entries(value).slice(0, MAX_MEMBERS).map(([name, each]) => [name, shapeOf(each, depth + 1)]));
}
