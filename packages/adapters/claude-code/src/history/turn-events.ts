import type { DiagnosticCounter } from "@foldcast/adapter-kit";
import type { HarnessEvent } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import { type AgentCall, agentItem, childrenAfter, type InlineAgent, inlineAgents, isAgentCall, strayAgentEvents, takeInlineAgent } from "./agents.ts";
import { retryOf } from "./failure.ts";
import { isOmittedImage } from "./images.ts";
import { noticeEvents } from "./notice.ts";
import {
  blocksOf, type ContentBlock, filledString, isToolResult, isToolUse, messageOf, objectOf, type SessionRecord, stringOf, timeOf,
} from "./record.ts";
import { resultOf } from "./results.ts";
import type { IndexedTurn } from "./turn-list.ts";
import { UsageReports } from "./usage.ts";
import { isNotice, readUserContent, tagged } from "./user-content.ts";

export interface TurnContext {
  /** The session in which agent ids are unique. */
  sessionId: string;
  cwd: string | null;
  /** Call id → agent id, where files beside the session say so. */
  subAgents: ReadonlyMap<string, string>;
  /** True in a sub-agent's own file, where every line is marked as a sub-agent's. */
  sidechainIsOwn: boolean;
  diagnostics: DiagnosticCounter;
}

/** The events of one turn from its lines, in the order of the file. The same lines always give the same events. */
export function turnEvents(turn: IndexedTurn, records: readonly SessionRecord[], context: TurnContext): HarnessEvent[] {
  return new TurnReader(turn, records, context).events();
}

interface FoundResult {
  block: ContentBlock;
  record: SessionRecord;
  index: number;
}

class TurnReader {
  readonly #turn: IndexedTurn;
  readonly #records: readonly SessionRecord[];
  readonly #context: TurnContext;
  readonly #events: HarnessEvent[] = [];
  readonly #results = new Map<string, FoundResult>();
  readonly #calls = new Set<string>();
  /** Calls whose item is open, and what their result needs to know. */
  readonly #open = new Map<string, { name: string; input: unknown; agent: AgentCall | null }>();
  readonly #closed = new Set<string>();
  readonly #agents: ReadonlyMap<string, InlineAgent>;
  /** Sub-agents that no call of the turn started, by their first line. */
  readonly #strayAt = new Map<SessionRecord, InlineAgent>();
  readonly #inlineOfCall = new Map<string, InlineAgent>();
  readonly #usage: UsageReports;
  #index = 0;

  constructor(turn: IndexedTurn, records: readonly SessionRecord[], context: TurnContext) {
    this.#turn = turn;
    this.#records = records;
    this.#context = context;
    this.#agents = context.sidechainIsOwn ? new Map<string, InlineAgent>() : inlineAgents(records);
    this.#usage = new UsageReports(records.filter((record) => this.#isOwn(record)));
  }

