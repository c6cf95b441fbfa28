import type { HarnessSession, TurnInput } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";
import type { InputQueue } from "./input-queue.ts";
import type { TurnRun } from "./turn-run.ts";

/** Hands inputs to a turn that runs. What it does not take stays in, or goes into, what waits. */
export class Steering {
  readonly #queue: InputQueue;
  readonly #log: Logger;
  readonly #session: () => HarnessSession | null;

  constructor(queue: InputQueue, session: () => HarnessSession | null, log: Logger) {
    this.#queue = queue;
    this.#session = session;
    this.#log = log;
  }

  /** False when the harness did not take it. The turn ended in between, as a rule. */
  async hand(input: TurnInput): Promise<boolean> {
    const session = this.#session();
    if (session === null) return false;
    try {
      await session.steer({ input: input.input, clientId: input.clientId });
      return true;
    } catch (error) {
      this.#log.debug("steering failed, the input waits", { error });
      return false;
    }
  }

  /** Hands over what came while the turn was on its way to the harness, as long as `goesOn`. */
  async handEarly(run: TurnRun, goesOn: () => boolean): Promise<void> {
    for (const id of run.early.splice(0)) {
      if (!goesOn()) return;
      const queued = this.#queue.entries.find((entry) => entry.id === id);
      if (queued !== undefined && (await this.hand({ input: queued.input, clientId: queued.clientId }))) this.#queue.delete(id);
    }
  }
}
