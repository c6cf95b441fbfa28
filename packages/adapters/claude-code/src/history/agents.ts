import type { ChildAgent, HarnessEvent, HarnessItem, ItemOutcome } from "@foldcast/protocol-core/harness";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { blocksOf, type ContentBlock, messageOf, type SessionRecord, timeOf } from "./record.ts";
import { textOf } from "./results.ts";
import { childRef } from "./session-file.ts";

/** The tool that starts a sub-agent; `Task` to 2.1.6x and in `init`, `Agent` in newer calls. */
export function isAgentCall(name: string): boolean {
  return name === "Agent" || name === "Task";
}

/** Lines of one sub-agent that stand in its parent's file (to 2.0.27). They have no file of their own. */
export interface InlineAgent {
  agentId: string;
  prompt: string | null;
  texts: string[];
  first: SessionRecord;
  last: SessionRecord;
  endsInText: boolean;
  taken: boolean;
}

/** Sub-agent lines whose beginning is not in the file. */
const UNKNOWN_AGENT = "unknown";

/**
 * The sub-agents among the lines of one turn. A line belongs to the agent that it names, else to that of its parent
 * line; a line without either belongs to an agent of whom nothing else is known, so that it is not lost.
 */
export function inlineAgents(records: readonly SessionRecord[]): Map<string, InlineAgent> {
  const agents = new Map<string, InlineAgent>();
  const agentOfLine = new Map<string, string>();
  for (const record of records) {
    if (record["isSidechain"] !== true) continue;
    const uuid = filledString(record["uuid"]);
    const parent = filledString(record["parentUuid"]);
    const agentId = filledString(record["agentId"]) ?? (parent === null ? (uuid ?? UNKNOWN_AGENT) : (agentOfLine.get(parent) ?? UNKNOWN_AGENT));
    if (uuid !== null) agentOfLine.set(uuid, agentId);
    let agent = agents.get(agentId);
    if (agent === undefined) {
      agent = { agentId, prompt: null, texts: [], first: record, last: record, endsInText: false, taken: false };
      agents.set(agentId, agent);
    }
    agent.last = record;
    readLine(agent, record);
  }
  return agents;
}

function readLine(agent: InlineAgent, record: SessionRecord): void {
  const content = messageOf(record)["content"];
  if (record["type"] === "user") {
    if (agent.prompt === null && (typeof content === "string" || blocksOf(content)[0]?.["type"] === "text")) agent.prompt = textOf(content);
    agent.endsInText = false;
  } else if (record["type"] === "assistant") {
    const texts = blocksOf(content).flatMap((block) => (block["type"] === "text" ? (filledString(block["text"]) ?? []) : []));
    agent.texts.push(...texts);
    agent.endsInText = texts.length > 0;
  }
}

/** The inline agent of a call: by the id in the call's result, else the first free one with the call's prompt. */
export function takeInlineAgent(agents: ReadonlyMap<string, InlineAgent>, prompt: string | null, agentId: string | null): InlineAgent | null {
  const named = agentId === null ? undefined : agents.get(agentId);
  const found = named ?? [...agents.values()].find((agent) => !agent.taken && agent.prompt !== null && agent.prompt === prompt) ?? null;
  if (found !== null) found.taken = true;
  return found;
}

/** All texts of an inline agent; the last one is its answer. */
export function inlineMessage(agent: InlineAgent): string | null {
  return agent.texts.length === 0 ? null : agent.texts.join("\n\n");
}

/** The item of a sub-agent that no call of the turn started, at the place of its first line. */
export function strayAgentEvents(agent: InlineAgent, sessionId: string): HarnessEvent[] {
  const id = `agent:${agent.agentId}`;
  const child: ChildAgent = {
    ref: childRef(sessionId, agent.agentId),
    status: agent.endsInText ? "completed" : "interrupted",
    message: inlineMessage(agent),
  };
  return [
    { type: "item.started", item: { kind: "agent", id, action: "spawnAgent", prompt: agent.prompt, children: [child] }, at: timeOf(agent.first) },
    { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, result: { children: [child] }, at: timeOf(agent.last) },
  ];
}

export interface AgentCall {
  callId: string;
  input: unknown;
  inline: InlineAgent | null;
  /** From the files beside the session, or from the running program; a call has no result yet then, or never. */
  knownAgentId: string | null;
  sessionId: string;
}

/** The item of an `Agent` or `Task` call. The child is named as soon as the file knows its id anywhere. */
export function agentItem(call: AgentCall, structured: unknown): HarnessItem {
  const input = objectOf(call.input);
  return {
    kind: "agent",
    id: call.callId,
    action: "spawnAgent",
    prompt: stringOf(input["prompt"]),
    // What was asked for: which model that came to is known with the result only, when a running call has long been shown.
    model: filledString(input["model"]),
    effort: filledString(input["effort"]),
    children: children(call, structured, "running", null),
  };
}

/** The child of a call that goes on. */
export function runningChildren(call: AgentCall): ChildAgent[] {
  return children(call, undefined, "running", null);
}

/** The child's state after the call: its answer, or that it goes on in the background. */
export function childrenAfter(call: AgentCall, block: ContentBlock, structured: unknown, outcome: ItemOutcome): ChildAgent[] {
  if (outcome.status !== "succeeded") {
    const status = outcome.status === "failed" ? "errored" : "interrupted";
    return children(call, structured, status, outcome.status === "failed" ? (outcome.message ?? null) : null);
  }
  const { status } = objectOf(structured);
  // In the background, as a teammate, elsewhere (2.1.332): it goes on without the call. Older results have no status.
  if (status !== undefined && status !== "completed") return children(call, structured, "running", null);
  return children(call, structured, "completed", answerOf(block, structured));
}

function children(call: AgentCall, structured: unknown, status: ChildAgent["status"], message: string | null): ChildAgent[] {
  const input = objectOf(call.input);
  const agentId = filledString(objectOf(structured)["agentId"]) ?? call.inline?.agentId ?? call.knownAgentId;
  if (agentId === null) return [];
  const inline = call.inline === null ? null : inlineMessage(call.inline);
  return [{
    ref: childRef(call.sessionId, agentId),
    name: filledString(input["name"]) ?? filledString(input["description"]),
    role: filledString(input["subagent_type"]) ?? filledString(objectOf(structured)["agentType"]),
    status,
    // An inline agent's texts have no other place to be read.
    message: inline === null ? message : message === null || inline.includes(message) ? inline : `${inline}\n\n${message}`,
  }];
}

/** The report of the agent, without the notes that the harness puts around it for the model. */
function answerOf(block: ContentBlock, structured: unknown): string | null {
  const content = objectOf(structured)["content"];
  const blocks = Array.isArray(content) ? blocksOf(content) : blocksOf(block["content"]);
  const texts = blocks.flatMap((part) => {
    const text = filledString(part["text"]);
    return text === null || /^\s*<tools-used-before-summary>[^]*<\/tools-used-before-summary>\s*$/.test(text) ? [] : [text];
  });
  return texts.length === 0 ? null : texts.join("\n");
}
