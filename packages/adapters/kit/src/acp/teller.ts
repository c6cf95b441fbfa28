import type { HarnessEvent, TurnInput, TurnOutcome, UsageReport } from "@foldcast/protocol-core/harness";

/** How a prompt was answered. */
export interface PromptAnswer {
  outcome: TurnOutcome;
  usage: UsageReport | null;
  /** Events that close what is open of the updates. */
  readonly end: () => HarnessEvent[];
  /** Nothing more can come: the session is being closed. */
  last: boolean;
}

/** What a teller has of its session. */
export interface TellerPort {
  now(): number;
  newId(): string;
  /** Gives events to the host, in order. With `turn.completed` the session is ready for the next turn. */
  emit(events: readonly HarnessEvent[]): void;
  /** Tokens of the model's context window, as the agent said it last. */
  contextWindow(): number | null;
  request(method: string, params: object): Promise<unknown>;
}

/**
 * Tells a session's turns: it decides when a turn begins and ends and what its key is. ACP itself has no turns, only a
 * prompt and its answer; an agent whose files know more has a teller of its own.
 */
export interface AcpTeller {
  /** A turn runs that the agent began by itself. */
  readonly busy: boolean;
  /** A prompt is on its way; null = one that nobody wrote, to shorten the context. */
  begin(prompt: TurnInput | null): void;
  /** What the updates gave, and questions: of the prompt that runs, or of what the agent does by itself. */
  told(events: readonly HarnessEvent[]): void;
  /** Resolves when the turn has ended; never rejects. */
  answered(answer: PromptAnswer): Promise<void>;
  /** Stops a turn that the agent began by itself. */
  cancelOwn?(): Promise<void>;
  /** The agent has ended by itself: what is still known of its turn is told now, before the fault. Never rejects. */
  settle?(): Promise<void>;
  /** The session is over; a turn that the agent began by itself ends as cancelled. */
  close(): Promise<void>;
}

/** A turn is a prompt and its answer. */
export class PlainTeller implements AcpTeller {
  readonly busy = false;
  readonly #port: TellerPort;
  #numbers: number;
  #running = false;

  /** `turnsBefore`: how many turns the session has; keys go on from there. */
  constructor(port: TellerPort, turnsBefore = 0) {
    this.#port = port;
    this.#numbers = turnsBefore;
  }

  begin(prompt: TurnInput | null): void {
    this.#numbers += 1;
    this.#running = true;
    const { input = [], clientId = null } = prompt ?? {};
    this.#port.emit([{ type: "turn.started", turnKey: `turn-${this.#numbers}`, at: this.#port.now(), input, clientId, origin: prompt === null ? "agent" : "user" }]);
  }

  told(events: readonly HarnessEvent[]): void {
    if (this.#running) this.#port.emit(events);
  }

  answered({ outcome, usage, end }: PromptAnswer): Promise<void> {
    const at = this.#port.now();
    this.#running = false;
    this.#port.emit([...end(), ...(usage === null ? [] : [{ type: "usage.updated" as const, usage, at }]), { type: "turn.completed", outcome, at }]);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
