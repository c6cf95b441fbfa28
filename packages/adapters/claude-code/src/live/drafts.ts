import type { HarnessEvent, UsageReport } from "@foldcast/protocol-core/harness";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { blocksOf, messageOf, type SessionRecord } from "../history/record.ts";
import { usageReport } from "../history/usage.ts";
import type { Frame } from "../program/frame.ts";

type DraftKind = "message" | "reasoning";

/** An item that may be shown before its record is written. */
interface Draft {
  id: string;
  kind: DraftKind;
  /** Of the API's answer that it is a block of. */
  messageId: string | null;
  block: number;
  /** On the screen since then; null = not shown yet. */
  startedAt: number | null;
  /** It stands in the place of a broken one, whose text stays there until its own is whole. */
  held: boolean;
}

const KINDS: Readonly<Record<string, DraftKind | undefined>> = { text: "message", thinking: "reasoning" };

/**
 * What streams before it is whole. The program writes a record for each block when that ends (2.1.332); what the record
 * says is the truth, and takes the place of what was streamed.
 */
export class Drafts {
  #open: Draft[] = [];
  /** Of an answer that broke off: the program asks again, and what comes then stands in their place. */
  #broken: Draft[] = [];
  #messageId: string | null = null;
  #usage: Record<string, unknown> = {};
  #count = 0;

  /** Events of one `stream_event` of the main agent. */
  stream(frame: Frame, at: number): HarnessEvent[] {
    const event = objectOf(frame["event"]);
    switch (event["type"]) {
      case "message_start": {
        const message = objectOf(event["message"]);
        this.#messageId = filledString(message["id"]);
        this.#usage = { ...objectOf(message["usage"]) };
        return [];
      }
      case "content_block_start":
        return this.#begin(KINDS[stringOf(objectOf(event["content_block"])["type"]) ?? ""], event["index"], at);
      case "content_block_delta":
        return this.#append(objectOf(event["delta"]), event["index"], at);
      case "message_delta":
        Object.assign(this.#usage, objectOf(event["usage"]));
        return [];
      case "message_stop":
        if (frame["abandoned_blocks"] !== undefined) this.#breakOff(objectOf(frame["abandoned_blocks"]));
        return [];
      default:
        return [];
    }
  }

  /** Counts of an answer that ends with this frame; null for any other frame. */
  usageAt(frame: Frame): UsageReport | null {
    return objectOf(frame["event"])["type"] === "message_stop" && frame["abandoned_blocks"] === undefined ? usageReport(this.#usage) : null;
  }

  /** The events of a record; what is on the screen already is completed instead of being shown again. */
  join(record: SessionRecord, events: readonly HarnessEvent[], at: number): HarnessEvent[] {
    const messageId = filledString(messageOf(record)["id"]);
    const joined: HarnessEvent[] = [];
    const shown = new Map<string, { draft: Draft; text: string | undefined }>();
    for (const event of events) {
      if (event.type === "item.started") {
        const { kind } = event.item;
        const draft = kind === "message" || kind === "reasoning" ? this.#take(kind, messageId) : null;
        if (draft !== null && draft.startedAt !== null) {
          shown.set(event.item.id, { draft, text: "text" in event.item ? event.item.text : undefined });
          continue;
        }
        if (draft === null) joined.push(...this.#giveUpBroken(at));
        joined.push(event);
        continue;
      }
      const known = event.type === "item.completed" ? shown.get(event.itemId) : undefined;
      if (event.type !== "item.completed" || known === undefined) joined.push(event);
      // The record has its time from before its end was streamed.
      else joined.push({ ...event, itemId: known.draft.id, at: Math.max(event.at ?? at, known.draft.startedAt ?? at), ...(known.text === undefined ? {} : { result: { ...event.result, text: known.text } }) });
    }
    return [...joined, ...this.#endSilent(record, messageId, at)];
  }

  /** What is left at the end of the turn. */
  end(at: number): HarnessEvent[] {
    return this.#giveUpBroken(at);
  }

  /** A block that streamed something and whose record shows nothing. */
  #endSilent(record: SessionRecord, messageId: string | null, at: number): HarnessEvent[] {
    if (record["type"] !== "assistant" || messageId === null) return [];
    return blocksOf(messageOf(record)["content"]).flatMap((block): HarnessEvent[] => {
      const kind = KINDS[stringOf(block["type"]) ?? ""];
      const text = stringOf(block["text"]) ?? stringOf(block["thinking"]) ?? "";
      const draft = kind === undefined || text.trim() !== "" ? undefined : this.#open.find((one) => one.kind === kind && one.messageId === messageId);
      if (draft === undefined) return [];
      this.#open = this.#open.filter((one) => one !== draft);
      return draft.startedAt !== null ? [{ type: "item.completed", itemId: draft.id, outcome: { status: "succeeded" }, at }] : [];
    });
  }

  #begin(kind: DraftKind | undefined, index: unknown, at: number): HarnessEvent[] {
    // A tool call is shown when its input is whole.
    if (kind === undefined || typeof index !== "number") return [];
    const [broken] = this.#broken;
    if (broken?.kind !== kind) {
      const events = this.#giveUpBroken(at);
      this.#add(kind, this.#messageId, index);
      return events;
    }
    this.#broken.shift();
    this.#open.push({ ...broken, messageId: this.#messageId, block: index, held: broken.startedAt !== null });
    return [];
  }

  #append(delta: Readonly<Record<string, unknown>>, index: unknown, at: number): HarnessEvent[] {
    const append = filledString(delta["text"]) ?? filledString(delta["thinking"]);
    const draft = append === null ? undefined : this.#open.find((one) => one.block === index && one.messageId === this.#messageId);
    if (append === null || draft === undefined || draft.held) return [];
    const events: HarnessEvent[] = draft.startedAt !== null ? [] : [{ type: "item.started", item: { kind: draft.kind, id: draft.id }, at }];
    draft.startedAt ??= at;
    return [...events, { type: "item.updated", itemId: draft.id, update: { type: "text", append }, at }];
  }

  #breakOff(abandoned: Readonly<Record<string, unknown>>): void {
    const from = typeof abandoned["from_block_index"] === "number" ? abandoned["from_block_index"] : 0;
    const isBroken = (draft: Draft): boolean => draft.messageId === abandoned["api_message_id"] && draft.block >= from;
    this.#broken.push(...this.#open.filter(isBroken));
    this.#open = this.#open.filter((draft) => !isBroken(draft));
  }

  /** Nothing took their place: they were never said. */
  #giveUpBroken(at: number): HarnessEvent[] {
    const broken = this.#broken;
    this.#broken = [];
    return broken.filter(({ startedAt }) => startedAt !== null).map(({ id }) => ({ type: "item.completed", itemId: id, outcome: { status: "cancelled" }, result: { text: "" }, at }));
  }

  #add(kind: DraftKind, messageId: string | null, block: number): Draft {
    this.#count += 1;
    const draft: Draft = { id: `draft ${this.#count}`, kind, messageId, block, startedAt: null, held: false };
    this.#open.push(draft);
    return draft;
  }

  /** The draft that a record of this kind completes: one of the same answer, else the first broken one. */
  #take(kind: DraftKind, messageId: string | null): Draft | null {
    const found = this.#open.find((draft) => draft.kind === kind && draft.messageId === messageId);
    if (found !== undefined) {
      this.#open = this.#open.filter((draft) => draft !== found);
      return found;
    }
    return this.#broken[0]?.kind === kind ? this.#broken.shift()! : null;
  }
}
