import type { ChildAgent } from "@foldcast/protocol-core/harness";
import type { MessagePhase } from "@foldcast/protocol-core/wire";
import { Copies } from "./copies.ts";
import type { Placed } from "./programs.ts";
import type { SessionRecord } from "./record.ts";
import type { CallSlot, ItemSlot, MessageSlot, NativeSlot, ReasoningSlot, Slot, Source, UserSlot } from "./slots.ts";
import type { UserContent } from "./user-input.ts";

/** Who tells a thing, and when it was. */
export interface Told {
  source: Source;
  id: string | null;
  startedAt: number | null;
  completedAt: number | null;
}

/** The things that one turn shows, in the order in which they were first told, each one once. */
export class TurnSlots {
  readonly #placed: Placed[] = [];
  readonly #byId = new Map<string, Placed>();
  readonly #messages = new Copies<MessageSlot>();
  readonly #users = new Copies<UserSlot>();
  readonly #thoughts = new Copies<null>();
  readonly #others = new Copies<null>();
  /** Outputs whose call is not there yet. */
  readonly #orphans = new Map<string, { outputs: unknown[]; at: number | null }>();
  /** Messages by the ids of their items: the slot may have been made by a record that has none. */
  readonly #itemSlots = new Map<string, MessageSlot | UserSlot>();
  readonly #children = new Map<string, ChildAgent[]>();
  /** Sessions whose lines have ordinals keep an item of everything that was shown (0.145 and later). */
  recordsItems = false;
  #record = 0;
  #names = 0;

  get placed(): readonly Placed[] {
    return this.#placed;
  }

  /** Outputs that no call of the turn asked for. */
  get orphans(): ReadonlyMap<string, { outputs: unknown[]; at: number | null }> {
    return this.#orphans;
  }

  /** To be called before each record of the turn. `isNumbered`: by an ordinal. */
  next(isNumbered: boolean): void {
    this.#record++;
    this.recordsItems ||= isNumbered;
  }

