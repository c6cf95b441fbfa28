import { decodeCli } from "./decode-cli.ts";
import { decodeCode } from "./decode-code.ts";
import { decodeContext } from "./decode-context.ts";
import type { NotedLine } from "./notes.ts";
import { type JsonRecord, objectOf } from "@foldcast/adapter-kit";

/** Kimi's formats: `code` and `cli` write `wire.jsonl`, `context` is kimi-cli's `context.jsonl`. */
export type Dialect = "code" | "cli" | "context";

/** Records that only kimi-code writes; other harnesses have dotted types of their own. */
const CODE_TYPES: ReadonlySet<string> = new Set([
  "turn.prompt", "turn.steer", "turn.cancel", "turn.ended", "context.append_message", "context.append_loop_event", "context.apply_compaction",
  "context.undo", "context.clear", "config.update", "profile.bind", "runtime.set_binding", "usage.record", "llm.request", "llm.tools_snapshot",
  "tools.set_active_tools", "permission.set_mode", "full_compaction.begin", "token_counting.measured",
]);

/** Which format a line proves; null for a line that may be of any. */
export function dialectOf(record: JsonRecord): Dialect | null {
  const { type, role } = record;
  if (typeof type === "string") return CODE_TYPES.has(type) ? "code" : null;
  if (type !== undefined) return null;
  if (typeof record["timestamp"] === "number" && typeof objectOf(record["message"])["type"] === "string") return "cli";
  return typeof role === "string" && /^_(?:system_prompt|checkpoint|usage)$/.test(role) ? "context" : null;
}

const DECODERS: Readonly<Record<Dialect, (record: JsonRecord) => NotedLine>> = { code: decodeCode, cli: decodeCli, context: decodeContext };

/** Each line is read as what it is: what is put into a file by hand, or by another program, costs no other line. */
export function decode(record: JsonRecord): NotedLine {
  return DECODERS[dialectOf(record) ?? likely(record)](record);
}

function likely(record: JsonRecord): Dialect {
  if (typeof record["role"] === "string") return "context";
  return record["type"] === undefined ? "cli" : "code";
}
