import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { definition } from "@foldcast/adapter-claude-code";
import type { HarnessDefinition } from "@foldcast/protocol-core/harness";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { replay } from "../../packages/host-runtime/src/replay/replay.ts";
import type { DiagnosticRow, ErrorRow, ReplayRow, SessionRow, TotalRow, TurnRow } from "../../packages/host-runtime/src/replay/rows.ts";

export const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "foldcast-replay-"));
let files = 0;

export interface Replayed {
  session: SessionRow | null;
  turns: TurnRow[];
  items: ThreadItem[];
  diagnostics: DiagnosticRow[];
  errors: ErrorRow[];
  total: TotalRow;
}

/** Session files of Claude Code in the given material, sub-agents' files too. */
export function claudeFiles(): string[] {
  return dataFiles(["sessions/claude", "claude/history"], (name) => name.endsWith(".jsonl"));
}

/** Rows of a file as `foldcast replay` gives them, with one harness alone. */
export async function rowsOf(path: string, harness: HarnessDefinition = definition): Promise<ReplayRow[]> {
  const rows: ReplayRow[] = [];
  const entries = [{ id: harness.manifest.id, load: () => Promise.resolve(harness) }];
  for await (const row of replay({ path, harness: null, withItems: true, entries, extraToolMaps: {} })) rows.push(row);
  return rows;
}

/** Reads a file as `foldcast replay` does, with this harness alone. */
export function replayWith(harness: HarnessDefinition): (path: string) => Promise<Replayed> {
  return async (path) => {
    const rows = await rowsOf(path, harness);
    const turns = rows.filter((row) => row.type === "turn");
    return {
      session: rows.find((row) => row.type === "session") ?? null,
      turns,
      items: turns.flatMap((turn) => turn.threadItems ?? []),
      diagnostics: rows.filter((row) => row.type === "diagnostic"),
      errors: rows.filter((row) => row.type === "error"),
      total: rows.find((row) => row.type === "total")!,
    };
  };
}

export const replayFile = replayWith(definition);

/** Names below parts of the given material that fit. */
export function dataFiles(parts: readonly string[], fits: (name: string) => boolean): string[] {
  return parts.flatMap((part) => readdirSync(join(DATA, part), { recursive: true, encoding: "utf8" }).filter(fits).map((name) => join(DATA, part, name)));
}

export function writeSession(content: string | Buffer, name?: string): string {
  const file = join(folder, name ?? `${files++}.jsonl`);
  writeFileSync(file, content);
  return file;
}

/** A line of a hand-written session; the defaults are those of a session of 2.1. */
export type HandLine = Record<string, unknown>;

/** Writes a session from lines; ids count up where a line has none, and each line follows the one before it. */
export function handSession(lines: readonly HandLine[], name?: string): string {
  let previous: string | null = null;
  const text = lines.map((line, at) => {
    const chained = line["type"] === "user" || line["type"] === "assistant" || line["type"] === "attachment" || line["type"] === "system";
    const uuid = `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
    const whole = chained
      ? { parentUuid: previous, isSidechain: false, sessionId: "11111111-1111-4111-8111-111111111111", cwd: "/w", timestamp: new Date(1_700_000_000_000 + at * 1000).toISOString(), uuid, ...line }
      : line;
    if (chained) previous = whole["uuid"] as string;
    return JSON.stringify(whole);
  });
  return writeSession(`${text.join("\n")}\n`, name);
}

export const user = (content: unknown, more: HandLine = {}): HandLine => ({ type: "user", message: { role: "user", content }, ...more });
export const assistant = (id: string, content: unknown, more: HandLine = {}): HandLine => ({
  type: "assistant", message: { id, role: "assistant", model: "claude-test", content, stop_reason: null }, ...more,
});
export const says = (id: string, text: string, more: HandLine = {}): HandLine => assistant(id, [{ type: "text", text }], more);
export const calls = (id: string, callId: string, name: string, input: unknown, more: HandLine = {}): HandLine =>
  assistant(id, [{ type: "tool_use", id: callId, name, input }], more);
export const result = (callId: string, content: unknown, more: HandLine = {}): HandLine =>
  user([{ type: "tool_result", tool_use_id: callId, content }], more);

export function messages(items: readonly ThreadItem[]): string[] {
  return items.flatMap((item) => (item.type === "agentMessage" ? [item.text] : []));
}
