import { DiagnosticCounter, filledString, stringOf } from "@foldcast/adapter-kit";
import type { HarnessError, HarnessEvent, TurnInput, TurnOutcome } from "@foldcast/protocol-core/harness";
import { failureOf, liveRetryOf } from "../history/failure.ts";
import { type SessionRecord } from "../history/record.ts";
import { type OpenCall, TurnReader } from "../history/turn-reader.ts";
import { type Frame, isOfSubAgent, messageIds, savedLine } from "../program/frame.ts";
import { Drafts } from "./drafts.ts";
import { outcomeOf } from "./outcome.ts";

export interface LiveTurnStart {
  key: string;
  sessionId: string;
  /** Our messages that the turn answers; none for a turn that the agent started. */
  messages: readonly string[];
  /** The program runs one of its own commands. */
  ofCommand: boolean;
  startedAt: number;
}

/** What a frame means for a turn. */
export interface TurnStep {
  events: HarnessEvent[];
  /** Set by the frame that ends it. */
  outcome: TurnOutcome | null;
}

/** A turn that runs: makes events of the frames that belong to it. */
export class LiveTurn {
  readonly key: string;
  readonly startedAt: number;
  /** The program has taken it up: from here on it ends with a `result`. */
  begun: boolean;
  /** The program has put it behind what it does already. */
  queued = false;
  cancelAsked = false;
  /** No turn of the program's: something is asked while it runs none. */
  onlyAsks = false;
  readonly #messages: ReadonlySet<string>;
  readonly #reader: TurnReader;
  readonly #drafts = new Drafts();
  readonly #diagnostics = new DiagnosticCounter();
  #failure: HarnessError | null = null;
  /** Such a turn ends as if it had succeeded. */
  #notCompacted: HarnessError | null = null;
  #records = 0;

  constructor({ key, sessionId, messages, ofCommand, startedAt }: LiveTurnStart) {
    this.key = key;
    this.startedAt = startedAt;
    this.begun = messages.length === 0;
    this.#messages = new Set(messages);
    this.#reader = new TurnReader({ sessionId, subAgents: new Map<string, string>(), diagnostics: this.#diagnostics, ofCommand });
  }

  get openCalls(): ReadonlyMap<string, OpenCall> {
    return this.#reader.openCalls;
  }

  get diagnostics(): ReturnType<DiagnosticCounter["list"]> {
    return this.#diagnostics.list();
  }

  /** Whether this is a message that the turn answers. */
  answers(messageId: string): boolean {
    return this.#messages.has(messageId);
  }

  /** A saved line that stands at the turn's beginning and is not its input. */
  opening(record: SessionRecord, at: number): HarnessEvent[] {
    return this.#read(record, at);
  }

  /** A message that the program takes into the running turn. */
  joining(messageId: string, { input, clientId }: TurnInput, at: number): HarnessEvent[] {
    return [{ type: "item.started", item: { kind: "userMessage", id: messageId, content: input, clientId }, at }];
  }

  step(frame: Frame, at: number): TurnStep {
    if (frame["type"] === "result") return this.#result(frame, at);
    return { events: this.#events(frame, at), outcome: null };
  }

  #result(frame: Frame, at: number): TurnStep {
    // The end of something else that ran before the program came to this turn. (Older programs tell of no queue.)
    const isOther = !this.begun && this.queued && !messageIds(frame).some((id) => this.#messages.has(id));
    if (isOther) return { events: [], outcome: null };
    const outcome = outcomeOf(frame, this.#failure, this.cancelAsked);
    return { events: this.#drafts.end(at), outcome: outcome.status === "succeeded" && this.#notCompacted !== null ? { status: "failed", error: this.#notCompacted } : outcome };
  }

  #events(frame: Frame, at: number): HarnessEvent[] {
    if (isOfSubAgent(frame)) return [];
    switch (frame["type"]) {
      case "stream_event": {
        const events = this.#drafts.stream(frame, at);
        const usage = this.#drafts.usageAt(frame);
        return usage === null ? events : [...events, { type: "usage.updated", usage, at }];
      }
      case "assistant": {
        const record = savedLine(frame);
        // A try that succeeds later takes it back.
        this.#failure = failureOf(record);
        return this.#read(record, at);
      }
      case "user":
        // Its own echo says only that the program has come to it.
        if (frame["isReplay"] === true && this.#messages.has(filledString(frame["uuid"]) ?? "")) return [];
        return this.#read(savedLine(frame), at);
      case "system":
        return this.#system(frame, at);
      default:
        return [];
    }
  }

  #system(frame: Frame, at: number): HarnessEvent[] {
    switch (frame["subtype"]) {
      case "compact_boundary":
        return this.#read(savedLine(frame), at);
      case "status": {
        const failed = frame["compact_result"] !== undefined && frame["compact_result"] !== "success";
        if (failed) this.#notCompacted = { message: filledString(frame["compact_error"]) ?? "The conversation could not be made shorter." };
        return [];
      }
      case "api_retry":
        return [{ type: "retry", error: liveRetryOf(frame), at }];
      case "task_started": {
        const [callId, taskId] = [filledString(frame["tool_use_id"]), filledString(frame["task_id"])];
        const isAgent = stringOf(frame["task_type"]) === "local_agent";
        return callId === null || taskId === null || !isAgent ? [] : this.#reader.agentStarted(callId, taskId, at);
      }
      default:
        return [];
    }
  }

  #read(record: SessionRecord, at: number): HarnessEvent[] {
    const events = this.#reader.read(record, this.#records);
    this.#records += 1;
    return this.#drafts.join(record, events.map((event) => ({ ...event, at: event.at ?? at })), at);
  }
}
