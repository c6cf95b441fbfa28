import { DEFAULT_POLICY, isFor } from "@foldcast/protocol-core/delivery";
import type { DeliveryPolicy } from "@foldcast/protocol-core/delivery";
import type { HarnessEvent, InteractionRequest, TurnOutcome, UsageReport } from "@foldcast/protocol-core/harness";
import { TurnProjector } from "@foldcast/protocol-core/projection";
import type { ItemDetail, ProjectorOptions, ProjectorOutput } from "@foldcast/protocol-core/projection";
import type { ThreadItem, Turn } from "@foldcast/protocol-core/wire";
import type { InputOrigin } from "@foldcast/protocol-core/interaction";
import { withDetail } from "./feed.ts";
import type { Feed } from "./feed.ts";
import type { ThreadInput } from "./thread-input.ts";

/** Measured: the real server sends a turn's diff after each change; four times a second is what a client can use. */
const DIFF_INTERVAL_MS = 250;

export interface TurnRunOptions {
  input: ThreadInput;
  projector: ProjectorOptions;
  feed: Feed;
  now: () => number;
  onUsage(report: UsageReport): void;
  onInteraction(request: InteractionRequest, item: ThreadItem | null): void;
  onInteractionClosed(requestId: string): void;
  /** An item that has begun or is complete, in whatever dialect. */
  onItem(item: ThreadItem): void;
  /** All of the turn is out but `turn/completed`: the place of the thread's new status. */
  onClosing(turn: Turn): void;
}

/** One turn while it runs: its projector, and what goes out of it. */
export class TurnRun {
  readonly id: string;
  readonly input: ThreadInput;
  /** The harness's own key; null until its `turn.started`. */
  turnKey: string | null = null;
  /** The harness has been given the input; from here on it is the harness that ends the turn. */
  handedOver = false;
  /** False for a turn that only shortens the context: what comes meanwhile is the next turn. */
  takesInput = true;
  /** Queued inputs that belong into this turn as soon as the harness knows of it. */
  readonly early: string[] = [];
  /** A client asked for the end of this turn. */
  cancelRequested = false;
  /** Nothing that waits begins when it ends. */
  endsAlone = false;
  readonly #options: TurnRunOptions;
  readonly #projector: TurnProjector;
  readonly #completed = new Set<string>();
  readonly #details = new Map<string, ItemDetail>();
  /** By the client's id of the input. */
  readonly #origins = new Map<string, InputOrigin>();
  #firstInputSeen = false;
  #diffTimer: NodeJS.Timeout | null = null;
  #lastDiffAt = 0;
  #anyDiff = false;

  constructor(options: TurnRunOptions) {
    this.id = options.projector.turnId;
    this.input = options.input;
    this.#options = options;
    this.#projector = new TurnProjector(options.projector);
  }

  get ended(): boolean {
    return this.#projector.status !== "inProgress";
  }

  /** What a turn fact keeps of where its input came from. */
  get originFact(): { origin?: InputOrigin } {
    return this.input.origin === undefined ? {} : { origin: this.input.origin };
  }

  /** Remembers from where an input of this turn came, for its item. */
  noteOrigin({ clientId, origin }: ThreadInput): void {
    if (clientId !== null && origin !== undefined) this.#origins.set(clientId, origin);
  }

  get diagnostics(): TurnProjector["diagnostics"] {
    return this.#projector.diagnostics;
  }

