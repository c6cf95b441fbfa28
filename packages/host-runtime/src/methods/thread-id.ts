import { invalidRequest } from "@foldcast/protocol-core/wire";
import type { WireError } from "@foldcast/protocol-core/wire";

const GROUPS = [8, 4, 4, 4, 12];

/**
 * A thread id in its canonical form, or the real server's own complaint (the texts are those of its UUID parser).
 * `what` is `session id` for the few requests that call it so.
 */
export function parseThreadId(given: string, what = "thread id"): string {
  // Measured: the real server takes the form in braces for the same thread, too.
  const inner = /^\{(.*)\}$/s.exec(given)?.[1] ?? given;
  const text = inner.startsWith("urn:uuid:") ? inner.slice("urn:uuid:".length) : inner;
  const bad = /[^0-9a-fA-F-]/u.exec(text);
  if (bad !== null) {
    throw fail(what, `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${bad[0]}\` at ${bad.index + 1}`);
  }
  const groups = text.split("-");
  if (groups.length === 1) {
    if (text.length !== 32) throw fail(what, `invalid length: expected length 32 for simple format, found ${text.length}`);
  } else {
    if (groups.length !== 5) throw fail(what, `invalid group count: expected 5, found ${groups.length}`);
    const at = groups.findIndex((group, index) => group.length !== GROUPS[index]);
    if (at !== -1) throw fail(what, `invalid group length in group ${at}: expected ${GROUPS[at] ?? 0}, found ${groups[at]?.length ?? 0}`);
  }
  const hex = groups.join("").toLowerCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function fail(what: string, message: string): WireError {
  return invalidRequest(`invalid ${what}: ${message}`);
}
