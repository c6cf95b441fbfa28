import type { HarnessEvent, PlanReport, SessionState, TurnOutcome, UsageReport } from "@foldcast/protocol-core/harness";
import { AcpCalls, type Demanded, type TerminalState } from "./calls.ts";
import { stateOfOptions } from "./config.ts";
import { textOfBlock } from "./content.ts";
import type { AcpDialect } from "./dialect.ts";
import { type JsonRecord, countOf, filledString, objectOf, objectsOf, stringOf } from "../json.ts";

export interface UpdateContext {
  dialect: AcpDialect;
  terminal(id: string): TerminalState | null;
  /** A kind of update, or a form of one, that is not known. */
  count(code: string, sample: string | null): void;
}

const SAID_LIMIT = 4096;

/**
 * Makes events from the `session/update`s of one turn, in their order. Pure: the same updates give the same events. The
 * beginning and the end of the turn are not among them.
 */
export class AcpUpdates {
  readonly #context: UpdateContext;
  readonly calls: AcpCalls;
  /** The text that grows. */
  #speaking: { kind: "message" | "reasoning"; id: string; messageId: string | null } | null = null;
  #compaction: string | null = null;
  #numbers = 0;
  #said = "";

  constructor(context: UpdateContext) {
    this.#context = context;
    this.calls = new AcpCalls(context.dialect, (id) => context.terminal(id));
  }

