import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import { type InlineAgent, inlineAgents, isAgentCall, strayAgentEvents, takeInlineAgent } from "./agents.ts";
import { isOmittedImage } from "./images.ts";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { blocksOf, isToolResult, isToolUse, messageOf, type SessionRecord } from "./record.ts";
import { type Foreknowledge, type FoundResult, type ReaderContext, TurnReader } from "./turn-reader.ts";
import { hasInput, type IndexedTurn } from "./turn-list.ts";
import { UsageReports } from "./usage.ts";
import { isCompact, readUserContent } from "./user-content.ts";

export interface TurnContext extends Omit<ReaderContext, "ofCommand"> {
  cwd: string | null;
  /** True in a sub-agent's own file, where every line is marked as a sub-agent's. */
  sidechainIsOwn: boolean;
}

/** The events of one saved turn from its lines, in the order of the file. The same lines always give the same events. */
export function turnEvents(turn: IndexedTurn, records: readonly SessionRecord[], context: TurnContext): HarnessEvent[] {
  const isOwn = (record: SessionRecord): boolean => context.sidechainIsOwn || record["isSidechain"] !== true;
  const { ahead, strayAt } = survey(records, isOwn, context.sidechainIsOwn);
  const { outcome, completedAt, durationMs, opening } = turn;
  const behindInput = hasInput(turn) ? 1 : 0;
  const reader = new TurnReader({ ...context, ofCommand: opening === "command" }, ahead);
  const events = [startOf(turn, records, context)];
  records.forEach((record, index) => {
    const stray = strayAt.get(record);
    if (!isOwn(record)) events.push(...(stray === undefined ? [] : strayAgentEvents(stray, context.sessionId)));
    // The first line of a prompt is the turn's input.
    else if (index >= behindInput) events.push(...reader.read(record, index));
  });
  events.push({ type: "turn.completed", outcome, at: completedAt, durationMs });
  return events;
}

function startOf(turn: IndexedTurn, records: readonly SessionRecord[], context: TurnContext): HarnessEvent {
  const { key, opening, startedAt } = turn;
  const first = records[0];
  // Lines of what was typed and of commands that cannot run have no message around it.
  const content = !hasInput(turn) || first === undefined ? undefined : (first["message"] === undefined ? first["content"] : messageOf(first)["content"]);
  const sent: UserInput[] = content === undefined ? [] : readUserContent(content).input;
  const input = opening === "command" && isCompact(sent) ? [] : sent;
  for (const block of blocksOf(content)) if (isOmittedImage(block)) context.diagnostics.count("image.tooLarge", null);
  const cwd = first === undefined ? null : filledString(first["cwd"]);
  const model = records.map((record) => filledString(messageOf(record)["model"])).find((name) => name !== null && name !== "<synthetic>");
  return {
    type: "turn.started",
    turnKey: key,
    at: startedAt,
    input,
    origin: input.length > 0 || opening === "prompt" || opening === "shell" ? "user" : "agent",
    cwd: cwd === context.cwd ? null : cwd,
    model: model ?? null,
  };
}

/**
 * Looks at all lines before the first is read. Results are matched by id, wherever they stand: they come in the order in
 * which calls end, and in damaged files before them.
 */
function survey(records: readonly SessionRecord[], isOwn: (record: SessionRecord) => boolean, sidechainIsOwn: boolean): { ahead: Foreknowledge; strayAt: ReadonlyMap<SessionRecord, InlineAgent> } {
  const results = new Map<string, FoundResult[]>();
  const calls = new Set<string>();
  const agentCalls: { id: string; prompt: string | null }[] = [];
  records.forEach((record, index) => {
    if (!isOwn(record)) return;
    for (const block of blocksOf(messageOf(record)["content"])) {
      if (isToolUse(block)) {
        const id = filledString(block["id"]);
        if (id === null) continue;
        calls.add(id);
        if (isAgentCall(stringOf(block["name"]) ?? "")) agentCalls.push({ id, prompt: stringOf(objectOf(block["input"])["prompt"]) });
      } else if (isToolResult(block)) {
        const id = filledString(block["tool_use_id"]);
        if (id === null) continue;
        const known = results.get(id);
        if (known === undefined) results.set(id, [{ block, record, index }]);
        else known.push({ block, record, index });
      }
    }
  });
  // After all results are known: an agent's lines stand before its result, and may stand before any other call.
  const agents = sidechainIsOwn ? new Map<string, InlineAgent>() : inlineAgents(records);
  const inlineOfCall = new Map<string, InlineAgent>();
  for (const { id, prompt } of agentCalls) {
    const inline = takeInlineAgent(agents, prompt, filledString(objectOf(results.get(id)?.[0]?.record["toolUseResult"])["agentId"]));
    if (inline !== null) inlineOfCall.set(id, inline);
  }
  const usage = new UsageReports(records.filter(isOwn));
  return {
    ahead: {
      results: (id) => results.get(id) ?? [],
      hasCall: (id) => calls.has(id),
      inlineAgent: (id) => inlineOfCall.get(id) ?? null,
      usage: (record) => usage.at(record),
    },
    strayAt: new Map([...agents.values()].filter((agent) => !agent.taken).map((agent) => [agent.first, agent])),
  };
}
