const SECRET_NAME = /token|secret|password|passwd|authorization|api[-_]?key|cookie|credential/i;
const SECRET_TEXT = /(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}|\b(sk|xox[abp]|ghp|gho|glpat)[-_][A-Za-z0-9_-]{8,}|([?&](?:token|key|secret|password)=)[^&\s]+/gi;
const MARK = "[redacted]";
const MAX_DEPTH = 6;
const MAX_TEXT = 2_000;

/** The text without what looks like a credential, and cut to a length that a log can bear. */
export function redactText(text: string): string {
  const clean = text.replace(SECRET_TEXT, (match, scheme: string | undefined, _prefix, query: string | undefined) =>
    scheme !== undefined ? `${scheme} ${MARK}` : query !== undefined ? `${query}${MARK}` : MARK);
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}… (${clean.length} characters)` : clean;
}

/** A copy of a log field that holds no secret: members by name, texts by their look. Errors become plain objects. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" || typeof value === "function" ? String(value) : value;
  if (depth >= MAX_DEPTH) return "…";
  if (value instanceof Error) {
    return { type: value.name, message: redactText(value.message), stack: redactText(value.stack ?? ""), ...(value.cause === undefined ? {} : { cause: redact(value.cause, depth + 1) }) };
  }
  if (Array.isArray(value)) return value.slice(0, 50).map((each) => redact(each, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, SECRET_NAME.test(name) && each != null && typeof each !== "number" ? MARK : redact(each, depth + 1)]));
}
