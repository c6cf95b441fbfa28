import type { ModelRequest } from "./dialect.ts";
import type { Match, Reply, Scenario } from "./scenario.ts";

/**
 * Gives the replies of a scenario: to each request the first one that fits and is not used up. Replies for other
 * requests are passed over, so that what runs at the same time (sub-agents, titles) keeps its own order.
 */
export class ReplyChooser {
  readonly #left: { reply: Reply; times: number }[];

  constructor(scenario: Scenario) {
    this.#left = scenario.replies.map((reply) => ({ reply, times: reply.times === 0 ? Infinity : (reply.times ?? 1) }));
  }

  /** Null when no reply fits. */
  next(request: ModelRequest): Reply | null {
    const found = this.#left.find(({ reply, times }) => times > 0 && fits(reply.match ?? {}, request));
    if (found === undefined) return null;
    found.times -= 1;
    return found.reply;
  }

  /** Replies that nobody has asked for. */
  get unused(): readonly Reply[] {
    return this.#left.filter(({ reply, times }) => times > 0 && times === (reply.times ?? 1)).map(({ reply }) => reply);
  }
}

function fits(match: Match, request: ModelRequest): boolean {
  return (match.says === undefined || request.said.includes(match.says))
    && (match.resultOf === undefined || request.resultsOf.includes(match.resultOf))
    && (match.system === undefined || request.system.includes(match.system))
    && (match.images === undefined || request.images === match.images)
    && (match.model === undefined || request.model.includes(match.model));
}
