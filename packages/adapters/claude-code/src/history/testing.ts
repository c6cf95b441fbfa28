import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HarnessEvent, HarnessItem, HistoryIndex } from "@foldcast/protocol-core/harness";
import { history } from "./source.ts";

const folder = mkdtempSync(join(tmpdir(), "claude-history-"));
let files = 0;

export type Line = Record<string, unknown>;

export const user = (uuid: string, content: unknown, more: Line = {}): Line =>
  ({ type: "user", uuid, sessionId: "session-1", cwd: "/w", timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content }, ...more });
export const assistant = (uuid: string, content: unknown, more: Line = {}, message: Line = {}): Line =>
  ({ type: "assistant", uuid, sessionId: "session-1", cwd: "/w", timestamp: "2026-01-01T00:00:05.000Z", message: { id: `m-${uuid}`, role: "assistant", content, ...message }, ...more });
export const call = (uuid: string, id: string, name: string, input: unknown): Line => assistant(uuid, [{ type: "tool_use", id, name, input }]);
export const result = (uuid: string, id: string, content: unknown, more: Line = {}, block: Line = {}): Line =>
  user(uuid, [{ type: "tool_result", tool_use_id: id, content, ...block }], more);

export const text = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

export function write(content: string, name = `${files++}.jsonl`): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

export async function eventsOf(index: HistoryIndex): Promise<HarnessEvent[][]> {
  const all: HarnessEvent[][] = [];
  for await (const { events } of index.read(0, index.turns.length)) all.push([...events]);
  return all;
}

/** Events of a session of one turn. */
export async function turnOf(lines: readonly Line[]): Promise<HarnessEvent[]> {
  const all = await eventsOf(await history.open(write(text(lines))));
  if (all.length !== 1) throw new Error(`${all.length} turns`);
  return all[0]!;
}

export function itemsOf(events: readonly HarnessEvent[]): HarnessItem[] {
  return events.flatMap((event) => (event.type === "item.started" ? [event.item] : []));
}

export function completionOf(events: readonly HarnessEvent[], id: string): Extract<HarnessEvent, { type: "item.completed" }> {
  const found = events.find((event) => event.type === "item.completed" && event.itemId === id);
  if (found?.type !== "item.completed") throw new Error(`${id} is not completed`);
  return found;
}