  events(): HarnessEvent[] {
    this.#survey();
    this.#start();
    for (const record of this.#records) {
      if (!this.#isOwn(record)) this.#strayAgent(record);
      else if (this.#index > 0 || !this.#opens()) this.#record(record);
      this.#index++;
    }
    const { outcome, completedAt, durationMs } = this.#turn;
    this.#events.push({ type: "turn.completed", outcome, at: completedAt, durationMs });
    return this.#events;
  }

  #isOwn(record: SessionRecord): boolean {
    return this.#context.sidechainIsOwn || record["isSidechain"] !== true;
  }

  /** Results are matched by id, wherever they stand: they come in the order in which calls end, and in damaged files before them. */
  #survey(): void {
    this.#records.forEach((record, index) => {
      if (!this.#isOwn(record)) return;
      for (const block of blocksOf(messageOf(record)["content"])) {
        if (isToolUse(block)) {
          const id = filledString(block["id"]);
          if (id !== null) this.#calls.add(id);
        } else if (isToolResult(block)) {
          const id = filledString(block["tool_use_id"]);
          if (id !== null && !this.#results.has(id)) this.#results.set(id, { block, record, index });
        }
      }
    });
    // Pass over all calls first: an agent's lines stand before its result, and may stand before any other call.
    for (const record of this.#records) {
      if (!this.#isOwn(record)) continue;
      for (const block of blocksOf(messageOf(record)["content"])) {
        if (!isToolUse(block) || !isAgentCall(stringOf(block["name"]) ?? "")) continue;
        const id = filledString(block["id"]);
        if (id === null) continue;
        const prompt = stringOf(objectOf(block["input"])["prompt"]);
        const inline = takeInlineAgent(this.#agents, prompt, filledString(objectOf(this.#structured(id))["agentId"]));
        if (inline !== null) this.#inlineOfCall.set(id, inline);
      }
    }
    for (const agent of this.#agents.values()) if (!agent.taken) this.#strayAt.set(agent.first, agent);
  }

  #structured(callId: string): unknown {
    return this.#results.get(callId)?.record["toolUseResult"];
  }

  /** True when the turn's first line is its input, or what set it off. */
  #opens(): boolean {
    return this.#turn.opening === "prompt";
  }

  #start(): void {
    const { key, opening, startedAt } = this.#turn;
    const first = this.#records[0];
    const content = opening === "prompt" && first !== undefined ? messageOf(first)["content"] : undefined;
    const input: UserInput[] = content === undefined ? [] : readUserContent(content).input;
    this.#countOmitted(blocksOf(content));
    const cwd = first === undefined ? null : filledString(first["cwd"]);
    const model = this.#records.map((record) => filledString(messageOf(record)["model"])).find((name) => name !== null && name !== "<synthetic>");
    this.#events.push({
      type: "turn.started",
      turnKey: key,
      at: startedAt,
      input,
      origin: opening === "prompt" || opening === "shell" ? "user" : "agent",
      cwd: cwd === this.#context.cwd ? null : cwd,
      model: model ?? null,
    });
  }

  #record(record: SessionRecord): void {
    switch (record["type"]) {
      case "assistant":
        return this.#assistant(record);
      case "user":
        return this.#user(record);
      case "attachment":
        return this.#queued(record);
      case "system":
        if (record["subtype"] === "compact_boundary") return this.#compaction(record);
        if (record["subtype"] === "api_error") this.#events.push({ type: "retry", error: retryOf(record), at: timeOf(record) });
        return;
      default:
        return this.#generic(this.#id(record), stringOf(record["type"]) ?? "line", record, record);
    }
  }

  #assistant(record: SessionRecord): void {
    const at = timeOf(record);
    const aborted = record["isAbortedMidStream"] === true;
    blocksOf(messageOf(record)["content"]).forEach((block, position) => {
      const id = `${this.#id(record)}:${position}`;
      const text = filledString(block["text"]) ?? "";
      if (block["type"] === "text") {
        if (text.trim() === "") return;
        this.#events.push(
          { type: "item.started", item: { kind: "message", id, text }, at },
          // An API error is written as a message; it ends nothing, and is no answer.
          { type: "item.completed", itemId: id, outcome: record["isApiErrorMessage"] === true ? { status: "failed" } : aborted ? { status: "cancelled" } : { status: "succeeded" }, at },
        );
      } else if (block["type"] === "thinking") {
        const thinking = filledString(block["thinking"]) ?? "";
        // Newer versions keep the signature alone.
        if (thinking.trim() === "") return;
        this.#events.push(
          { type: "item.started", item: { kind: "reasoning", id, text: thinking }, at },
          { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at },
        );
      } else if (isToolUse(block)) this.#call(block, id, at);
      else if (isToolResult(block)) this.#result(block, record, id);
      else if (block["type"] !== "redacted_thinking") {
        this.#count("block.unknownType", JSON.stringify(block));
        if (Object.keys(block).length > 1) this.#generic(id, stringOf(block["type"]) ?? "block", block, record);
      }
    });
    const usage = this.#usage.at(record);
    if (usage !== null) this.#events.push({ type: "usage.updated", usage, at });
  }

  #call(block: ContentBlock, lineId: string, at: number | null): void {
    const id = filledString(block["id"]) ?? lineId;
    if (this.#open.has(id) || this.#closed.has(id)) return this.#count("call.copy", id);
    const name = filledString(block["name"]) ?? "tool";
    const input = block["input"];
    const agent: AgentCall | null = isAgentCall(name)
      ? { callId: id, input, inline: this.#inlineOfCall.get(id) ?? null, knownAgentId: this.#context.subAgents.get(id) ?? null, sessionId: this.#context.sessionId }
      : null;
    this.#open.set(id, { name, input, agent });
    const item = agent === null ? ({ kind: "tool", id, name, input } as const) : agentItem(agent, this.#structured(id));
    this.#events.push({ type: "item.started", item, at });
    const found = this.#results.get(id);
    if (found !== undefined && found.index < this.#index) this.#result(found.block, found.record, id);
  }

  #result(block: ContentBlock, record: SessionRecord, lineId: string): void {
    const at = timeOf(record);
    const id = filledString(block["tool_use_id"]);
    const call = id === null ? undefined : this.#open.get(id);
    this.#countOmitted(blocksOf(block["content"]));
    if (id === null || (call === undefined && !this.#calls.has(id) && !this.#closed.has(id))) {
      this.#count("result.withoutCall", id);
      const own = id ?? lineId;
      this.#closed.add(own);
      this.#events.push({ type: "item.started", item: { kind: "tool", id: own, name: "tool_result", input: id === null ? {} : { tool_use_id: id } }, at });
      this.#events.push({ type: "item.completed", itemId: own, ...resultOf(block, record, null), at });
      return;
    }
    if (call === undefined) {
      // Its call comes later and fetches it, or it was given twice.
      if (this.#closed.has(id)) this.#count("result.copy", id);
      return;
    }
    this.#open.delete(id);
    this.#closed.add(id);
    const { outcome, result } = resultOf(block, record, call);
    if (call.agent !== null) result.children = childrenAfter(call.agent, block, this.#structured(id), outcome);
    this.#events.push({ type: "item.completed", itemId: id, outcome, result, at });
  }

  #user(record: SessionRecord): void {
    if (record["isCompactSummary"] === true) return this.#compaction(record);
    const content = messageOf(record)["content"];
    const blocks = blocksOf(content);
    blocks.forEach((block, position) => {
      if (isToolResult(block)) this.#result(block, record, `${this.#id(record)}:${position}`);
    });
    const hidden = record["isMeta"] === true || record["isVisibleInTranscriptOnly"] === true;
    const read = hidden ? null : readUserContent(content);
    if (read === null || read.kind === "nothing") return;
    const id = this.#id(record);
    const at = timeOf(record);
    if (read.kind === "notice") this.#events.push(...noticeEvents(id, read.text, at));
    else if (read.kind === "summary") this.#compaction(record);
    else if (read.kind === "shellInput") this.#shellInput(read.text, at);
    else if (read.kind === "shellOutput") this.#shellOutput(read.text, at);
    else this.#message(id, read.input, at);
  }

  /** A message that came while the turn ran: typed ahead, or news from the harness. */
  #queued(record: SessionRecord): void {
    const { prompt } = objectOf(record["attachment"]);
    const text = stringOf(prompt) ?? stringOf(blocksOf(prompt)[0]?.["text"]) ?? "";
    const id = this.#id(record);
    const at = timeOf(record);
    if (isNotice(text)) return void this.#events.push(...noticeEvents(id, text, at));
    const read = readUserContent(prompt);
    this.#countOmitted(blocksOf(prompt));
    if (read.input.length > 0) this.#message(id, read.input, at);
  }

  #message(id: string, content: UserInput[], at: number | null): void {
    // Whole as soon as it is there: it takes no completion.
    this.#events.push({ type: "item.started", item: { kind: "userMessage", id, content }, at });
  }

  static readonly #SHELL = "shell";

  #shellInput(text: string, at: number | null): void {
    const command = tagged(text, "bash-input") ?? "";
    this.#events.push({ type: "item.started", item: { kind: "command", id: TurnReader.#SHELL, command, source: "userShell" }, at });
    if (text.includes("<bash-stdout>") || text.includes("<bash-stderr>")) this.#shellOutput(text, at);
  }

  #shellOutput(text: string, at: number | null): void {
    const output = [tagged(text, "bash-stdout"), tagged(text, "bash-stderr")].filter((part) => part !== null).join("\n");
    this.#events.push({ type: "item.completed", itemId: TurnReader.#SHELL, outcome: { status: "succeeded" }, result: { output }, at });
  }

  #compaction(record: SessionRecord): void {
    const id = this.#id(record);
    const at = timeOf(record);
    this.#events.push(
      { type: "item.started", item: { kind: "compaction", id }, at },
      { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at },
    );
  }

  /** What is not known is shown with its own name and content. */
  #generic(id: string, name: string, input: Readonly<Record<string, unknown>>, record: SessionRecord): void {
    const at = timeOf(record);
    this.#events.push(
      { type: "item.started", item: { kind: "tool", id, name, input: withoutChain(input) }, at },
      { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at },
    );
  }

  #strayAgent(record: SessionRecord): void {
    const agent = this.#strayAt.get(record);
    if (agent !== undefined) this.#events.push(...strayAgentEvents(agent, this.#context.sessionId));
  }

  #id(record: SessionRecord): string {
    return filledString(record["uuid"]) ?? `line ${this.#index}`;
  }

  #countOmitted(blocks: readonly ContentBlock[]): void {
    for (const block of blocks) if (isOmittedImage(block)) this.#count("image.tooLarge", null);
  }

  #count(code: string, sample: string | null): void {
    this.#context.diagnostics.count(code, sample);
  }
}

const CHAIN_MEMBERS: ReadonlySet<string> = new Set([
  "uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "cwd", "version", "gitBranch", "userType", "isSidechain",
  "entrypoint", "slug", "type",
]);

function withoutChain(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !CHAIN_MEMBERS.has(name)));
}
