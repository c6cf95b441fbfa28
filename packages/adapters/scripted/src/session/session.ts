import { EventQueue } from "@foldcast/adapter-kit";
import type {
  HarnessError, HarnessEnvironment, HarnessEvent, HarnessSession, InteractionAnswer, InteractionRequest, SessionOptions, TurnInput,
} from "@foldcast/protocol-core/harness";
import type { EngineSink, TurnEngine } from "../engine/engine.ts";
import { modelOf, type Scenario, type ScenarioTurn } from "../scenario/schema.ts";
import type { SessionFile } from "./file.ts";
import { promptText } from "./scan.ts";

const COMPACTION: ScenarioTurn = { steps: [{ compaction: true }], end: "succeeded" };

export interface SessionSetup {
  nativeSessionId: string;
  file: SessionFile;
  environment: HarnessEnvironment;
  scenario: Scenario;
  /** Working directory of this run, where it differs from the one in the file's header. */
  cwd: string | null;
  /** Number of the first turn that this run adds, from 1. */
  firstTurn: number;
  speed: number;
  /** Rejects with a readable message where there is no such model. */
  findScenario(model: string): Scenario;
  makeEngine(sink: EngineSink): TurnEngine;
  /** Called once, when nothing more will be written. */
  onEnd(): void;
}

/**
 * One scripted conversation: keeps the file, the queue and the state of the turn; an engine plays. Every event goes to
 * the file first and then to the reader.
 */
export class ScriptedSession implements HarnessSession {
  readonly nativeSessionId: string;
  readonly file: string;
  readonly #setup: SessionSetup;
  readonly #queue = new EventQueue<HarnessEvent>();
  readonly #engine: TurnEngine;
  #scenario: Scenario;
  #nextTurn: number;
  #turnKey: string | null = null;
  #turnStartedAt = 0;
  #phase: "idle" | "preparing" | "running" = "idle";
  /** A cancel that came while the turn was being prepared. */
  #cancelAsked = false;
  readonly #interactions = new Map<string, InteractionRequest>();
  #over: "closed" | "faulted" | null = null;
  #ending: Promise<void> | null = null;

