import { type DiagnosticCounter, filledString, finiteNumber, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";
import { readExecOutput } from "@foldcast/protocol-core/tools";
import type { MessagePhase } from "@foldcast/protocol-core/wire";
import { childOfActivity } from "./agents.ts";
import { callInput, callName, isProgram } from "./calls.ts";
import { SILENT_EVENTS } from "./events.ts";
import { itemOfEvent } from "./legacy-events.ts";
import { readLine, type RolloutLine } from "./line.ts";
import { isKnownItem, searchAction } from "./native-items.ts";
import { member, type SessionRecord, textsOf } from "./record.ts";
import type { CallSlot, Source } from "./slots.ts";
import { type Told, TurnSlots } from "./turn-slots.ts";
import { contentOfEvent, contentOfItem, contentOfUserMessage, type UserContent } from "./user-input.ts";

const PHASES: ReadonlySet<unknown> = new Set<MessagePhase>(["commentary", "partial_answer", "final_answer"]);
const PLAN = /<proposed_plan>\n?([^]*?)\n?<\/proposed_plan>/g;
/** Marks for Codex itself inside of a message. */
const CITATIONS = /<oai-mem-citation>[^]*?<\/oai-mem-citation>/g;

/** What Codex writes before the words of an agent's message (0.171). */
const AGENT_HEADER = /^Message Type: .*\n(?:[A-Z][\w ]*: .*\n)*Payload:\n*/;

/** Reads the lines of one turn into what the turn shows. */
export class TurnReader {
  readonly #records: readonly SessionRecord[];
  readonly #diagnostics: DiagnosticCounter;
  readonly #slots = new TurnSlots();
  /** Calls that go on in the background, by the id that a wait for them names. */
  readonly #background = new Map<string, CallSlot>();
  #generic = 0;
  #reviews = 0;

  constructor(records: readonly SessionRecord[], diagnostics: DiagnosticCounter) {
    this.#records = records;
    this.#diagnostics = diagnostics;
  }

  read(): TurnSlots {
    for (const record of this.#records) {
      const line = readLine(record);
      if (line === null) continue;
      this.#slots.next(line.ordinal !== null);
      if (line.kind === "item") this.#item(line.payload, line);
      else if (line.kind === "event") this.#event(line.payload, line);
      else if (line.kind === "compacted") {
        this.#slots.summarized((stringOf(line.payload["message"]) ?? "").trim());
        this.#compaction("line", line);
      }
      else if (line.kind === "unknown") this.#unknown(line.type, line.payload, line);
    }
    return this.#slots;
  }

  #item(payload: SessionRecord, line: RolloutLine): void {
    const type = stringOf(payload["type"]) ?? "";
    const id = filledString(payload["id"]);
    switch (type) {
      case "message":
        return payload["role"] === "assistant" ? this.#answer(payload, id, line) : this.#user(contentOfItem(payload), null, "record", line);
      case "reasoning": {
        const summary = textsOf(payload["summary"]);
        return this.#slots.reasoning(summary.length > 0 ? summary : textsOf(payload["content"]), this.#told("record", id, line));
      }
      case "function_call":
      case "custom_tool_call":
        return this.#call(payload, callName(payload), callInput(payload["arguments"] ?? payload["input"]), line);
      case "local_shell_call":
        return this.#call(payload, type, { action: payload["action"] }, line);
      case "tool_search_call":
        return this.#call(payload, type, callInput(payload["arguments"]), line);
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#output(payload, payload["output"], line);
      case "tool_search_output":
        return this.#output(payload, { content: JSON.stringify(payload["tools"] ?? payload["output"] ?? null) }, line);
      case "web_search_call":
        return this.#webSearch(id ?? filledString(payload["call_id"]), { type: "WebSearch", query: payload["query"], action: payload["action"] }, "record", line);
      case "image_generation_call":
        return this.#slots.nativeOnce(id, `image:${stringOf(payload["revised_prompt"]) ?? ""}`, { ...payload, type: "ImageGeneration" }, this.#told("record", id, line));
      case "agent_message":
        return this.#agentMessage(payload, line);
      case "compaction":
      case "compaction_summary":
      case "context_compaction":
        return this.#compaction("record", line);
      default:
        return this.#unknown(type, payload, line);
    }
  }

  #event(payload: SessionRecord, line: RolloutLine): void {
    const type = stringOf(payload["type"]) ?? "";
    switch (type) {
      case "item_completed":
        return this.#completed(objectOf(payload["item"]), payload, line);
      case "user_message":
        return this.#user(contentOfEvent(payload), filledString(payload["client_id"]), "event", line);
      case "agent_message":
        return this.#message(stringOf(payload["message"]) ?? "", payload["phase"], this.#told("event", null, line));
      case "agent_reasoning":
      case "agent_reasoning_raw_content":
        return this.#slots.reasoning([stringOf(payload["text"]) ?? ""], this.#told("event", null, line));
      case "context_compacted":
        return this.#compaction("event", line);
      case "entered_review_mode":
        this.#slots.call(`review ${++this.#reviews}`, type, { review: payload["user_facing_hint"] ?? payload["target"] ?? null }, line.at);
        return;
      case "exited_review_mode":
        return this.#reviewed(objectOf(payload["review_output"]), line);
    }
    const item = itemOfEvent(payload);
    if (item !== null) return this.#native(item, "event", line, null);
    if (!SILENT_EVENTS.has(type)) this.#unknown(type, payload, line);
  }

  #completed(item: SessionRecord, payload: SessionRecord, line: RolloutLine): void {
    const id = filledString(item["id"]);
    const completedAt = finiteNumber(payload["completed_at_ms"]) ?? line.at;
    const told: Told = { source: "item", id, startedAt: finiteNumber(payload["started_at_ms"]) ?? completedAt, completedAt };
    switch (item["type"]) {
      case "UserMessage":
        return this.#slots.user(contentOfUserMessage(item), filledString(member(item, "client_id")), told);
      case "AgentMessage":
        return this.#message(textsOf(item["content"]).join(""), item["phase"], told);
      case "Reasoning": {
        const summary = textList(member(item, "summary_text"));
        return this.#slots.reasoning(summary.length > 0 ? summary : textList(member(item, "raw_content")), told);
      }
      case "Plan":
        return this.#plan(stringOf(item["text"]) ?? "", told);
      case "ContextCompaction":
        return this.#compaction("item", line);
      default:
        return this.#native(item, "item", line, told);
    }
  }

  #native(item: SessionRecord, source: Source, line: RolloutLine, told: Told | null): void {
    const id = filledString(item["id"]);
    const about = told ?? this.#told(source, id, line);
    if (item["type"] === "WebSearch") return this.#webSearch(id, item, source, line, about);
    if (item["type"] === "ImageGeneration") return this.#slots.nativeOnce(id, `image:${stringOf(member(item, "revised_prompt")) ?? ""}`, item, about);
    if (item["type"] === "SubAgentActivity" && id !== null) {
      const child = childOfActivity(item);
      const isCall = this.#slots.isCall(id);
      if (child !== null && isCall) this.#slots.child(id, child);
      if (isCall || (child !== null && this.#slots.aboutChild({ ref: child.ref }, { status: child.status }))) return;
    }
    if (!isKnownItem(item)) this.#diagnostics.count("item.unknownType", stringOf(item["type"]));
    this.#slots.native(id, item, about);
  }

  #user(content: UserContent, clientId: string | null, source: Source, line: RolloutLine): void {
    if (content.input.length > 0) this.#slots.user(content, clientId, this.#told(source, null, line));
  }

  /** The model's record of a message; a plan in it is an item of its own. */
  #answer(payload: SessionRecord, id: string | null, line: RolloutLine): void {
    const told = this.#told("record", id, line);
    const text = textsOf(payload["content"]).join("");
    const shown = text.replace(PLAN, (_, plan: string) => {
      this.#plan(plan, { ...told, id: null });
      return "";
    });
    const refusals = objectsOf(payload["content"]).flatMap((part) => stringOf(part["refusal"]) ?? []);
    this.#message([shown.replace(CITATIONS, ""), ...refusals].join(""), payload["phase"], told);
  }

  #message(text: string, phase: unknown, told: Told): void {
    if (text.trim() === "") return;
    const isKnown = PHASES.has(phase);
    if (!isKnown && phase !== null && phase !== undefined) this.#diagnostics.count("phase.unknown", JSON.stringify(phase));
    this.#slots.message(text, isKnown ? (phase as MessagePhase) : null, told);
  }

  #plan(text: string, { source, startedAt, completedAt }: Told): void {
    if (text.trim() === "") return;
    const id = `plan ${this.#generic++}`;
    this.#slots.once(source, `plan:${text.trim()}`, { item: { kind: "plan", id, text }, startedAt, completedAt });
  }

  #compaction(source: string, { at }: RolloutLine): void {
    this.#slots.once(source, "compaction", { item: { kind: "compaction", id: `compaction ${this.#generic++}` }, startedAt: at, completedAt: at });
  }

  #call(payload: SessionRecord, name: string, input: unknown, { at }: RolloutLine): void {
    const id = filledString(payload["call_id"]) ?? filledString(payload["id"]) ?? `call ${this.#generic++}`;
    if (!this.#slots.call(id, name, input, at)) return this.#diagnostics.count("call.copy", id);
    const call = this.#slots.find(id);
    if (call?.kind !== "call") return;
    const awaited = waitedFor(name, objectOf(input));
    const parent = awaited === null ? undefined : this.#background.get(awaited);
    if (parent === undefined || parent === call) return;
    call.continues = parent.continues ?? parent;
    call.continues.continuations.push(call);
  }

  #output(payload: SessionRecord, output: unknown, { at }: RolloutLine): void {
    const callId = filledString(payload["call_id"]);
    if (callId === null) return this.#diagnostics.count("output.withoutCall", JSON.stringify(payload).slice(0, 200));
    const slot = this.#slots.output(callId, output, at);
    if (slot === null) return;
    const { backgroundId } = readExecOutput(output);
    const owner = slot.continues ?? slot;
    if (slot !== owner) owner.completedAt = at ?? owner.completedAt;
    if (backgroundId !== null) this.#background.set(backgroundId, owner);
    else if (isProgram(owner.name)) this.#slots.ended(owner);
  }

  #webSearch(id: string | null, item: SessionRecord, source: Source, line: RolloutLine, told = this.#told(source, id, line)): void {
    const action = searchAction(item["action"]) ?? { type: "search", query: stringOf(item["query"]), queries: null };
    this.#slots.nativeOnce(id, `search:${JSON.stringify(action)}`, item, told);
  }

  /**
   * What one agent told another: of a sub-agent that this turn started, the message beside its state. Those that are
   * encrypted show nothing.
   */
  #agentMessage(payload: SessionRecord, line: RolloutLine): void {
    const said = textsOf(payload["content"]).join("\n");
    const text = said.replace(AGENT_HEADER, "");
    if (text.trim() === "") return;
    const author = filledString(payload["author"]);
    if (author !== null && said.startsWith("Message Type: FINAL_ANSWER\n") && this.#slots.aboutChild({ name: author }, { message: text })) return;
    const id = filledString(payload["id"]) ?? `agent message ${this.#generic++}`;
    if (this.#slots.call(id, "agent_message", { author: payload["author"], recipient: payload["recipient"] }, line.at)) this.#slots.output(id, { content: text }, line.at);
  }

  #reviewed(review: SessionRecord, line: RolloutLine): void {
    const findings = objectsOf(review["findings"]).flatMap((finding) => filledString(finding["title"]) ?? []);
    const text = [filledString(review["overall_explanation"]), ...findings.map((title) => `- ${title}`)].filter((part) => part !== null).join("\n");
    const id = `review ${Math.max(1, this.#reviews)}`;
    if (this.#reviews === 0) this.#slots.call(id, "exited_review_mode", {}, line.at);
    this.#slots.output(id, text, line.at);
  }

  #unknown(type: string, payload: SessionRecord, { at }: RolloutLine): void {
    const id = `unknown ${this.#generic++}`;
    this.#slots.once("line", id, { item: { kind: "tool", id, name: type === "" ? "record" : type, input: withoutType(payload), unknown: true }, startedAt: at, completedAt: at });
  }

  #told(source: Source, id: string | null, { at }: RolloutLine): Told {
    return { source, id, startedAt: at, completedAt: at };
  }
}

function withoutType(payload: SessionRecord): SessionRecord {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => name !== "type" && name !== "internal_chat_message_metadata_passthrough"));
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((part) => typeof part === "string") : [];
}

/** The id of what a call only waits for: a program's cell, or a process that it writes nothing to. */
function waitedFor(name: string, input: SessionRecord): string | null {
  const id = name === "wait" ? input["cell_id"] : name === "write_stdin" && (input["chars"] ?? "") === "" ? input["session_id"] : null;
  return typeof id === "number" ? String(id) : filledString(id);
}