  message(text: string, phase: MessagePhase | null, told: Told): void {
    const last = this.#placed.at(-1)?.slot;
    const known = this.#ofItem(told);
    const again = known?.kind === "message" ? known : null;
    const { thing } = this.#messages.place(told.source, text.trim(), () => {
      if (again !== null) return again;
      // The model's own record may hold more than is shown, such as citations.
      const isNear = last?.kind === "message" && !last.sources.has(told.source) && (last.text.includes(text.trim()) || text.includes(last.text.trim()));
      return isNear ? last : this.#add({ kind: "message", text, phase, sources: new Set(), ...this.#times(told) });
    });
    if (told.source !== "record") thing.text = text;
    thing.sources.add(told.source);
    thing.phase = again === null ? (thing.phase ?? phase) : (phase ?? thing.phase);
    if (told.source === "item" && told.id !== null) this.#itemSlots.set(told.id, thing);
  }

  user(content: UserContent, clientId: string | null, told: Told): void {
    const known = this.#ofItem(told);
    if (known?.kind === "user") return void (known.input = content.input);
    const { thing } = this.#users.place(told.source, content.text, () => this.#add({ kind: "user", ...content, clientId, sources: new Set(), ...this.#times(told) }));
    thing.sources.add(told.source);
    thing.clientId ??= clientId;
    if (told.source !== "item") return;
    thing.input = content.input;
    if (told.id !== null) this.#itemSlots.set(told.id, thing);
  }

  /** What the item with this id made already: Codex takes the last word on each id (0.171). */
  #ofItem({ source, id }: Told): MessageSlot | UserSlot | null {
    return source === "item" && id !== null ? (this.#itemSlots.get(id) ?? null) : null;
  }

  /** Events tell each part of a thought alone. */
  reasoning(parts: readonly string[], told: Told): void {
    const fresh = parts.filter((part) => part.trim() !== "" && !this.#thoughts.place(told.source, part.trim(), () => null).isCopy);
    if (fresh.length === 0) return;
    const last = this.#placed.at(-1)?.slot;
    if (told.source === "event" && last?.kind === "reasoning") last.parts.push(...fresh);
    else this.#add<ReasoningSlot>({ kind: "reasoning", parts: fresh, ...this.#times(told) });
  }

  /** The summary that a compaction made is told like a message, but only by the model's record, and is none. */
  summarized(summary: string): void {
    const at = this.#placed.findLastIndex(({ slot }) => slot.kind === "message" && slot.sources.size === 1 && slot.sources.has("record") && summary.endsWith(slot.text.trim()));
    if (at !== -1) this.#placed.splice(at, 1);
  }

  /** A mark that several kinds of records make. */
  once(source: string, key: string, slot: Omit<ItemSlot, "id" | "kind">): void {
    if (this.#others.place(source, key, () => null).isCopy) return;
    this.#add({ kind: "item", id: slot.item.id, ...slot });
  }

  /** False for a second call of the same id. */
  call(callId: string, name: string, input: unknown, at: number | null): boolean {
    const known = this.#byId.get(callId);
    // Its item was written before it.
    if (known?.slot.kind === "native") return true;
    if (known !== undefined) return false;
    const slot: CallSlot = { kind: "call", id: callId, name, input, outputs: [], native: null, nested: [], continues: null, continuations: [], startedAt: at, completedAt: null };
    this.#add(slot);
    const orphan = this.#orphans.get(callId);
    if (orphan !== undefined) {
      this.#orphans.delete(callId);
      for (const output of orphan.outputs) this.#end(slot, output, orphan.at);
    }
    return true;
  }

  /** The call that it belongs to, where that is known. */
  output(callId: string, output: unknown, at: number | null): CallSlot | null {
    const known = this.#byId.get(callId);
    if (known === undefined) {
      const orphan = this.#orphans.get(callId) ?? { outputs: [], at };
      orphan.outputs.push(output);
      this.#orphans.set(callId, orphan);
      return null;
    }
    if (known.slot.kind !== "call") return null;
    this.#end(known.slot, output, at);
    return known.slot;
  }

  /** The record in which a program ended is known only by its output. */
  ended(slot: CallSlot): void {
    const placed = this.#byId.get(slot.id);
    if (placed !== undefined) placed.ended = this.#record;
  }

  native(id: string | null, item: SessionRecord, told: Told): void {
    const known = id === null ? undefined : this.#byId.get(id);
    const isAgain = told.source === "item";
    if (known?.slot.kind === "call" && (known.slot.native === null || isAgain)) {
      known.slot.native = item;
      known.slot.startedAt = told.startedAt ?? known.slot.startedAt;
      known.slot.completedAt = told.completedAt ?? known.slot.completedAt;
    } else if (known?.slot.kind === "native" && isAgain) {
      known.slot.native = item;
      known.slot.completedAt = told.completedAt ?? known.slot.completedAt;
    } else if (known === undefined) this.#add<NativeSlot>({ kind: "native", native: item, program: null, ...this.#times({ ...told, id }) });
  }

  /** An item that is told twice, and not always with an id. */
  nativeOnce(id: string | null, key: string, item: SessionRecord, told: Told): void {
    if (id !== null && this.#byId.has(id)) return;
    if (!this.#others.place(told.source, key, () => null).isCopy) this.native(id, item, told);
  }

  /** What a sub-agent that a call started or spoke to is doing; the last word on each one counts. */
  child(callId: string, child: ChildAgent): void {
    const known = this.#children.get(callId) ?? [];
    this.#children.set(callId, [...known.filter(({ ref }) => ref !== child.ref), child]);
  }

  /** More about a sub-agent of a call of this turn: its native id, or the path that is its name. False where none is. */
  aboutChild(whose: { ref: string } | { name: string }, news: Partial<ChildAgent>): boolean {
    for (const children of this.#children.values()) {
      const at = children.findIndex(({ ref, name }) => ("ref" in whose ? ref === whose.ref : name === whose.name));
      if (at === -1) continue;
      children[at] = { ...children[at]!, ...news };
      return true;
    }
    return false;
  }

  childrenOf(callId: string): readonly ChildAgent[] {
    return this.#children.get(callId) ?? [];
  }

  isCall(id: string): boolean {
    return this.#byId.get(id)?.slot.kind === "call";
  }

  find(id: string): Slot | null {
    return this.#byId.get(id)?.slot ?? null;
  }

  #end(slot: CallSlot, output: unknown, at: number | null): void {
    // A program may send notes beside what it gives at its end.
    if (slot.outputs.some((known) => JSON.stringify(known) === JSON.stringify(output))) return;
    slot.outputs.push(output);
    slot.completedAt = at ?? slot.completedAt;
  }

  #times({ id, startedAt, completedAt }: Pick<Told, "id" | "startedAt" | "completedAt">): { id: string; startedAt: number | null; completedAt: number | null } {
    return { id: id !== null && !this.#byId.has(id) ? id : `#${this.#names++}`, startedAt, completedAt };
  }

  #add<T extends Slot>(slot: T): T {
    const placed: Placed = { slot, made: this.#record, ended: null };
    this.#placed.push(placed);
    this.#byId.set(slot.id, placed);
    return slot;
  }
}