  take(update: JsonRecord, at: number): HarnessEvent[] {
    const kind = stringOf(update["sessionUpdate"]) ?? "";
    if (SILENT.has(kind) || this.#context.dialect.silentUpdates?.has(kind) === true) return [];
    switch (kind) {
      case "agent_message_chunk":
        return this.#chunk("message", update, at);
      case "agent_thought_chunk":
        return this.#chunk("reasoning", update, at);
      case "user_message_chunk":
        // The prompt, said again by the agent; what is replayed is read from saved sessions instead.
        return [];
      case "tool_call":
      case "tool_call_update": {
        const events = this.calls.update(update, at);
        return events.some((event) => event.type === "item.started") ? [...this.#silence(at), ...events] : events;
      }
      case "plan":
        return [{ type: "plan.updated", plan: planOf(update["entries"]), at }];
      case "compaction_update":
        return this.#compact(update, at);
      case "compaction_summary_chunk":
        return [];
      case "notice":
        return this.#aside(kind, update, at);
      default:
        this.#context.count("update.unknownKind", JSON.stringify(update));
        return this.#aside(kind === "" ? "update" : kind, update, at, true);
    }
  }

  /** The beginning of the last text of the answer so far. */
  get said(): string {
    return this.#said;
  }

  /** What is asked about is shown first, behind all that was said. */
  demand(call: JsonRecord, at: number): Demanded {
    const demanded = this.calls.demand(call, at);
    return demanded.events.length === 0 ? demanded : { ...demanded, events: [...this.#silence(at), ...demanded.events] };
  }

  /** The turn is over: what is open ends. `cancelled`: a text that was cut off is no answer. */
  end(cancelled: boolean, at: number): HarnessEvent[] {
    const speaking = this.#silence(at, cancelled ? "cancelled" : "succeeded");
    const compaction: HarnessEvent[] = this.#compaction === null ? [] : [{ type: "item.completed", itemId: this.#compaction, outcome: { status: "cancelled" }, at }];
    return [...speaking, ...this.calls.close(at), ...compaction];
  }

  #chunk(kind: "message" | "reasoning", update: JsonRecord, at: number): HarnessEvent[] {
    const append = textOfBlock(objectOf(update["content"]));
    if (append === "" || (kind === "message" && this.#context.dialect.isNotice?.(append) === true)) return [];
    const messageId = filledString(update["messageId"]);
    const goesOn = this.#speaking?.kind === kind && (messageId === null || this.#speaking.messageId === null || messageId === this.#speaking.messageId);
    const events: HarnessEvent[] = [];
    if (!goesOn) {
      events.push(...this.#silence(at), ...this.calls.flush(at));
      this.#speaking = { kind, id: this.#number(kind), messageId };
      events.push({ type: "item.started", item: { kind, id: this.#speaking.id }, at });
    }
    if (kind === "message") this.#said = ((goesOn ? this.#said : "") + append).slice(0, SAID_LIMIT);
    events.push({ type: "item.updated", itemId: this.#speaking!.id, update: { type: "text", append }, at });
    return events;
  }

  #silence(at: number, status: "succeeded" | "cancelled" = "succeeded"): HarnessEvent[] {
    const speaking = this.#speaking;
    this.#speaking = null;
    return speaking === null ? [] : [{ type: "item.completed", itemId: speaking.id, outcome: { status }, at }];
  }

  #compact(update: JsonRecord, at: number): HarnessEvent[] {
    const { status } = update;
    const events: HarnessEvent[] = [];
    if (this.#compaction === null) {
      if (status === "completed" || status === "failed") return [];
      this.#compaction = this.#number("compaction");
      events.push(...this.#silence(at), { type: "item.started", item: { kind: "compaction", id: this.#compaction }, at });
    }
    if (status !== "completed" && status !== "failed") return events;
    events.push({ type: "item.completed", itemId: this.#compaction, outcome: { status: status === "completed" ? "succeeded" : "failed" }, at });
    this.#compaction = null;
    return events;
  }

  /** Shown with its own name and content. */
  #aside(name: string, update: JsonRecord, at: number, isUnknown = false): HarnessEvent[] {
    const id = this.#number("update");
    const input = Object.fromEntries(Object.entries(update).filter(([member]) => member !== "sessionUpdate"));
    return [...this.#silence(at), { type: "item.started", item: { kind: "tool", id, name, input, ...(isUnknown ? { unknown: true } : {}) }, at }, { type: "item.completed", itemId: id, outcome: { status: "succeeded" }, at }];
  }

  #number(kind: string): string {
    this.#numbers += 1;
    return `acp:${kind}:${this.#numbers}`;
  }
}

/** Of the session, not of a turn: see `stateOf`. */
const SILENT: ReadonlySet<string> = new Set(["available_commands_update", "usage_update", "session_info_update", "current_mode_update", "config_option_update"]);

/** What an update says of the session; null for one that is about a turn. */
export function stateOf(kind: string, update: JsonRecord): SessionState | null {
  switch (kind) {
    case "session_info_update":
      return update["title"] === undefined ? {} : { title: filledString(update["title"]) };
    case "current_mode_update": {
      const mode = filledString(update["currentModeId"]);
      return mode === null ? {} : { permissionMode: mode };
    }
    case "config_option_update":
      return stateOfOptions(update["configOptions"]);
    default:
      return null;
  }
}

export function planOf(entries: unknown): PlanReport {
  return objectsOf(entries).map((entry) => ({
    step: stringOf(entry["content"]) ?? "",
    status: entry["status"] === "completed" ? "completed" : entry["status"] === "in_progress" ? "inProgress" : "pending",
  }));
}

/** Token counts of a prompt's answer (`usage` of protocol v1, unstable); null where it says none. */
export function usageOfAnswer(usage: unknown, contextWindow: number | null): UsageReport | null {
  const counts = objectOf(usage);
  const input = countOf(counts["inputTokens"]);
  const output = countOf(counts["outputTokens"]);
  if (input === null && output === null) return null;
  const cachedInput = countOf(counts["cachedReadTokens"]);
  const cacheWrite = countOf(counts["cachedWriteTokens"]);
  const reasoning = countOf(counts["thoughtTokens"]);
  return {
    last: {
      input: input ?? 0, output: output ?? 0,
      ...(cachedInput === null ? {} : { cachedInput }), ...(cacheWrite === null ? {} : { cacheWrite }), ...(reasoning === null ? {} : { reasoning }),
    },
    ...(contextWindow === null ? {} : { contextWindow }),
  };
}

/** By the stop reason of protocol v1. An answer that was cut short by its length is an answer. */
export function outcomeOf(answer: JsonRecord, cancelAsked: boolean): TurnOutcome {
  switch (answer["stopReason"]) {
    case "cancelled":
      return { status: "cancelled" };
    case "refusal":
      return { status: "failed", error: { message: "The agent refused to go on with this request." } };
    case "max_turn_requests":
      return { status: "failed", error: { message: "The agent reached its maximum number of requests in one turn." } };
    default:
      return cancelAsked ? { status: "cancelled" } : { status: "succeeded" };
  }
}
