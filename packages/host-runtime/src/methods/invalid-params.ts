import type { z } from "zod";

type Issue = z.core.$ZodIssue;

const quoted = (names: readonly unknown[]): string[] => names.map((name) => `\`${String(name)}\``);

/** ``expected `a` or `b` `` / ``expected one of `a`, `b`, `c` ``, as serde lists the variants of an enum. */
export function unknownVariant(given: string, known: readonly unknown[]): string {
  const names = quoted(known);
  const expected = names.length > 2 ? `one of ${names.join(", ")}` : names.join(" or ");
  return `unknown variant \`${given}\`, expected ${expected}`;
}

/** A value as serde names it in `invalid type`. */
function nameOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(value)}`;
    case "number":
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
    case "boolean":
      return `boolean \`${value}\``;
    default:
      return Array.isArray(value) ? "sequence" : "map";
  }
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) value = typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  return value;
}

function isMissing(issue: Issue, params: unknown): boolean {
  return issue.path.length > 0 && valueAt(params, issue.path) === undefined;
}

/**
 * The text after `Invalid request: ` for parameters that do not fit, as Codex 0.171 (serde) words it. Type errors come
 * before missing fields, since serde meets them while it reads. The schemas' own messages say what was expected.
 */
export function describeIssues(issues: readonly Issue[], params: unknown): string {
  const issue = issues.find((each) => !isMissing(each, params)) ?? issues[0];
  if (issue === undefined) return "invalid params";
  const value = valueAt(params, issue.path);
  if (isMissing(issue, params)) return `missing field \`${String(issue.path.at(-1))}\``;
  switch (issue.code) {
    case "custom":
      return issue.message;
    case "invalid_value":
      return describeVariant(value, issue.values, issue.message);
    case "too_small":
    case "too_big":
      return `invalid value: ${nameOf(value)}, expected ${issue.message}`;
    case "invalid_union":
      return describeUnion(issue, value);
    default:
      return issue.message.startsWith("untagged enum")
        ? `data did not match any variant of ${issue.message}`
        : `invalid type: ${nameOf(value)}, expected ${issue.message}`;
  }
}

/** A value that is no variant of an enum; serde reads a map as the variant that its one member names. */
function describeVariant(value: unknown, known: readonly unknown[], expected: string): string {
  if (typeof value === "string") return unknownVariant(value, known);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `invalid type: ${nameOf(value)}, expected ${expected}`;
  const [name, ...others] = Object.keys(value);
  return name === undefined || others.length > 0 ? "invalid value: map, expected map with a single key" : unknownVariant(name, known);
}

function describeUnion(issue: Extract<Issue, { code: "invalid_union" }>, value: unknown): string {
  const options = (issue as { options?: readonly unknown[] }).options;
  if (options !== undefined && typeof value === "string") return unknownVariant(value, options);
  if (issue.message.startsWith("untagged enum")) return `data did not match any variant of ${issue.message}`;
  const variants = issue.errors.flat().find((each) => each.code === "invalid_value");
  if (variants !== undefined) return describeVariant(value, variants.values, issue.message);
  return `invalid type: ${nameOf(value)}, expected ${issue.message}`;
}
