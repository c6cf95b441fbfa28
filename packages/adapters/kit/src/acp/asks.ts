import type { HarnessEvent, InteractionAnswer } from "@foldcast/protocol-core/harness";
import type { AcpAsk } from "./permissions.ts";

interface OpenAsk {
  ask: AcpAsk;
  itemId: string | null;
  readonly answer: (result: object) => void;
}

/** What the agent asks of the person, from the request to its answer. Each is answered exactly once. */
export class AcpAsks {
  readonly #tell: (events: readonly HarnessEvent[]) => void;
  readonly #now: () => number;
  readonly #open = new Map<string, OpenAsk>();
  /** Asked while no turn ran, by something in the background: shown when the next one begins. */
  #waiting: OpenAsk[] = [];
  #numbers = 0;

  constructor(tell: (events: readonly HarnessEvent[]) => void, now: () => number) {
    this.#tell = tell;
    this.#now = now;
  }

  newId(): string {
    return `ask-${(this.#numbers += 1)}`;
  }

  /**
   * Resolves with the result for the agent. `shown`: events that go before it. `inTurn`: whether a turn runs that it can be
   * shown in. `signal` aborts when the agent takes it back.
   */
  ask(ask: AcpAsk, itemId: string | null, shown: readonly HarnessEvent[], inTurn: boolean, signal: AbortSignal): Promise<object> {
    return new Promise((answer) => {
      const open: OpenAsk = { ask, itemId, answer };
      signal.addEventListener("abort", () => this.#takenBack(open), { once: true });
      if (inTurn) this.#show(open, shown);
      else this.#waiting.push(open);
    });
  }

  /** Closes a request as answered; `send` gives the answer to the agent. Throws with a readable message where the answer does not fit. */
  take(interactionId: string, answer: InteractionAnswer): { itemId: string | null; declines: boolean; send: () => void } {
    const open = this.#open.get(interactionId);
    if (open === undefined) throw new Error(`The request ${interactionId} is not open.`);
    const { interaction } = open.ask;
    if (interaction.kind !== answer.kind) throw new Error(`The request ${interactionId} is of kind ${interaction.kind}, the answer of kind ${answer.kind}.`);
    if (interaction.kind === "approval" && answer.kind === "approval" && !interaction.offers.includes(answer.decision)) {
      throw new Error(`The request ${interactionId} does not offer ${answer.decision}; it offers ${interaction.offers.join(", ")}.`);
    }
    this.#open.delete(interactionId);
    this.#tell([{ type: "interaction.closed", interactionId, reason: "answered", at: this.#now() }]);
    return { itemId: open.itemId, declines: open.ask.declines(answer), send: () => open.answer(open.ask.reply(answer)) };
  }

  /** Nobody answers what is open: the turn was stopped. */
  withdraw(): void {
    for (const id of [...this.#open.keys()]) this.#withdraw(id, "cancelled");
  }

  /** A turn ends. What goes on in the background still waits for its answer. */
  turnEnds(): void {
    for (const [id, { itemId }] of [...this.#open]) {
      if (itemId !== null) this.#withdraw(id, "cancelled");
      else this.#putOff(id);
    }
  }

  /** A turn began: what waited for one is shown. */
  turnBegan(): void {
    for (const open of this.#waiting.splice(0)) this.#show(open);
  }

  /** The session is over. */
  close(): void {
    this.withdraw();
    for (const { ask, answer } of this.#waiting.splice(0)) answer(ask.withdrawn);
  }

  #show(open: OpenAsk, shown: readonly HarnessEvent[] = []): void {
    const { interaction } = open.ask;
    this.#open.set(interaction.id, open);
    this.#tell([...shown, { type: "interaction.opened", interaction, at: this.#now() }]);
  }

  #takenBack(open: OpenAsk): void {
    this.#waiting = this.#waiting.filter((each) => each !== open);
    if (this.#open.get(open.ask.interaction.id) === open) this.#withdraw(open.ask.interaction.id, "superseded");
  }

  #withdraw(id: string, reason: "cancelled" | "superseded"): void {
    const open = this.#hide(id, reason);
    open?.answer(open.ask.withdrawn);
  }

  /** It is shown again in the next turn, under an id of its own. */
  #putOff(id: string): void {
    const open = this.#hide(id, "superseded");
    if (open === undefined) return;
    open.ask = { ...open.ask, interaction: { ...open.ask.interaction, id: this.newId() } };
    this.#waiting.push(open);
  }

  #hide(id: string, reason: "cancelled" | "superseded"): OpenAsk | undefined {
    const open = this.#open.get(id);
    if (this.#open.delete(id)) this.#tell([{ type: "interaction.closed", interactionId: id, reason, at: this.#now() }]);
    return open;
  }
}
