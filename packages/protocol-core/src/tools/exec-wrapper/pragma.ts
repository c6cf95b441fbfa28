/** Settings of the first line `// @exec: {…}`, as the runtime accepts them. */
export interface ExecPragma {
  readonly yield_time_ms?: number;
  readonly max_output_tokens?: number;
}

export type Head =
  | { readonly ok: true; readonly pragma: ExecPragma | null; readonly code: string }
  | { readonly ok: false; readonly message: string };

const PREFIX = "// @exec:";
const KEYS: readonly string[] = ["yield_time_ms", "max_output_tokens"];

/**
 * Takes the pragma off a program. Codex 0.171: it must be the first line, begin exactly `// @exec:` after
 * optional blanks, and hold a JSON object of the two known keys; otherwise the whole call is refused.
 */
export function readPragma(source: string): Head {
  if (source.trim() === "") return { ok: false, message: "exec expects JavaScript source text" };
  const newline = source.indexOf("\n");
  const firstLine = newline === -1 ? source : source.slice(0, newline);
  if (!firstLine.trimStart().startsWith(PREFIX)) return { ok: true, pragma: null, code: source };
  const code = newline === -1 ? "" : source.slice(newline + 1);
  if (code.trim() === "") return { ok: false, message: "exec pragma must be followed by JavaScript source" };
  const directive = firstLine.trimStart().slice(PREFIX.length);
  // `5.0` and `1e3` are floating point to the runtime's JSON reader, which wants integers.
  if (/:\s*-?\d+[.eE]/.test(directive)) return { ok: false, message: "exec pragma values must be non-negative integers" };
  let value: unknown;
  try {
    value = JSON.parse(directive);
  } catch {
    return { ok: false, message: "exec pragma must be valid JSON" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { ok: false, message: "exec pragma must be a JSON object" };
  }
  const pragma: { yield_time_ms?: number; max_output_tokens?: number } = {};
  for (const [key, entry] of Object.entries(value) as [string, unknown][]) {
    if (!KEYS.includes(key)) return { ok: false, message: `exec pragma does not support \`${key}\`` };
    if (entry === null) continue;
    if (typeof entry !== "number" || !Number.isSafeInteger(entry) || entry < 0) {
      return { ok: false, message: `exec pragma \`${key}\` must be a non-negative integer` };
    }
    pragma[key as keyof ExecPragma] = entry;
  }
  return { ok: true, pragma, code };
}
