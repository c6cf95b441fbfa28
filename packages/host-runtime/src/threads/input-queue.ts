import { invalidRequest } from "@foldcast/protocol-core/wire";
import { isLong } from "../rpc/wire-json.ts";
import type { PatientStore } from "../store/patient.ts";
import type { QueuedInput } from "../store/store.ts";

/** Inputs that wait for their turn; beyond it a client is told to wait. */
const MAX_QUEUED_INPUTS = 100;
/** The same for the size of all of them, in UTF-16 units: pictures come as text. */
const MAX_QUEUED_UNITS = 64 * 1024 * 1024;

export interface InputQueueOptions {
  threadId: string;
  /** Null for a thread that is not kept. */
  store: PatientStore | null;
  /** What waits is different now. */
  onChanged(): void;
}

/**
 * What a thread was told and has not run yet. An input that is taken is kept in the store until it is `sent`: if this
 * process dies in between, it waits again.
 */
export class InputQueue {
  readonly #options: InputQueueOptions;
  #entries: QueuedInput[];

  constructor(options: InputQueueOptions) {
    this.#options = options;
    this.#entries = [...(options.store?.queue(options.threadId) ?? [])];
  }

  get entries(): readonly QueuedInput[] {
    return this.#entries;
  }

  add(queued: QueuedInput): void {
    this.#demandRoom([...this.#entries, queued]);
    this.#options.store?.saveQueued(this.#options.threadId, queued);
    this.#entries.push(queued);
    this.#options.onChanged();
  }

  /** Null where none has this id. */
  update(id: string, change: Partial<Omit<QueuedInput, "id">>): QueuedInput | null {
    const at = this.#indexOf(id);
    const old = this.#entries[at];
    if (old === undefined) return null;
    const queued = { ...old, ...change };
    this.#demandRoom(this.#entries.with(at, queued));
    this.#options.store?.saveQueued(this.#options.threadId, queued);
    this.#entries[at] = queued;
    this.#options.onChanged();
    return queued;
  }

  delete(id: string): boolean {
    const at = this.#indexOf(id);
    if (at === -1) return false;
    this.#options.store?.deleteQueued(this.#options.threadId, id);
    this.#entries.splice(at, 1);
    this.#options.onChanged();
    return true;
  }

  /** Puts all that waits into this order. */
  reorder(ids: readonly string[]): void {
    const sorted = this.#entries.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    const { store, threadId } = this.#options;
    store?.transaction(() => {
      for (const { id } of sorted) store.deleteQueued(threadId, id);
      for (const queued of sorted) store.saveQueued(threadId, queued);
    });
    this.#entries = sorted;
    this.#options.onChanged();
  }

  /** Takes the input with this id, or the first one, out of what waits. */
  take(id: string | null = null): QueuedInput | null {
    const at = id === null ? 0 : this.#indexOf(id);
    const [taken] = at === -1 ? [] : this.#entries.splice(at, 1);
    if (taken !== undefined) this.#options.onChanged();
    return taken ?? null;
  }

  /**
   * Keeps an input that does not wait, as if it had been taken out of what waits. False where it cannot be kept: then it
   * goes the way of every input that the harness does not have yet when this process dies.
   */
  hold(queued: QueuedInput): boolean {
    try {
      this.#options.store?.saveQueued(this.#options.threadId, queued);
      return true;
    } catch {
      return false;
    }
  }

  /** The harness has it: nothing of it is kept any more. */
  sent(id: string): void {
    this.#options.store?.forgetQueued(this.#options.threadId, id);
  }

  #demandRoom(entries: readonly QueuedInput[]): void {
    if (entries.length > MAX_QUEUED_INPUTS || isLong(entries, MAX_QUEUED_UNITS)) throw invalidRequest("too many inputs are waiting on this thread");
  }

  #indexOf(id: string): number {
    return this.#entries.findIndex((queued) => queued.id === id);
  }
}
