import { type DiagnosticCounter, filledString, freeId, objectOf, stringOf } from "@foldcast/adapter-kit";
import type { HarnessEvent, UsageReport } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";
import { type AgentCall, agentItem, childrenAfter, type InlineAgent, isAgentCall, runningChildren } from "./agents.ts";
import { retryOf } from "./failure.ts";
import { isOmittedImage } from "./images.ts";
import { noticeEvents } from "./notice.ts";
import { blocksOf, type ContentBlock, isFiller, isHidden, isToolResult, isToolUse, isTyped, messageOf, type SessionRecord, sourceOfNews, timeOf } from "./record.ts";
import { resultOf } from "./results.ts";
import { commandOutput, isNotice, readUserContent, readUserLine, tagged } from "./user-content.ts";

export interface ReaderContext {
  /** The session in which agent ids are unique. */
  sessionId: string;
  /** Call id → agent id, where files beside the session say so. */
  subAgents: ReadonlyMap<string, string>;
  diagnostics: DiagnosticCounter;
  /** The turn is a command of the program itself: what that prints is the answer. */
  ofCommand: boolean;
}

/** A result and where it stands among the records of its turn. */
export interface FoundResult {
  block: ContentBlock;
  record: SessionRecord;
  index: number;
}

/** What is known of a turn before it is read: all of it from a file, nothing live. */
export interface Foreknowledge {
  /** In the order of the file; some models give an id to several calls. Null = nobody knows yet. */
  results(callId: string): readonly FoundResult[] | null;
  hasCall(callId: string): boolean;
  inlineAgent(callId: string): InlineAgent | null;
  usage(record: SessionRecord): UsageReport | null;
}

export const NOTHING_KNOWN: Foreknowledge = { results: () => null, hasCall: () => false, inlineAgent: () => null, usage: () => null };

/** A call whose item is open, and what its result needs to know. */
export interface OpenCall {
  itemId: string;
  name: string;
  input: unknown;
  agent: AgentCall | null;
}

const SHELL = "shell";

/**
 * Makes events of the records of one turn, one record after the other: the only place where that happens, for a saved
 * file and for a running program alike, which writes the same records to both (2.1.332).
 */
export class TurnReader {
  readonly #context: ReaderContext;
  readonly #ahead: Foreknowledge;
  #events: HarnessEvent[] = [];
  readonly #open = new Map<string, OpenCall>();
  readonly #closed = new Map<string, OpenCall | null>();
  readonly #itemIds = new Set<string>();
  /** Result blocks that have found their call. */
  readonly #taken = new Set<ContentBlock>();
  #index = 0;

  constructor(context: ReaderContext, ahead: Foreknowledge = NOTHING_KNOWN) {
    this.#context = context;
    this.#ahead = ahead;
  }

  /** Calls that have no result yet, by their id. */
  get openCalls(): ReadonlyMap<string, OpenCall> {
    return this.#open;
  }

  /** The events that this record causes. `index` is its place among the records of the turn. */
  read(record: SessionRecord, index: number): HarnessEvent[] {
    this.#index = index;
    this.#events = [];
    this.#record(record);
    return this.#events;
  }

