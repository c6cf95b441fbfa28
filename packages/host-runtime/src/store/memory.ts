import type { NativeSession, QueuedInput, Section, ThreadRecord, ThreadStore, TurnFact } from "./store.ts";

const nativeKey = (harness: string, nativeSessionId: string): string => JSON.stringify([harness, nativeSessionId]);

/** Keeps everything in memory, for as long as the process lives. */
export class MemoryThreadStore implements ThreadStore {
  readonly #threads = new Map<string, ThreadRecord>();
  readonly #byNative = new Map<string, string>();
  readonly #turns = new Map<string, Map<string, TurnFact>>();
  readonly #byKey = new Map<string, Map<string, string>>();

  readonly #queues = new Map<string, Map<string, QueuedInput>>();
  readonly #sections = new Map<string, Section>();
  readonly #hidden = new Map<string, NativeSession>();

  /** What undoes the steps of the running transaction, last first; null outside of one. */
  #undo: (() => void)[] | null = null;

  transaction<T>(work: () => T): T {
    if (this.#undo !== null) return work();
    const undo: (() => void)[] = (this.#undo = []);
    try {
      return work();
    } catch (error) {
      this.#undo = null;
      for (const step of undo.reverse()) step();
      throw error;
    } finally {
      this.#undo = null;
    }
  }

  thread(id: string): ThreadRecord | null {
    return this.#threads.get(id) ?? null;
  }

  threadByNative(harness: string, nativeSessionId: string): ThreadRecord | null {
    const id = this.#byNative.get(nativeKey(harness, nativeSessionId));
    return id === undefined ? null : this.thread(id);
  }

  threads(): Iterable<ThreadRecord> {
    return this.#threads.values();
  }

  saveThread(record: ThreadRecord): void {
    const old = this.#threads.get(record.id);
    this.#undo?.push(() => {
      if (old !== undefined) return this.#put(old);
      this.#forgetNative(record.id);
      this.#threads.delete(record.id);
    });
    if (old?.nativeSessionId != null && old.nativeSessionId !== record.nativeSessionId) this.#hide(old);
    this.#put({ ...record });
  }

  deleteThread(id: string): void {
    const old = this.#threads.get(id);
    const turns = this.turns(id);
    const queue = this.#queues.get(id);
    this.#undo?.push(() => {
      if (queue !== undefined) this.#queues.set(id, queue);
      if (old !== undefined) this.#put(old);
      for (const turn of turns) this.saveTurn(id, turn);
    });
    this.#forgetNative(id);
    if (old !== undefined) this.#hide(old);
    this.#threads.delete(id);
    this.#turns.delete(id);
    this.#byKey.delete(id);
    this.#queues.delete(id);
  }

  hiddenSessions(): Iterable<NativeSession> {
    return [...this.#hidden.values()];
  }

  hideSession(session: NativeSession): void {
    this.#hide(session);
  }

  turns(threadId: string): readonly TurnFact[] {
    return [...(this.#turns.get(threadId)?.values() ?? [])];
  }

  turnByKey(threadId: string, turnKey: string): TurnFact | null {
    const turnId = this.#byKey.get(threadId)?.get(turnKey);
    return turnId === undefined ? null : (this.#turns.get(threadId)?.get(turnId) ?? null);
  }

  saveTurn(threadId: string, fact: TurnFact): void {
    let turns = this.#turns.get(threadId);
    if (turns === undefined) this.#turns.set(threadId, (turns = new Map<string, TurnFact>()));
    const old = turns.get(fact.turnId);
    this.#undo?.push(() => (old === undefined ? void turns.delete(fact.turnId) : void turns.set(fact.turnId, old)));
    turns.set(fact.turnId, { ...fact });
    if (old !== undefined && old.turnKey !== null) this.#byKey.get(threadId)?.delete(old.turnKey);
    if (fact.turnKey === null) return;
    let keys = this.#byKey.get(threadId);
    if (keys === undefined) this.#byKey.set(threadId, (keys = new Map<string, string>()));
    keys.set(fact.turnKey, fact.turnId);
  }

  deleteTurn(threadId: string, turnId: string): void {
    const turns = this.#turns.get(threadId);
    const old = turns?.get(turnId);
    if (turns === undefined || old === undefined) return;
    const all = this.turns(threadId);
    // Put back in its place: the order of the turns is that of their first save.
    this.#undo?.push(() => {
      turns.clear();
      for (const fact of all) turns.set(fact.turnId, fact);
      if (old.turnKey !== null) this.#byKey.get(threadId)?.set(old.turnKey, turnId);
    });
    turns.delete(turnId);
    if (old.turnKey !== null) this.#byKey.get(threadId)?.delete(old.turnKey);
  }

  queue(threadId: string): readonly QueuedInput[] {
    return [...(this.#queues.get(threadId)?.values() ?? [])];
  }

  saveQueued(threadId: string, queued: QueuedInput): void {
    const queue = this.#queues.get(threadId) ?? new Map<string, QueuedInput>();
    this.#queues.set(threadId, queue);
    this.#keepOrder(queue);
    queue.set(queued.id, { ...queued });
  }

  deleteQueued(threadId: string, id: string): void {
    const queue = this.#queues.get(threadId);
    if (queue === undefined) return;
    this.#keepOrder(queue);
    queue.delete(id);
  }

  sections(): readonly Section[] {
    return [...this.#sections.values()];
  }

  saveSection(section: Section): void {
    this.#keepOrder(this.#sections);
    this.#sections.set(section.id, { ...section });
  }

  deleteSection(id: string): void {
    this.#keepOrder(this.#sections);
    this.#sections.delete(id);
  }

  close(): void {
    // Nothing to let go of.
  }

  /** A rolled back change leaves each where it was. */
  #keepOrder<T>(map: Map<string, T>): void {
    const before = [...map];
    this.#undo?.push(() => {
      map.clear();
      for (const [id, value] of before) map.set(id, value);
    });
  }

  #hide({ harness, nativeSessionId }: Pick<ThreadRecord, "harness" | "nativeSessionId">): void {
    if (harness === null || nativeSessionId === null) return;
    const key = nativeKey(harness, nativeSessionId);
    if (this.#hidden.has(key)) return;
    this.#undo?.push(() => void this.#hidden.delete(key));
    this.#hidden.set(key, { harness, nativeSessionId });
  }

  #put(record: ThreadRecord): void {
    this.#forgetNative(record.id);
    this.#threads.set(record.id, record);
    if (record.harness !== null && record.nativeSessionId !== null) this.#byNative.set(nativeKey(record.harness, record.nativeSessionId), record.id);
  }

  #forgetNative(id: string): void {
    const old = this.#threads.get(id);
    if (old?.harness != null && old.nativeSessionId !== null) this.#byNative.delete(nativeKey(old.harness, old.nativeSessionId));
  }
}
