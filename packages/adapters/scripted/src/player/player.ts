import type { HarnessError, HarnessEvent, InteractionAnswer, InteractionRequest, TurnInput, TurnOutcome } from "@foldcast/protocol-core/harness";
import type { ScenarioTurn } from "../scenario/schema.ts";
import type { Step } from "../scenario/steps.ts";
import { branchPrefix, stepId, turnPrefix } from "../scenario/walk.ts";
import { playStep } from "./steps.ts";
import { TurnState, type Action, type PlayRequest } from "./state.ts";

export interface PlayerHost {
  /** Unix milliseconds. */
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Takes the events at once and in order; resolves when more may come. */
  emit(events: HarnessEvent[]): Promise<void>;
  /** Ends the harness as a crash would; nothing is played after it. */
  crash(): void;
}

/** One line of steps: the turn itself, or a branch of a `parallel` step. */
interface Branch {
  steps: readonly Step[];
  prefix: string;
  next: number;
  current: Generator<Action, void> | null;
  /** Scenario time in milliseconds at which it goes on. */
  due: number;
  awaiting: string | null;
  parent: Branch | null;
  /** Inner branches that are not done. */
  children: number;
}

/**
 * Plays one turn of a scenario, from behind its `turn.started` to its end.
 *
 * Branches take turns step by step in the order of the file. Delays are counted in scenario time, which moves only
 * when no branch can go on: the order of events is the same at any speed and on any machine, as long as nobody
 * answers, steers or cancels.
 */
export class TurnPlayer {
  readonly #request: PlayRequest;
  readonly #host: PlayerHost;
  readonly #state: TurnState;
  readonly #openInteractions = new Map<string, InteractionRequest>();
  #branches: Branch[];
  #turnOf = 0;
  #clock = 0;
  #wake: () => void = () => undefined;
  #steered = 0;
  #stop: "cancelled" | "silent" | null = null;
  #ended = false;

  constructor(request: PlayRequest, host: PlayerHost) {
    this.#request = request;
    this.#host = host;
    this.#state = new TurnState(request, () => host.now());
    this.#branches = [newBranch(request.turn.steps, turnPrefix(request.turnIndex), 0, null)];
  }

