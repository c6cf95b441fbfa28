import { isDeepStrictEqual } from "node:util";
import type { HarnessEvent, HarnessItem, ItemOutcome, TurnOutcome } from "@foldcast/protocol-core/harness";

type Kind = "message" | "reasoning" | "tool";
type Completion = Extract<HarnessEvent, { type: "item.completed" }>;

interface Shown {
  id: string;
  kind: Kind;
  open: boolean;
  /** Of a call. */
  name: string;
  input: unknown;
  /** What streamed of a text. */
  text: string;
  /** What the file knows of a text beyond that: it may stream yet. */
  rest: string;
  /** An end that waits for what the file knows more of it. */
  waiting: Completion | null;
}

/**
 * Joins the two tellings of a running turn: what streams, and what is written to the session's file, which comes up to
 * a second later and knows more. Each item is shown once, when the first of the two tells it.
 *
 * Calls are the same by their id; the n-th text that streams is the n-th text of its kind in the file. What ends in the
 * stream ends at once, but for items of which only the file knows the whole (`waits`). An item that is still open takes
 * its text from the file.
 */
export class TurnMerge {
  /** Whether the end of a call is left to the file: it knows changes and sub-agents. */
  readonly #waits: (name: string) => boolean;
  /** Ids of the stream → what is shown; null = what streams is dropped, since the file was first. */
  readonly #early = new Map<string, Shown | null>();
  /** Ids of the file → what is shown. */
  readonly #late = new Map<string, Shown>();
  /** Texts that streamed and are not in the file yet. */
  readonly #unrecorded: Record<"message" | "reasoning", Shown[]> = { message: [], reasoning: [] };
  /** Texts of the file that did not stream before. */
  readonly #ahead: Record<"message" | "reasoning", number> = { message: 0, reasoning: 0 };
  readonly #shown: Shown[] = [];
  readonly #texts = new Map<string, string>();
  #numbers = 0;

  constructor(waits: (name: string) => boolean) {
    this.#waits = waits;
  }

