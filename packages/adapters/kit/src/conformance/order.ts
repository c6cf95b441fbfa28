import type { HarnessEvent } from "@foldcast/protocol-core/harness";

export interface OrderOptions {
  /** Whether the turn is over: then exactly one end is demanded. Default true. */
  ended?: boolean;
}

/**
 * What is wrong with the events of one turn by the contract's order rules, one sentence a fault; empty = lawful.
 *
 * `turn.started` first; every item started before it is updated or completed, and completed at most once; an id used
 * once; interactions closed once and before the end; one end (`turn.completed` or `fault`), nothing of the turn after
 * it. `session.state`, `usage.updated` and `fault` may come at any time. Items may be open at the end: the
 * projection closes them.
 */
export function orderFaults(events: readonly HarnessEvent[], options: OrderOptions = {}): string[] {
  const faults: string[] = [];
  const items = new Map<string, "open" | "completed">();
  const interactions = new Map<string, "open" | "closed">();
  let started = 0;
  let ends = 0;
  for (const [index, event] of events.entries()) {
    const fault = (text: string): unknown => faults.push(`event ${index} (${event.type}): ${text}`);
    if (event.type === "session.state" || event.type === "usage.updated") continue;
    if (event.type === "fault") {
      ends += 1;
      if (index !== events.length - 1) fault("something follows a fault");
      continue;
    }
    if (event.type === "turn.started") started += 1;
    if (started === 0) fault("comes before turn.started");
    if (ends > 0) fault("comes after the end of the turn");
    switch (event.type) {
      case "turn.started":
        if (started > 1) fault("a second turn.started");
        if (event.turnKey === "") fault("an empty turn key");
        break;
      case "item.started":
        if (items.has(event.item.id)) fault(`item ${event.item.id} is started twice`);
        items.set(event.item.id, "open");
        break;
      case "item.updated":
      case "item.completed": {
        const state = items.get(event.itemId);
        if (state === undefined) fault(`item ${event.itemId} was not started`);
        if (state === "completed") fault(`item ${event.itemId} is completed already`);
        if (event.type === "item.completed") items.set(event.itemId, "completed");
        break;
      }
      case "interaction.opened":
        if (interactions.get(event.interaction.id) === "open") fault(`interaction ${event.interaction.id} is open already`);
        if (event.interaction.itemId !== undefined && items.get(event.interaction.itemId) !== "open")
          fault(`it concerns item ${event.interaction.itemId}, which is not open`);
        // Nobody waits for a quick reply: it is not closed, and outlives its turn.
        if (event.interaction.kind !== "quickReply") interactions.set(event.interaction.id, "open");
        break;
      case "interaction.closed":
        if (interactions.get(event.interactionId) !== "open") fault(`interaction ${event.interactionId} is not open`);
        interactions.set(event.interactionId, "closed");
        break;
      case "turn.completed":
        ends += 1;
        for (const [id, state] of interactions) if (state === "open") fault(`interaction ${id} is still open`);
        break;
      case "plan.updated":
      case "retry":
        break;
    }
  }
  if (started === 0) faults.push("no turn.started");
  if (options.ended !== false && ends !== 1) faults.push(`${ends} ends of the turn instead of one`);
  return faults;
}