  /** True once the end of the turn has been emitted, or nothing more will be. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Plays to the end. Never rejects as long as the host does not. */
  async run(): Promise<void> {
    while (this.#stop === null && this.#branches.length > 0) {
      const branch = this.#nextReady();
      if (branch === null) await this.#idle();
      else await this.#advance(branch);
    }
    if (this.#stop !== "silent") this.#end(this.#stop === null ? scriptedOutcome(this.#request.turn) : { status: "cancelled" });
    this.#ended = true;
  }

  answer(interactionId: string, answer: InteractionAnswer): void {
    if (this.#stop !== null || !this.#openInteractions.delete(interactionId)) return;
    this.#state.answers.set(interactionId, answer);
    // At once, not when its branch goes on: a cancel in between must find it closed.
    void this.#host.emit([{ type: "interaction.closed", interactionId, reason: "answered", at: this.#host.now() }]);
    for (const branch of this.#branches) if (branch.awaiting === interactionId) branch.awaiting = null;
    this.#wake();
  }

  steer(input: TurnInput): void {
    if (this.#stop !== null || this.#ended) return;
    this.#steered += 1;
    const item = { kind: "userMessage", id: `steer-${this.#steered}`, content: input.input, clientId: input.clientId } as const;
    void this.#host.emit([...this.#state.start(item), ...this.#state.complete(item.id, { status: "succeeded" })]);
  }

  /** Ends the turn as cancelled; items that are open stay so, since how they would have ended is not known. */
  cancel(): void {
    this.#halt("cancelled");
  }

  /** Stops without another event. */
  stop(): void {
    this.#halt("silent");
  }

  #halt(how: "cancelled" | "silent"): void {
    this.#stop ??= how;
    this.#wake();
  }

  #end(outcome: TurnOutcome): void {
    // A raw event has ended it already.
    if (this.#ended) return;
    this.#ended = true;
    const at = this.#host.now();
    const closed = [...this.#openInteractions.keys()].map((interactionId): HarnessEvent => ({
      type: "interaction.closed", interactionId, reason: "cancelled", at,
    }));
    void this.#host.emit([...closed, { type: "turn.completed", outcome, at, durationMs: Math.max(0, at - this.#request.startedAt) }]);
  }

  #nextReady(): Branch | null {
    for (let offset = 0; offset < this.#branches.length; offset += 1) {
      const place = (this.#turnOf + offset) % this.#branches.length;
      const branch = this.#branches[place]!;
      if (branch.awaiting === null && branch.children === 0 && branch.due <= this.#clock) {
        this.#turnOf = place;
        return branch;
      }
    }
    return null;
  }

  /** Plays one step of the branch, or as much of it as goes without waiting. */
  async #advance(branch: Branch): Promise<void> {
    const place = this.#branches.indexOf(branch);
    if (branch.current === null) {
      const step = branch.steps[branch.next];
      if (step === undefined) {
        this.#branches.splice(place, 1);
        this.#turnOf = place;
        if (branch.parent !== null) branch.parent.children -= 1;
        return;
      }
      const id = stepId(branch.prefix, branch.next);
      branch.next += 1;
      if ("parallel" in step) {
        const inner = step.parallel.map((steps, number) => newBranch(steps, branchPrefix(id, number), this.#clock, branch));
        branch.children = inner.length;
        this.#branches.splice(place + 1, 0, ...inner);
        this.#turnOf = place + 1;
        return;
      }
      branch.current = playStep(step, id, this.#state);
    }
    this.#turnOf = place + 1;
    while (this.#stop === null) {
      const { value: action, done } = branch.current.next();
      if (done === true) {
        branch.current = null;
        return;
      }
      if (!await this.#perform(action, branch)) return;
    }
  }

  /** False when the branch has to wait. */
  async #perform(action: Action, branch: Branch): Promise<boolean> {
    switch (action.type) {
      case "emit":
        await this.#emit(action.events);
        return true;
      case "wait":
        branch.due = this.#clock + action.ms;
        return false;
      case "await":
        if (this.#state.answers.has(action.interactionId)) return true;
        branch.awaiting = action.interactionId;
        return false;
      case "cancel":
        this.cancel();
        return false;
      case "crash":
        this.#ended = true;
        this.stop();
        this.#host.crash();
        return false;
    }
  }

  /** Emits and waits for room, but not beyond a cancel. */
  async #emit(events: HarnessEvent[]): Promise<void> {
    if (events.length === 0) return;
    for (const event of events) this.#watch(event);
    const room = this.#host.emit(events);
    await new Promise<void>((resolve, reject) => {
      this.#wake = () => {
        if (this.#stop !== null) resolve();
      };
      room.then(resolve, reject);
    });
  }

  #watch(event: HarnessEvent): void {
    // Nobody waits for a quick reply; it outlives its turn.
    if (event.type === "interaction.opened" && event.interaction.kind === "quickReply") return;
    if (event.type === "interaction.opened") this.#openInteractions.set(event.interaction.id, event.interaction);
    else if (event.type === "interaction.closed") this.#openInteractions.delete(event.interactionId);
    else if (event.type === "turn.completed") this.#ended = true;
    else if (event.type === "fault") {
      this.#ended = true;
      this.#stop = "silent";
    }
  }

  /** Nothing can go on: waits for the earliest delay, an answer or the end. */
  async #idle(): Promise<void> {
    const due = Math.min(...this.#branches.filter((branch) => branch.awaiting === null && branch.children === 0).map((branch) => branch.due));
    const { speed } = this.#request;
    if (speed === 0 && due < Infinity) {
      this.#clock = due;
      return;
    }
    const began = this.#host.now();
    const abort = new AbortController();
    const slept = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(false);
      if (due < Infinity) this.#host.sleep((due - this.#clock) / speed, abort.signal).then(() => resolve(true), () => resolve(false));
    });
    abort.abort();
    if (slept) this.#clock = due;
    else if (due < Infinity) this.#clock = Math.min(due, this.#clock + Math.max(0, this.#host.now() - began) * speed);
  }
}

function newBranch(steps: readonly Step[], prefix: string, due: number, parent: Branch | null): Branch {
  return { steps, prefix, next: 0, current: null, due, awaiting: null, parent, children: 0 };
}

function scriptedOutcome(turn: ScenarioTurn): TurnOutcome {
  if (turn.end !== "failed") return { status: turn.end };
  const error: HarnessError = typeof turn.error === "string" ? { message: turn.error } : turn.error ?? { message: "The scenario lets this turn fail." };
  return { status: "failed", error };
}
