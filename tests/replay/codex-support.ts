import { definition } from "@foldcast/adapter-codex";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import { dataFiles, type Replayed, replayWith, writeSession } from "./support.ts";

/** Rollouts in the given material. */
export function codexFiles(): string[] {
  return dataFiles(["codex/rollouts", "sessions/codex", "commands/codemode"], (name) => name.endsWith(".jsonl") && !name.endsWith(".events.jsonl"));
}

export const replayCodex = replayWith(definition);

export type HandLine = Record<string, unknown>;

/** Writes a rollout; a line without a time gets the next second. */
export function handRollout(lines: readonly HandLine[], name?: string): string {
  const text = lines.map((line, at) => JSON.stringify("payload" in line && !("timestamp" in line) ? { timestamp: time(at), ...line } : line));
  return writeSession(`${text.join("\n")}\n`, name);
}

export function time(seconds: number): string {
  return new Date(1_770_000_000_000 + seconds * 1000).toISOString();
}

/** Replays hand-made lines. */
export async function replayLines(lines: readonly HandLine[], name?: string): Promise<Replayed> {
  return await replayCodex(handRollout(lines, name));
}

/** An id with its time in it, as Codex makes them: `seconds` after the time of the first line. */
export function id7(seconds: number, tail = 0): string {
  const time = (1_770_000_000_000 + seconds * 1000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(tail).padStart(12, "0")}`;
}

export const meta = (more: HandLine = {}): HandLine => ({ type: "session_meta", payload: { id: id7(0), timestamp: time(0), cwd: "/w", originator: "codex-tui", cli_version: "0.130.0", source: "cli", ...more } });
export const event = (type: string, payload: HandLine = {}): HandLine => ({ type: "event_msg", payload: { type, ...payload } });
export const item = (type: string, payload: HandLine = {}): HandLine => ({ type: "response_item", payload: { type, ...payload } });
export const context = (payload: HandLine = {}): HandLine => ({ type: "turn_context", payload: { cwd: "/w", model: "gpt-5", ...payload } });

export const started = (turn: string): HandLine => event("task_started", { turn_id: turn });
export const completed = (turn: string, more: HandLine = {}): HandLine => event("task_complete", { turn_id: turn, ...more });
export const aborted = (turn: string | null): HandLine => event("turn_aborted", { turn_id: turn, reason: "interrupted" });

export const asked = (text: string): HandLine => item("message", { role: "user", content: [{ type: "input_text", text }] });
export const askedEvent = (text: string): HandLine => event("user_message", { message: text, images: [] });
export const answered = (text: string, phase?: string): HandLine => item("message", { role: "assistant", content: [{ type: "output_text", text }], ...(phase === undefined ? {} : { phase }) });
export const answeredEvent = (text: string, phase?: string | null): HandLine => event("agent_message", { message: text, ...(phase === undefined ? {} : { phase }) });
export const calls = (callId: string, name: string, input: unknown): HandLine => item("function_call", { call_id: callId, name, arguments: JSON.stringify(input) });
export const gives = (callId: string, output: unknown): HandLine => item("function_call_output", { call_id: callId, output });
export const program = (callId: string, input: string): HandLine => item("custom_tool_call", { call_id: callId, name: "exec", input });
export const programGives = (callId: string, output: unknown): HandLine => item("custom_tool_call_output", { call_id: callId, output });
/** An item that Codex completed (0.145 and later). */
export const done = (turn: string, what: HandLine, more: HandLine = {}): HandLine => event("item_completed", { thread_id: id7(0), turn_id: turn, item: what, ...more });

/** Lines of a session that keeps items, numbered. */
export function numbered(lines: readonly HandLine[], from = 0): HandLine[] {
  return lines.map((line, at) => ({ ...line, timestamp: line["timestamp"] ?? time(from + at), ordinal: from + at }));
}

export function messages(items: readonly ThreadItem[]): string[] {
  return items.flatMap((each) => (each.type === "agentMessage" ? [each.text] : []));
}

/** Types of a turn's items; a message with its phase. */
export function kinds(items: readonly ThreadItem[]): string[] {
  return items.map((each) => (each.type === "agentMessage" ? `message ${each.phase ?? "-"}` : each.type));
}
