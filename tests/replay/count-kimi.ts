import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/**
 * What a file of kimi-cli or Kimi Code holds, counted by rules of its own: it shares no code with the adapter that it
 * checks, reads the whole file at once and knows nothing of turns.
 *
 * `node --import tsx tests/replay/count-kimi.ts FILE…` prints one JSON line a file.
 */
export interface KimiCount {
  /** What a person sent, or a parent to its sub-agent. */
  prompts: number;
  /** Visible texts of the agent. */
  texts: string[];
  /** Calls of tools that are shown, by id. */
  calls: string[];
  /** News that set the agent to work. */
  notices: number;
  /** Turns that the file says failed or were stopped. */
  failed: number;
  cancelled: number;
}

type Line = Readonly<Record<string, unknown>>;
const at = (value: unknown, ...path: string[]): unknown => path.reduce<unknown>((inner, name) => (inner as Line | null | undefined)?.[name], value);

/** Kept as a plan, not shown as a call. */
const PLAN_TOOLS = new Set(["TodoList", "SetTodoList"]);

export function countKimiFile(file: string): KimiCount {
  return countKimiLines(readFileSync(file, "utf8").split("\n"));
}

export function countKimiLines(source: readonly string[]): KimiCount {
  const count: KimiCount = { prompts: 0, texts: [], calls: [], notices: 0, failed: 0, cancelled: 0 };
  for (const text of source) {
    const line = parse(text.replace(/^\ufeff/, ""));
    if (line === null) continue;
    if (typeof line["type"] === "string") countCode(line, count);
    else if (at(line, "message", "type") !== undefined) countCli(line, count);
    else countContext(line, count);
  }
  return count;
}

function countCode(line: Line, count: KimiCount): void {
  const kind = at(line, "origin", "kind");
  if (line["type"] === "turn.prompt") {
    if (kind === "user" || kind === undefined || at(line, "origin", "name") === "subagent") count.prompts += 1;
    else count.notices += 1;
  }
  if (line["type"] === "turn.ended" && line["reason"] === "failed") count.failed += 1;
  if (line["type"] === "turn.ended" && line["reason"] === "cancelled") count.cancelled += 1;
  const call = at(line, "event", "type") === "tool.call";
  if (call && !PLAN_TOOLS.has(String(at(line, "event", "name")))) count.calls.push(String(at(line, "event", "toolCallId")));
  const part = at(line, "event", "part", "text");
  if (line["type"] === "context.append_loop_event" && at(line, "event", "part", "type") === "text" && typeof part === "string" && part.trim() !== "") count.texts.push(part);
}

function countCli(line: Line, count: KimiCount): void {
  const type = at(line, "message", "type");
  if (type === "TurnBegin") count.prompts += 1;
  const text = at(line, "message", "payload", "text");
  if (type === "ContentPart" && at(line, "message", "payload", "type") === "text" && typeof text === "string" && text.trim() !== "") count.texts.push(text);
  if (type === "ToolCall" && !PLAN_TOOLS.has(String(at(line, "message", "payload", "function", "name")))) count.calls.push(String(at(line, "message", "payload", "id")));
}

function countContext(line: Line, count: KimiCount): void {
  const texts = textsOf(line["content"]);
  if (line["role"] === "user" && texts.some((text) => text.trim() !== "" && !/^\s*<(?:system|system-reminder|notification)[\s>]/.test(text))) count.prompts += 1;
  if (line["role"] !== "assistant") return;
  count.texts.push(...texts.filter((text) => text.trim() !== ""));
  const calls = line["tool_calls"];
  if (Array.isArray(calls)) for (const call of calls as Line[]) if (!PLAN_TOOLS.has(String(at(call, "function", "name")))) count.calls.push(String(call["id"]));
}

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return (content as (Line | null)[]).flatMap((part) => (part?.["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : []));
}

function parse(text: string): Line | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Line) : null;
  } catch {
    return null;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const file of process.argv.slice(2)) {
    const { texts, calls, ...rest } = countKimiFile(file);
    console.log(JSON.stringify({ file, ...rest, texts: texts.length, calls: calls.length }));
  }
}
