import type { InteractionAnswer, InteractionRequest } from "@foldcast/protocol-core/harness";
import type { Logger } from "../log/logger.ts";

/** Where an interaction came up. `itemId` is the item that it is about, as clients have it. */
export interface InteractionContext {
  threadId: string;
  turnId: string;
  itemId: string | null;
}

/** Who answers what an agent asks. The promise may take as long as a person takes; it rejects when nobody will answer. */
export interface InteractionPolicy {
  answer(request: InteractionRequest, context: InteractionContext): Promise<InteractionAnswer>;
}

/** Declines every approval and skips every question: nothing is ever permitted in a person's name. */
export class DeclineAll implements InteractionPolicy {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  answer(request: InteractionRequest, context: InteractionContext): Promise<InteractionAnswer> {
    this.#log.warn("declined an interaction: nobody can be asked yet", { kind: request.kind, id: request.id, ...context });
    if (request.kind === "question") return Promise.resolve({ kind: "question", answers: {} });
    const decision = request.offers.includes("decline") ? "decline" : "cancel";
    return Promise.resolve({ kind: "approval", decision });
  }
}
