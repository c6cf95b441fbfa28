import type { SessionState } from "@foldcast/protocol-core/harness";
import type { ThreadItem } from "@foldcast/protocol-core/wire";

/**
 * What goes on in a harness session without a turn, as far as the harness says. What it counts itself is the truth;
 * else a child agent that was last reported as running is.
 */
export class Background {
  #counted: number | null = null;
  readonly #agents = new Set<string>();

  get active(): boolean {
    return this.#counted === null ? this.#agents.size > 0 : this.#counted > 0;
  }

  sawState({ backgroundTasks }: SessionState): void {
    if (backgroundTasks !== undefined) this.#counted = backgroundTasks;
  }

  sawItem(item: ThreadItem): void {
    if (item.type !== "collabAgentToolCall") return;
    for (const [agent, { status }] of Object.entries(item.agentsStates)) {
      if (status === "running" || status === "pendingInit") this.#agents.add(agent);
      else this.#agents.delete(agent);
    }
  }

  /** Its session has ended, and whatever it did with it. */
  clear(): void {
    this.#counted = null;
    this.#agents.clear();
  }
}