  /** What streamed. Its plan and counts are left to the file. */
  early(events: readonly HarnessEvent[]): HarnessEvent[] {
    return events.flatMap((event): HarnessEvent[] => {
      switch (event.type) {
        case "item.started":
          return this.#earlyStart(event.item, event.at);
        case "item.updated":
          return this.#earlyUpdate(event);
        case "item.completed":
          return this.#earlyEnd(event);
        case "interaction.opened": {
          const { itemId, ...interaction } = event.interaction;
          const shown = itemId === undefined ? undefined : (this.#early.get(itemId) ?? this.#late.get(itemId));
          return [{ ...event, interaction: shown?.open === true ? { ...interaction, itemId: shown.id } : interaction }];
        }
        case "plan.updated":
        case "usage.updated":
          return [];
        default:
          return [event];
      }
    });
  }

  /** What the file says. Its questions are left to the stream, which can take the answers. */
  late(events: readonly HarnessEvent[]): HarnessEvent[] {
    return events.flatMap((event): HarnessEvent[] => {
      switch (event.type) {
        case "item.started":
          return this.#lateStart(event);
        case "item.updated": {
          const shown = this.#late.get(event.itemId);
          if (shown?.open === false) return [];
          if (shown !== undefined && event.update.type === "input") shown.input = event.update.input;
          return [{ ...event, itemId: shown?.id ?? event.itemId }];
        }
        case "item.completed": {
          const shown = this.#late.get(event.itemId);
          if (shown === undefined) return [event];
          if (!shown.open) return [];
          shown.open = false;
          const text = this.#texts.get(event.itemId);
          return [{ ...event, itemId: shown.id, ...(text === undefined ? {} : { result: { ...event.result, text } }) }];
        }
        case "interaction.opened":
        case "interaction.closed":
          return [];
        default:
          return [event];
      }
    });
  }

  /** Ends what only streamed. */
  close(outcome: TurnOutcome, at: number): HarnessEvent[] {
    const stopped = outcome.status === "cancelled" || outcome.status === "failed";
    return this.#shown.flatMap((shown): HarnessEvent[] => {
      if (!shown.open) return [];
      shown.open = false;
      if (shown.waiting !== null) return [{ ...shown.waiting, itemId: shown.id, at }];
      const told: ItemOutcome = { status: shown.kind === "tool" || stopped ? "cancelled" : "succeeded" };
      return [{ type: "item.completed", itemId: shown.id, outcome: told, at }];
    });
  }

  #earlyStart(item: HarnessItem, at: number | null): HarnessEvent[] {
    if (item.kind === "message" || item.kind === "reasoning") {
      if (this.#ahead[item.kind] > 0) {
        this.#ahead[item.kind] -= 1;
        this.#early.set(item.id, null);
        return [];
      }
      const shown = this.#add(item.kind, this.#early.has(item.id) ? `${item.id}+${(this.#numbers += 1)}` : item.id);
      this.#early.set(item.id, shown);
      this.#unrecorded[item.kind].push(shown);
      return [{ type: "item.started", item: { ...item, id: shown.id }, at }];
    }
    if (item.kind !== "tool" || this.#late.has(item.id)) {
      // The file's own telling of it is there, or will be.
      this.#early.set(item.id, this.#late.get(item.id) ?? null);
      return [];
    }
    const shown = this.#add("tool", item.id, item);
    this.#early.set(item.id, shown);
    return [{ type: "item.started", item, at }];
  }

  #earlyUpdate(event: Extract<HarnessEvent, { type: "item.updated" }>): HarnessEvent[] {
    const { update, at } = event;
    const shown = this.#early.get(event.itemId);
    if (shown === undefined || shown === null) return [];
    if (shown.open) {
      if (update.type === "input") shown.input = update.input;
      if (update.type === "text") shown.text += update.append;
      return [{ ...event, itemId: shown.id }];
    }
    if (update.type !== "text" || shown.kind === "tool") return [];
    const told = Math.min(shown.rest.length, update.append.length);
    if (told > 0 && shown.rest.slice(0, told) === update.append.slice(0, told)) {
      shown.rest = shown.rest.slice(told);
      if (told === update.append.length) return [];
      return this.#earlyUpdate({ ...event, update: { type: "text", append: update.append.slice(told) } });
    }
    // The text goes on behind what the file has closed: it is the next one.
    return [...this.#earlyStart({ kind: shown.kind, id: event.itemId }, at), ...this.#earlyUpdate(event)];
  }

  #earlyEnd(event: Completion): HarnessEvent[] {
    const shown = this.#early.get(event.itemId);
    if (shown === undefined || shown === null || !shown.open) return [];
    if (shown.waiting === null && shown.kind === "tool" && this.#waits(shown.name)) {
      shown.waiting = event;
      return [];
    }
    shown.open = false;
    return [{ ...event, itemId: shown.id }];
  }

  #lateStart(event: Extract<HarnessEvent, { type: "item.started" }>): HarnessEvent[] {
    const { item, at } = event;
    if (item.kind === "message" || item.kind === "reasoning") return this.#lateText(event, item.kind, item.text ?? "");
    if (item.kind !== "tool") return [event];
    const streamed = this.#early.get(item.id);
    if (streamed === undefined || streamed === null) {
      this.#late.set(item.id, this.#add("tool", item.id, item));
      return [event];
    }
    this.#late.set(item.id, streamed);
    if (!streamed.open || isDeepStrictEqual(streamed.input, item.input)) return [];
    streamed.input = item.input;
    return [{ type: "item.updated", itemId: streamed.id, update: { type: "input", input: item.input }, at }];
  }

  #lateText(event: Extract<HarnessEvent, { type: "item.started" }>, kind: "message" | "reasoning", text: string): HarnessEvent[] {
    const shown = this.#unrecorded[kind].shift();
    if (shown === undefined) {
      this.#ahead[kind] += 1;
      this.#late.set(event.item.id, this.#add(kind, event.item.id));
      return [event];
    }
    this.#late.set(event.item.id, shown);
    if (shown.open) {
      this.#texts.set(event.item.id, text);
      if (text.startsWith(shown.text)) shown.rest = text.slice(shown.text.length);
    }
    // Two texts of the file that streamed as one: the second is on the screen already.
    else if (shown.text.length > text.length && shown.text.startsWith(text)) this.#unrecorded[kind].unshift({ ...shown, text: shown.text.slice(text.length) });
    return [];
  }

  #add(kind: Kind, id: string, item?: Extract<HarnessItem, { kind: "tool" }>): Shown {
    const shown: Shown = { id, kind, open: true, name: item?.name ?? "", input: item?.input, text: "", rest: "", waiting: null };
    this.#shown.push(shown);
    return shown;
  }
}