  constructor(setup: SessionSetup) {
    this.nativeSessionId = setup.nativeSessionId;
    this.file = setup.file.path;
    this.#setup = setup;
    this.#scenario = setup.scenario;
    this.#nextTurn = setup.firstTurn;
    this.#engine = setup.makeEngine({
      emit: (events) => this.#over === null ? this.#publish(events) : Promise.resolve(),
      fault: (error) => this.#fault(error),
    });
    const state = { nativeSessionId: this.nativeSessionId, file: this.file, model: modelOf(this.#scenario) };
    void this.#publish([{ type: "session.state", state, at: this.#now() }]);
  }

  get events(): AsyncIterable<HarnessEvent> {
    return this.#queue;
  }

  /** Key of the turn that runs; null between turns. */
  get runningTurn(): string | null {
    return this.#phase === "running" ? this.#turnKey : null;
  }

  /** Whether the session was closed or has failed. */
  get isOver(): boolean {
    return this.#over !== null;
  }

  startTurn(input: TurnInput): Promise<void> {
    const scenario = this.#scenario;
    const prompt = promptText(input.input);
    // What no `match` fits plays the first turn.
    const turnIndex = Math.max(0, scenario.turns.findIndex((turn) => turn.match !== undefined && prompt.includes(turn.match)));
    return this.#play(input, scenario.turns[turnIndex]!, turnIndex);
  }

  /** A turn that shows nothing but that the context was shortened; it costs the scripted harness nothing. */
  compact(): Promise<void> {
    return this.#play(null, COMPACTION, this.#scenario.turns.length);
  }

  /** `input` null: nobody's, the harness was told to by other means. */
  async #play(input: TurnInput | null, turn: ScenarioTurn, turnIndex: number): Promise<void> {
    this.#demandUsable();
    if (this.#phase !== "idle") throw new Error("A turn is running already; wait for its end or cancel it.");
    const scenario = this.#scenario;
    this.#phase = "preparing";
    try {
      await this.#engine.prepare();
    } catch (error) {
      this.#demandUsable();
      this.#phase = "idle";
      throw error;
    }
    this.#demandUsable();
    const startedAt = this.#now();
    this.#phase = "running";
    this.#turnStartedAt = startedAt;
    this.#turnKey = `t${this.#nextTurn++}`;
    const { cwd, speed } = this.#setup;
    void this.#publish([{
      type: "turn.started", turnKey: this.#turnKey, at: startedAt, input: input?.input ?? [], clientId: input?.clientId ?? null,
      ...(cwd === null ? {} : { cwd }), model: modelOf(scenario),
    }]);
    this.#engine.start({ turn, turnIndex, startedAt, speed });
    if (this.#cancelAsked) this.#engine.cancel();
    this.#cancelAsked = false;
  }

  steer(input: TurnInput): Promise<void> {
    return this.#call(() => {
      if (this.#phase !== "running") throw new Error("There is no running turn to steer.");
      this.#engine.steer(input);
    });
  }

  cancel(): Promise<void> {
    return this.#call(() => {
      if (this.#phase === "running") this.#engine.cancel();
      else if (this.#phase === "preparing") this.#cancelAsked = true;
    });
  }

  answer(interactionId: string, answer: InteractionAnswer): Promise<void> {
    return this.#call(() => {
      const request = this.#interactions.get(interactionId);
      if (request === undefined) throw new Error(`The request ${interactionId} is not open.`);
      if (request.kind !== answer.kind) throw new Error(`The request ${interactionId} is of kind ${request.kind}, the answer of kind ${answer.kind}.`);
      if (request.kind === "approval" && answer.kind === "approval" && !request.offers.includes(answer.decision)) {
        throw new Error(`The request ${interactionId} does not offer ${answer.decision}; it offers ${request.offers.join(", ")}.`);
      }
      this.#interactions.delete(interactionId);
      this.#engine.answer(interactionId, answer);
    });
  }

  select(options: Partial<Omit<SessionOptions, "cwd">>): Promise<void> {
    return this.#call(() => {
      const { model } = options;
      if (model === undefined || model === null) return;
      this.#scenario = this.#setup.findScenario(model);
      void this.#publish([{ type: "session.state", state: { model: modelOf(this.#scenario) }, at: this.#now() }]);
    });
  }

  close(): Promise<void> {
    if (this.#over !== null) return this.#ending ?? Promise.resolve();
    if (this.#phase === "running") {
      const at = this.#now();
      void this.#publish([
        ...[...this.#interactions.keys()].map((interactionId): HarnessEvent => ({ type: "interaction.closed", interactionId, reason: "cancelled", at })),
        {
          type: "turn.completed", outcome: { status: "cancelled", reason: "The session was closed." }, at,
          durationMs: Math.max(0, at - this.#turnStartedAt),
        },
      ]);
    }
    this.#end("closed");
    return this.#ending ?? Promise.resolve();
  }

  #now(): number {
    return this.#setup.environment.now();
  }

  #demandUsable(): void {
    if (this.#over === "closed") throw new Error("The session is closed.");
    if (this.#over === "faulted") throw new Error("The session has failed; resume it to go on.");
  }

  /** Runs a call of the host; what it throws becomes the rejection. */
  #call(run: () => void): Promise<void> {
    return new Promise((resolve) => {
      this.#demandUsable();
      run();
      resolve();
    });
  }

  /** Writes, then emits; never rejects. Resolves when the reader has kept up. */
  #publish(events: readonly HarnessEvent[]): Promise<void> {
    try {
      this.#setup.file.append(this.#turnKey, events);
    } catch (error) {
      this.#fault({ message: `The session file cannot be written: ${error instanceof Error ? error.message : String(error)}` });
      return Promise.resolve();
    }
    for (const event of events) {
      this.#watch(event);
      void this.#queue.push(event);
      if (event.type === "fault") {
        this.#end("faulted");
        return Promise.resolve();
      }
    }
    return this.#queue.room();
  }

  #watch(event: HarnessEvent): void {
    if (event.type === "interaction.opened" && event.interaction.kind === "quickReply") return;
    if (event.type === "interaction.opened") this.#interactions.set(event.interaction.id, event.interaction);
    else if (event.type === "interaction.closed") this.#interactions.delete(event.interactionId);
    else if (event.type === "turn.completed") {
      // Before the event is out: its reader may start the next turn at once.
      this.#phase = "idle";
      this.#interactions.clear();
    }
  }

  #fault(error: HarnessError): void {
    if (this.#over !== null) return;
    const event: HarnessEvent = { type: "fault", error, at: this.#now() };
    try {
      this.#setup.file.append(this.#turnKey, [event]);
    } catch {
      // The file itself may be what failed; the host must hear of it all the same.
    }
    void this.#queue.push(event);
    this.#end("faulted");
  }

  #end(how: "closed" | "faulted"): void {
    if (this.#over !== null) return;
    this.#over = how;
    this.#phase = "idle";
    this.#interactions.clear();
    this.#queue.end();
    this.#setup.file.close();
    this.#setup.onEnd();
    this.#ending = this.#engine.close();
  }
}
