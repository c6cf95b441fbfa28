import type { HarnessEvent, HarnessItem, ItemResult } from "@foldcast/protocol-core/harness";
import type { UserInput } from "@foldcast/protocol-core/wire";

/** What a turn amounts to, whatever the pieces in which it arrived. */
export interface TurnSummary {
  turnKey: string | null;
  input: readonly UserInput[];
  items: readonly { kind: HarnessItem["kind"]; name: string | null; text: string; output: string; status: string }[];
  outcome: string;
}

/**
 * Folds the events of a turn: texts and outputs joined, a result's own text or output in place of what was streamed.
 * For comparing a live turn with the same turn from history, where chunks, ids and times may differ lawfully.
 */
export function summarizeTurn(events: readonly HarnessEvent[]): TurnSummary {
  let turnKey: string | null = null;
  let input: readonly UserInput[] = [];
  let outcome = "unknown";
  const items = new Map<string, { kind: HarnessItem["kind"]; name: string | null; text: string; output: string; status: string }>();
  for (const event of events) {
    switch (event.type) {
      case "turn.started":
        turnKey ??= event.turnKey;
        input = event.input;
        break;
      case "item.started": {
        const { item } = event;
        const text = "text" in item ? item.text ?? "" : "";
        items.set(item.id, { kind: item.kind, name: item.kind === "tool" ? item.name : null, text, output: "", status: "open" });
        break;
      }
      case "item.updated": {
        const item = items.get(event.itemId);
        if (item !== undefined && event.update.type === "text") item.text += event.update.append;
        if (item !== undefined && event.update.type === "output") item.output += event.update.append;
        break;
      }
      case "item.completed": {
        const item = items.get(event.itemId);
        if (item === undefined) break;
        const result: ItemResult = event.result ?? {};
        item.status = event.outcome.status;
        item.text = result.text ?? item.text;
        item.output = result.output ?? item.output;
        break;
      }
      case "turn.completed":
        outcome = event.outcome.status;
        break;
      case "fault":
        outcome = "failed";
        break;
      default:
        break;
    }
  }
  return { turnKey, input, items: [...items.values()], outcome };
}