  /** The program says which agent an open call has started. */
  agentStarted(callId: string, agentId: string, at: number | null): HarnessEvent[] {
    const { agent = null, itemId = callId } = this.#open.get(callId) ?? {};
    if (agent === null) return [];
    agent.knownAgentId = agentId;
    return [{ type: "item.updated", itemId, update: { type: "children", children: runningChildren(agent) }, at }];
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
        return this.#system(record);
      default:
        return this.#generic(this.#id(record), stringOf(record["type"]) ?? "line", record, record, true);
    }
  }

  #system(record: SessionRecord): void {
    switch (record["subtype"]) {
      case "compact_boundary":
        return this.#compaction(record);
      case "api_error":
        return void this.#events.push({ type: "retry", error: retryOf(record), at: timeOf(record) });
      case "local_command":
        return this.#commandOutput(stringOf(record["content"]) ?? "", record);
      default:
        return;
    }
  }

  #assistant(record: SessionRecord): void {
    if (isFiller(record)) return;
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
    const usage = this.#ahead.usage(record);
    if (usage !== null) this.#events.push({ type: "usage.updated", usage, at });
  }

  #call(block: ContentBlock, lineId: string, at: number | null): void {
    const id = filledString(block["id"]) ?? lineId;
    const name = filledString(block["name"]) ?? "tool";
    const input = block["input"];
    const results = this.#ahead.results(id);
    const free = results?.filter((result) => !this.#taken.has(result.block)) ?? [];
    const found = free.find(({ index }) => index > this.#index) ?? free[0];
    const before = this.#open.get(id) ?? this.#closed.get(id);
    const isSame = before?.name === name && JSON.stringify(before.input) === JSON.stringify(input);
    if (isSame && (this.#open.has(id) || (results !== null && found === undefined))) return this.#count("call.copy", id);
    const itemId = freeId(this.#itemIds, id);
    const agent: AgentCall | null = isAgentCall(name)
      ? { callId: itemId, input, inline: itemId === id ? this.#ahead.inlineAgent(id) : null, knownAgentId: this.#context.subAgents.get(id) ?? null, sessionId: this.#context.sessionId }
      : null;
    this.#open.set(id, { itemId, name, input, agent });
    const item = agent === null ? ({ kind: "tool", id: itemId, name, input } as const) : agentItem(agent, found?.record["toolUseResult"]);
    this.#events.push({ type: "item.started", item, at });
    if (found !== undefined && found.index < this.#index) this.#result(found.block, found.record, id);
  }

  #result(block: ContentBlock, record: SessionRecord, lineId: string): void {
    const at = timeOf(record);
    const id = filledString(block["tool_use_id"]);
    const call = id === null ? undefined : this.#open.get(id);
    this.#countOmitted(blocksOf(block["content"]));
    if (id === null || (call === undefined && !this.#ahead.hasCall(id) && !this.#closed.has(id))) {
      this.#count("result.withoutCall", id);
      const own = freeId(this.#itemIds, id ?? lineId);
      this.#closed.set(own, null);
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
    this.#closed.set(id, call);
    this.#taken.add(block);
    const { outcome, result } = resultOf(block, record, call);
    if (call.agent !== null) result.children = childrenAfter(call.agent, block, record["toolUseResult"], outcome);
    this.#events.push({ type: "item.completed", itemId: call.itemId, outcome, result, at });
  }

  #user(record: SessionRecord): void {
    if (record["isCompactSummary"] === true) return this.#compaction(record);
    const content = messageOf(record)["content"];
    const blocks = blocksOf(content);
    blocks.forEach((block, position) => {
      if (isToolResult(block)) this.#result(block, record, `${this.#id(record)}:${position}`);
    });
    if (isHidden(record)) return;
    const read = readUserLine(record);
    if (read.kind === "nothing") return this.#commandOutput(read.text, record);
    const id = this.#id(record);
    const at = timeOf(record);
    if (read.kind === "notice") this.#events.push(...noticeEvents(id, read.text, sourceOfNews(record), at));
    else if (read.kind === "summary") this.#compaction(record);
    else if (read.kind === "shellInput") this.#shellInput(read.text, at);
    else if (read.kind === "shellOutput") this.#shellOutput(read.text, at);
    else this.#message(id, read.input, at);
  }

  /** A message that came while the turn ran: typed ahead, or news from the harness. */
  #queued(record: SessionRecord): void {
    const attachment = objectOf(record["attachment"]);
    const { prompt } = attachment;
    const source = sourceOfNews(attachment);
    const text = stringOf(prompt) ?? stringOf(blocksOf(prompt)[0]?.["text"]) ?? "";
    const id = this.#id(record);
    const at = timeOf(record);
    if ((isNotice(text) && !isTyped(attachment)) || source !== null) return void this.#events.push(...noticeEvents(id, text, source, at));
    const read = readUserContent(prompt);
    this.#countOmitted(blocksOf(prompt));
    if (read.input.length > 0) this.#message(id, read.input, at);
  }

  #message(id: string, content: UserInput[], at: number | null): void {
    // Whole as soon as it is there: it takes no completion.
    this.#events.push({ type: "item.started", item: { kind: "userMessage", id, content }, at });
  }

  /** In a turn that is a command of the program, what it printed is the answer; elsewhere it is none of the exchange. */
  #commandOutput(text: string, record: SessionRecord): void {
    const output = this.#context.ofCommand ? commandOutput(text) : null;
    if (output === null) return;
    const id = `${this.#id(record)}:0`;
    const at = timeOf(record);
    this.#events.push({ type: "item.started", item: { kind: "message", id, text: output }, at }, { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at });
  }

  #shellInput(text: string, at: number | null): void {
    const command = tagged(text, "bash-input") ?? "";
    this.#events.push({ type: "item.started", item: { kind: "command", id: SHELL, command, source: "userShell" }, at });
    if (text.includes("<bash-stdout>") || text.includes("<bash-stderr>")) this.#shellOutput(text, at);
  }

  #shellOutput(text: string, at: number | null): void {
    const output = [tagged(text, "bash-stdout"), tagged(text, "bash-stderr")].filter((part) => part !== null).join("\n");
    this.#events.push({ type: "item.completed", itemId: SHELL, outcome: { status: "succeeded" }, result: { output }, at });
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
  #generic(id: string, name: string, input: Readonly<Record<string, unknown>>, record: SessionRecord, isUnknown = false): void {
    const at = timeOf(record);
    this.#events.push(
      { type: "item.started", item: { kind: "tool", id, name, input: withoutChain(input), ...(isUnknown ? { unknown: true } : {}) }, at },
      { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at },
    );
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
