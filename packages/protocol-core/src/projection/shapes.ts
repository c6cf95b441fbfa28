import type { HarnessItem } from "../harness/index.ts";
import type { CallReading, Projection } from "../tools/index.ts";
import { classifyCommand, unwrapShell } from "../tools/shell/index.ts";
import type { CommandAction } from "../wire/index.ts";
import type { IdKind } from "./entries.ts";

/** What the item shows as a command, whether the harness or the tools layer said so. */
export interface CommandShape {
  command: string;
  cwd: string | null;
  actions: CommandAction[];
}

/** The wire form that an entry takes. Messages, reasoning and the person's words are typed kinds only. */
export type Shape = Exclude<Projection, { item: "command" }> | ({ item: "command" } & CommandShape)
  | { item: "message" | "reasoning" | "user" | "compaction" | "planText" };

/** The wire form of an item; `reading` is that of a tool call, null for the typed kinds. */
export function shapeOf(source: HarnessItem, reading: CallReading | null, cwd: string): Shape {
  switch (source.kind) {
    case "userMessage":
      return { item: "user" };
    case "message":
      return { item: "message" };
    case "reasoning":
      return { item: "reasoning" };
    case "compaction":
      return { item: "compaction" };
    case "plan":
      return { item: "planText" };
    case "command":
      return { item: "command", command: source.command, cwd: source.cwd ?? null, actions: classifyCommand(unwrapShell(source.command) ?? source.command, { cwd: source.cwd ?? cwd }) };
    case "fileChange":
      return { item: "edits", edits: null };
    case "mcpCall":
      return { item: "mcp", server: source.server, tool: source.tool, arguments: source.input };
    case "webSearch":
      return { item: "webSearch", query: source.query, action: source.action ?? { type: "search", query: source.query, queries: null } };
    case "imageView":
      return { item: "image", path: source.path };
    case "agent":
      return { item: "agent", action: source.action, prompt: source.prompt ?? null, model: source.model ?? null };
    case "tool":
      return reading?.as ?? { item: "dynamic", namespace: null, tool: source.name, arguments: source.input };
  }
}

const ID_KINDS: Record<Shape["item"], IdKind> = {
  user: "user", message: "message", reasoning: "reasoning", command: "command", edits: "edit", mcp: "mcp", dynamic: "tool",
  wait: "tool", webSearch: "search", image: "image", agent: "agent", compaction: "compaction", planText: "plan", plan: "plan",
};
export function idKindOf(shape: Shape): IdKind {
  return ID_KINDS[shape.item];
}
