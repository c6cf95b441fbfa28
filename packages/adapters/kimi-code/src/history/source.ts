import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { HistorySource } from "@foldcast/protocol-core/harness";
import { dialectOf } from "./dialects.ts";
import { peekSession } from "./peek.ts";
import { parseRecord } from "@foldcast/adapter-kit";
import { openSession } from "./session-index.ts";

/** Cut lines of a head that can be told all the same. */
const CUT_LINE = /^\{"type": ?"(?:config\.update|profile\.bind|context\.append_(?:message|loop_event)|turn\.prompt|llm\.tools_snapshot)"|^\{"timestamp": ?[\d.]+, ?"message": ?\{"type": ?"(?:TurnBegin|StepBegin|ContentPart|ToolCall|ToolResult|SubagentEvent)"|^\{"role": ?"_(?:system_prompt|checkpoint|usage)"/;
const META_LINE = /^\{"type": ?"metadata", ?"protocol_version": ?"1\.\d+"/;

/**
 * Saved sessions of Kimi Code (`<home>/sessions/<workspace>/<session>/agents/<agent>/wire.jsonl`) and of kimi-cli before
 * it (`<home>/sessions/<md5 of the folder>/<session>/wire.jsonl`; before that one `context.jsonl` a session).
 */
export const history: HistorySource = {
  recognises(file, head) {
    if (!file.endsWith(".jsonl")) return false;
    const dialects = head.replace(/^\ufeff/, "").split("\n").map((line) => dialectOfLine(line.trim()));
    const dialect = dialects.find((each) => each !== null);
    if (dialect !== "context") return dialect !== undefined;
    return !hasWireFile(file);
  },
  open: openSession,
  roots: ({ env, home }) => [
    { folder: join(env["KIMI_CODE_HOME"] ?? join(home, ".kimi-code"), "sessions"), depth: 4 },
    { folder: join(env["KIMI_SHARE_DIR"] ?? join(home, ".kimi"), "sessions"), depth: 4 },
  ],
  peek: (file) => (isOurName(basename(file)) && !(basename(file).startsWith("context") && hasWireFile(file)) ? peekSession(file) : Promise.resolve(null)),
};

function isOurName(name: string): boolean {
  return /^(?:(?:wire|context)[^/]*|[0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/i.test(name);
}

function dialectOfLine(line: string): ReturnType<typeof dialectOf> {
  if (META_LINE.test(line)) return "code";
  const record = parseRecord(line);
  if (record !== null) return dialectOf(record);
  const cut = CUT_LINE.exec(line)?.[0];
  if (cut === undefined) return null;
  return cut.startsWith("{\"role\"") ? "context" : "code";
}

/** In a session's own folder the wire file says all that `context.jsonl` does, and more. */
function hasWireFile(file: string): boolean {
  const folder = dirname(file);
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(basename(folder)) && existsSync(join(folder, "wire.jsonl"));
}
