import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import type { AcpDialect } from "../dialect.ts";
import type { JsonRecord } from "../../json.ts";
import { AcpUpdates } from "../updates.ts";

/** The events of a turn of these updates, and what was counted as not known. A step without `sessionUpdate` is a call that something is asked about. */
export function toldTurn(steps: readonly JsonRecord[], dialect: AcpDialect = {}, terminals: Readonly<Record<string, { output: string; exitCode: number | null }>> = {}): { events: HarnessEvent[]; unknown: string[] } {
  const unknown: string[] = [];
  const updates = new AcpUpdates({ dialect, terminal: (id) => terminals[id] ?? null, count: (code) => unknown.push(code) });
  const events: HarnessEvent[] = [{ type: "turn.started", turnKey: "turn-1", at: 0, input: [] }];
  steps.forEach((step, index) => events.push(...("sessionUpdate" in step ? updates.take(step, index) : updates.demand(step, index).events)));
  events.push(...updates.end(false, steps.length), { type: "turn.completed", outcome: { status: "succeeded" }, at: steps.length });
  return { events, unknown };
}

/** Text of every message and every reasoning, in their order. */
export function textsOf(events: readonly HarnessEvent[], kind: "message" | "reasoning"): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === "item.started" && event.item.kind === kind) texts.set(event.item.id, event.item.text ?? "");
    if (event.type === "item.updated" && event.update.type === "text" && texts.has(event.itemId)) texts.set(event.itemId, texts.get(event.itemId)! + event.update.append);
  }
  return [...texts.values()];
}

export interface ToldCall {
  name: string;
  /** As it was shown last. */
  input: unknown;
  inputs: number;
  streamed: string;
  status: string | null;
  output: string | null | undefined;
}

/** Tool calls by item id. */
export function callsOf(events: readonly HarnessEvent[]): Map<string, ToldCall> {
  const calls = new Map<string, ToldCall>();
  for (const event of events) {
    if (event.type === "item.started" && event.item.kind === "tool") {
      calls.set(event.item.id, { name: event.item.name, input: event.item.input, inputs: 0, streamed: "", status: null, output: undefined });
    }
    const call = "itemId" in event ? calls.get(event.itemId) : undefined;
    if (call === undefined) continue;
    if (event.type === "item.updated" && event.update.type === "input") Object.assign(call, { input: event.update.input, inputs: call.inputs + 1 });
    if (event.type === "item.updated" && event.update.type === "output") call.streamed += event.update.append;
    if (event.type === "item.completed") Object.assign(call, { status: event.outcome.status, output: event.result?.output });
  }
  return calls;
}

export const say = (text: string, more: object = {}): JsonRecord => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...more });
export const think = (text: string): JsonRecord => ({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
export const call = (toolCallId: string, more: object = {}): JsonRecord => ({ sessionUpdate: "tool_call", toolCallId, ...more });
export const callUpdate = (toolCallId: string, more: object = {}): JsonRecord => ({ sessionUpdate: "tool_call_update", toolCallId, ...more });
export const textContent = (text: string): object => ({ content: [{ type: "content", content: { type: "text", text } }] });
