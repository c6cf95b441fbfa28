import type { ChildAgent, ItemOutcome } from "@foldcast/protocol-core/harness";
import type { WireNote } from "./notes.ts";

const AGENT_TOOLS: ReadonlySet<string> = new Set(["Agent", "AgentSwarm", "Task"]);

/** Tools that start sub-agents: `Task` in kimi-cli to wire 1.5. */
export function startsAgents(name: string): boolean {
  return AGENT_TOOLS.has(name);
}

/** A sub-agent's ids are short and begin anew in each session. */
export function childRef(sessionId: string, agentId: string): string {
  return `${sessionId}/${agentId}`;
}

interface Child {
  agent: ChildAgent;
  background: boolean;
  /** What it said in its parent's file, where that is the only place to read it. */
  texts: string[] | null;
}

/** The sub-agents of one turn, by the call that started them. */
export class Children {
  readonly #sessionId: string;
  readonly #byId = new Map<string, Child>();
  readonly #ofCall = new Map<string, string[]>();

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  started(note: Extract<WireNote, { type: "childStarted" }>): void {
    const { callId, agentId, name, role, background } = note;
    const agent: ChildAgent = { ref: childRef(this.#sessionId, agentId), name, role, status: "running", message: null };
    this.#byId.set(agentId, { agent, background, texts: null });
    if (callId !== null) this.#join(callId, agentId);
  }

  /** The call of an agent whose end is told; null where its beginning is not. */
  ended(note: Extract<WireNote, { type: "childEnded" }>): string | null {
    const child = this.#byId.get(note.agentId);
    if (child === undefined) return null;
    child.agent = { ...child.agent, status: note.status, message: note.message };
    return [...this.#ofCall].find(([, agents]) => agents.includes(note.agentId))?.[0] ?? null;
  }

  /** A line about an agent in its parent's file. True when it is the first one. */
  inline(note: Extract<WireNote, { type: "childNote" }>): boolean {
    if (note.callId === null) return false;
    const agentId = note.agentId ?? note.callId;
    const known = this.#byId.get(agentId);
    const agent: ChildAgent = { ref: childRef(this.#sessionId, agentId), name: null, role: note.role, status: "running", message: null };
    // From wire 1.6 on an agent has an id and a file of its own.
    const child = known ?? { agent, background: false, texts: note.agentId === null ? [] : null };
    this.#byId.set(agentId, child);
    this.#join(note.callId, agentId);
    if (note.note?.type === "spoken" && note.note.part.kind === "text") child.texts?.push(note.note.part.text);
    return known === undefined;
  }

  of(callId: string): ChildAgent[] {
    return (this.#ofCall.get(callId) ?? []).map((agentId) => this.#byId.get(agentId)!.agent);
  }

  /** The agents once their call has ended: with their reports, or going on in the background. */
  after(callId: string, outcome: ItemOutcome, output: string): ChildAgent[] {
    const named = /^agent_id: (\S+)$/m.exec(output)?.[1];
    // Equal calls of one step run once: the second names the first one's agent only in its result.
    if (!this.#ofCall.has(callId) && named !== undefined) {
      const known = this.#byId.get(named);
      if (known === undefined) this.#byId.set(named, { agent: { ref: childRef(this.#sessionId, named), status: "running" }, background: /^status: running$/m.test(output), texts: null });
      this.#join(callId, named);
    }
    return (this.#ofCall.get(callId) ?? []).map((agentId) => {
      const child = this.#byId.get(agentId)!;
      if (child.agent.status === "running" && !child.background) child.agent = { ...child.agent, ...ending(outcome, output, child.texts) };
      return child.agent;
    });
  }

  #join(callId: string, agentId: string): void {
    const agents = this.#ofCall.get(callId) ?? [];
    if (!agents.includes(agentId)) agents.push(agentId);
    this.#ofCall.set(callId, agents);
  }
}

function ending(outcome: ItemOutcome, output: string, texts: readonly string[] | null): Pick<ChildAgent, "status" | "message"> {
  if (outcome.status === "failed") return { status: "errored", message: outcome.message ?? null };
  if (outcome.status !== "succeeded") return { status: "interrupted", message: null };
  const report = /(?:^|\n)\[summary\]\n([^]*?)(?:\n\nresume_hint: [^]*)?$/.exec(output)?.[1] ?? output;
  const said = (texts ?? []).join("\n\n");
  return { status: "completed", message: said === "" ? report : said.includes(report) ? said : `${said}\n\n${report}` };
}
