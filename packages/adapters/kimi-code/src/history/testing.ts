import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { HarnessEvent, HarnessItem, HistoryIndex } from "@foldcast/protocol-core/harness";
import { history } from "./source.ts";

const folder = mkdtempSync(join(tmpdir(), "kimi-history-"));
let files = 0;

export type Line = Record<string, unknown>;

/** Records of kimi-code. `time` counts up by a hundred, unless it is given. */
export const prompt = (text: string, more: Line = {}): Line => ({ type: "turn.prompt", input: [{ type: "text", text }], origin: { kind: "user" }, ...more });
export const copy = (text: string, more: Line = {}): Line =>
  ({ type: "context.append_message", message: { role: "user", content: [{ type: "text", text }], toolCalls: [], origin: { kind: "user" }, ...more } });
export const loop = (event: Line): Line => ({ type: "context.append_loop_event", event });
export const begin = (step: string): Line => loop({ type: "step.begin", uuid: step, turnId: "0", step: 1 });
export const finish = (step: string, finishReason: string, more: Line = {}): Line => loop({ type: "step.end", uuid: step, finishReason, ...more });
export const says = (step: string, text: string): Line => loop({ type: "content.part", uuid: `p-${step}-${text}`, stepUuid: step, part: { type: "text", text } });
export const thinks = (step: string, think: string): Line => loop({ type: "content.part", uuid: `t-${step}-${think}`, stepUuid: step, part: { type: "think", think } });
export const calls = (step: string, id: string, name: string, args: unknown): Line => loop({ type: "tool.call", uuid: `c-${id}`, stepUuid: step, toolCallId: id, name, args });
export const result = (id: string, output: unknown, more: Line = {}): Line => loop({ type: "tool.result", toolCallId: id, result: { output, ...more } });
export const ended = (reason: string, more: Line = {}): Line => ({ type: "turn.ended", turnId: 0, reason, ...more });

/** A message of kimi-cli's wire. */
export const wire = (type: string, payload: Line = {}): Line => ({ message: { type, payload } });

export function timed(lines: readonly Line[]): Line[] {
  return lines.map((line, at) => (line["message"] !== undefined && line["type"] === undefined ? { timestamp: 1_700_000_000 + at, ...line } : { time: 1_700_000_000_000 + at * 100, ...line }));
}

export const text = (lines: readonly Line[]): string => timed(lines).map((line) => `${JSON.stringify(line)}\n`).join("");

export function write(content: string, name = `${files++}/wire.jsonl`): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

export async function eventsOf(index: HistoryIndex): Promise<HarnessEvent[][]> {
  const all: HarnessEvent[][] = [];
  for await (const { events } of index.read(0, index.turns.length)) all.push([...events]);
  return all;
}

export async function turnsOf(lines: readonly Line[]): Promise<HarnessEvent[][]> {
  return eventsOf(await history.open(write(text(lines))));
}

export function itemsOf(events: readonly HarnessEvent[]): HarnessItem[] {
  return events.flatMap((event) => (event.type === "item.started" ? [event.item] : []));
}

/** One line a shown thing: its kind, what it says, how it ended. */
export function shown(events: readonly HarnessEvent[]): string[] {
  const lines = new Map<string, string>();
  for (const event of events) {
    if (event.type === "item.started") {
      const { item } = event;
      const what = item.kind === "tool" ? `${item.name} ${JSON.stringify(item.input)}` : "text" in item ? item.text : item.kind === "userMessage" ? JSON.stringify(item.content) : "";
      lines.set(item.id, `${item.kind} ${what}`.trim());
    } else if (event.type === "item.completed") {
      const output = event.result?.output;
      lines.set(event.itemId, `${lines.get(event.itemId)} -> ${event.outcome.status}${output === undefined ? "" : ` ${JSON.stringify(output)}`}`);
    } else if (event.type === "turn.completed") lines.set("end", event.outcome.status);
  }
  return [...lines.values()];
}
