import type { ChildAgent, ItemOutcome } from "@foldcast/protocol-core/harness";
import type { AgentStatus, AgentTool } from "@foldcast/protocol-core/wire";
import type { BuiltItem } from "./slots.ts";
import { filledString, objectOf, objectsOf, parseRecord, stringOf } from "@foldcast/adapter-kit";
import { member, type SessionRecord, stringsOf } from "./record.ts";

/** Agent actions by the names of tools and items, without their separators. */
const ACTIONS: Readonly<Record<string, AgentTool>> = {
  spawnagent: "spawnAgent", sendinput: "sendInput", resumeagent: "resumeAgent", wait: "wait", waitagent: "wait", closeagent: "closeAgent",
  sendmessage: "sendMessage", followuptask: "followupTask", interruptagent: "interruptAgent", listagents: "listAgents",
};

export function agentAction(name: string): AgentTool | null {
  const bare = name.replaceAll("_", "").toLowerCase();
  return Object.hasOwn(ACTIONS, bare) ? ACTIONS[bare]! : null;
}

const STATUSES: Readonly<Record<string, AgentStatus>> = {
  pendinginit: "pendingInit", running: "running", interrupted: "interrupted", completed: "completed", errored: "errored", shutdown: "shutdown", notfound: "notFound",
};

/** A status is a word, or an object whose only member is the word: `{completed: "its answer"}`, `{errored: "why"}`. */
export function agentStatus(value: unknown): { status: AgentStatus; message: string | null } {
  const [word = "", said] = typeof value === "string" ? [value] : (Object.entries(objectOf(value))[0] ?? []);
  const named = word === "status" ? agentStatus(said) : null;
  if (named !== null) return { status: named.status, message: filledString(objectOf(value)["message"]) ?? named.message };
  return { status: STATUSES[word.replaceAll("_", "").toLowerCase()] ?? "running", message: stringOf(said) };
}

/** A `CollabAgentToolCall` item. */
export function collabItem(id: string, item: SessionRecord): BuiltItem {
  const states = objectOf(member(item, "agents_states"));
  const receivers = objectsOf(member(item, "receiver_agents"));
  const ids = [...new Set([...stringsOf(member(item, "receiver_thread_ids")), ...Object.keys(states)])];
  const children = ids.map((ref): ChildAgent => {
    const about = receivers.find((each) => member(each, "thread_id") === ref) ?? {};
    return { ref, name: filledString(member(about, "agent_nickname")), role: filledString(member(about, "agent_role")), ...agentStatus(states[ref]) };
  });
  const failed = item["status"] === "failed" || children.some(({ status }) => status === "errored" || status === "notFound");
  return {
    item: {
      kind: "agent", id, action: agentAction(stringOf(item["tool"]) ?? "") ?? "spawnAgent", prompt: stringOf(item["prompt"]),
      model: filledString(item["model"]), effort: filledString(member(item, "reasoning_effort")), children,
    },
    outcome: failed ? { status: "failed" } : { status: "succeeded" },
    result: { children },
  };
}

const ACTIVITIES: Readonly<Record<string, { action: AgentTool; status: AgentStatus }>> = {
  started: { action: "spawnAgent", status: "running" },
  interacted: { action: "sendMessage", status: "running" },
  interrupted: { action: "interruptAgent", status: "interrupted" },
  completed: { action: "wait", status: "completed" },
  finished: { action: "wait", status: "completed" },
};

/** A `SubAgentActivity` item, where no call of the turn has its id. */
export function activityItem(id: string, item: SessionRecord): BuiltItem | null {
  const child = childOfActivity(item);
  const activity = ACTIVITIES[stringOf(item["kind"]) ?? ""];
  if (child === null || activity === undefined) return null;
  return { item: { kind: "agent", id, action: activity.action, children: [child] }, outcome: { status: "succeeded" }, result: { children: [child] } };
}

export function childOfActivity(item: SessionRecord): ChildAgent | null {
  const ref = filledString(member(item, "agent_thread_id"));
  const activity = ACTIVITIES[stringOf(item["kind"]) ?? ""];
  return ref === null || activity === undefined ? null : { ref, name: filledString(member(item, "agent_path")), status: activity.status };
}

/**
 * The children that a call of an agent tool is about, by what it gave: `{agent_id, nickname}` of a start, `{status: {id:
 * status}}` of a wait, and else the one that its input names.
 */
export function childrenOfCall(action: AgentTool, input: unknown, output: string | null, outcome: ItemOutcome): ChildAgent[] {
  const given = parseRecord(output ?? "") ?? {};
  const named = typeof input === "string" ? (parseRecord(input) ?? {}) : objectOf(input);
  const started = filledString(given["agent_id"]);
  if (action === "spawnAgent") return started === null ? [] : [{ ref: started, name: filledString(given["nickname"]), role: filledString(named["agent_type"]), status: "running" }];
  const states = objectOf(given["status"]);
  if (action === "wait" && Object.keys(states).length > 0) return Object.entries(states).map(([ref, status]) => ({ ref, ...agentStatus(status) }));
  const targets = [named["id"], named["target"], ...stringsOf(named["ids"]), ...stringsOf(named["targets"])].flatMap((each) => filledString(each) ?? []);
  if (outcome.status !== "succeeded") return [];
  return targets.map((ref) => ({ ref, ...(given["status"] === undefined ? { status: "running" as const } : agentStatus(given["status"])) }));
}