  apply(event: HarnessEvent): void {
    if (event.type === "turn.started" && this.turnKey === null) this.turnKey = event.turnKey;
    for (const output of this.#projector.apply(event)) this.#deliver(output);
  }

  /** Begins the turn from our side, under a key that no harness has; nothing where it has begun. */
  begin(at: number): void {
    if (this.turnKey === null) this.apply({ type: "turn.started", turnKey: `host:${this.id}`, at, input: this.input.input, clientId: this.input.clientId });
  }

  /** Says the final answer from our side, whole; the turn must have begun. */
  say(answer: string, at: number): void {
    this.apply({ type: "item.started", item: { kind: "message", id: "answer", phase: "final_answer" }, at });
    this.apply({ type: "item.updated", itemId: "answer", update: { type: "text", append: answer }, at });
    this.apply({ type: "item.completed", itemId: "answer", outcome: { status: "succeeded" }, at });
  }

  /** Ends the turn from our side, with the frames that every end has; nothing where it has ended. */
  end(outcome: TurnOutcome, at: number): void {
    this.begin(at);
    if (!this.ended) this.apply({ type: "turn.completed", outcome, at });
  }

  /**
   * The turn as it is now. While it runs, a client that replaces items by id gets all of them; one that does not gets
   * those whose completion has gone out: the rest reaches it as events, and nothing twice.
   */
  snapshot(policy: DeliveryPolicy, detail: boolean): Turn {
    const turn = this.#projector.turn(policy);
    const partial = !this.ended && policy.messages === "held";
    const items = partial ? turn.items.filter((item) => this.#completed.has(item.id)) : turn.items;
    return { ...turn, items: detail ? items.map((item) => withDetail(item, this.#details.get(item.id))) : items };
  }

  #deliver(plain: ProjectorOutput): void {
    const { feed } = this.#options;
    const output = this.#withOrigin(plain);
    switch (output.type) {
      case "usage.updated":
        return this.#options.onUsage(output.usage);
      case "diff.changed":
        return this.#scheduleDiff();
      case "interaction.opened":
        return this.#options.onInteraction(output.interaction, this.#item(output.itemId));
      case "interaction.closed":
        return this.#options.onInteractionClosed(output.interactionId);
      case "turn.completed":
        if (this.#anyDiff) this.#sendDiff();
        this.#options.onClosing(output.turn);
        return feed.output(output, this.id);
      case "item.started":
      case "item.completed":
        if (output.detail !== undefined) this.#details.set(output.item.id, output.detail);
        this.#options.onItem(output.item);
        if (output.type === "item.completed" && isFor(output, DEFAULT_POLICY)) this.#completed.add(output.item.id);
        return feed.output(output, this.id);
      default:
        return feed.output(output, this.id);
    }
  }

  /** Marks an input that a channel brought, for clients that ask for more than Codex's own members. */
  #withOrigin(output: ProjectorOutput): ProjectorOutput {
    if ((output.type !== "item.started" && output.type !== "item.completed") || output.item.type !== "userMessage") return output;
    const { clientId } = output.item;
    const origin = (clientId === null ? undefined : this.#origins.get(clientId)) ?? (this.#firstInputSeen ? undefined : this.input.origin);
    if (output.type === "item.completed") this.#firstInputSeen = true;
    return origin === undefined ? output : { ...output, detail: { ...output.detail, origin } };
  }

  #item(id: string | null): ThreadItem | null {
    return id === null ? null : (this.#projector.turn(DEFAULT_POLICY).items.find((item) => item.id === id) ?? null);
  }

  #scheduleDiff(): void {
    this.#anyDiff = true;
    if (this.#diffTimer !== null) return;
    const wait = this.#lastDiffAt + DIFF_INTERVAL_MS - this.#options.now();
    if (wait <= 0) return this.#sendDiff();
    this.#diffTimer = setTimeout(() => this.#sendDiff(), wait);
  }

  #sendDiff(): void {
    if (this.#diffTimer !== null) clearTimeout(this.#diffTimer);
    this.#diffTimer = null;
    this.#lastDiffAt = this.#options.now();
    const { feed, projector } = this.#options;
    if (feed.subscribers.size === 0) return;
    const patch = this.#projector.patch();
    if (patch !== null) feed.output(patch, this.id);
    feed.notify("turn/diff/updated", { threadId: projector.threadId, turnId: this.id, diff: this.#projector.diff() });
  }
}
