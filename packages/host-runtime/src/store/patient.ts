import type { NativeSession, QueuedInput, Section, ThreadRecord, ThreadStore, TurnFact } from "./store.ts";

/** Notes that wait at a time, beyond which the oldest is given up: a disk that stays full must not fill the memory as well. */
const MAX_WAITING = 10_000;

interface Note {
  write(): void;
  /** From now on it is read as if it had been written. */
  wait(): void;
  /** It is read from the store again. */
  forget(): void;
}

/** Something that a client asked for could not be kept. */
export class StoreWriteError extends Error {
  constructor(cause: unknown) {
    super(`it could not be saved: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = "StoreWriteError";
  }
}

/**
 * The store as the host uses it: a running turn does not depend on a disk that is full. What the host notes by itself
 * (`keepThread`, `keepTurn`, `forgetQueued`) never throws: it is kept here until it can be written, and is read as if it
 * had been. What a client asks for throws a `StoreWriteError`, so that it is told.
 */
export class PatientStore implements ThreadStore {
  readonly #store: ThreadStore;
  readonly #onTrouble: (error: unknown) => void;
  /** By what they write, oldest first; a later note of the same takes the earlier one's place. */
  readonly #waiting = new Map<string, Note>();
  readonly #records = new Map<string, ThreadRecord>();
  readonly #facts = new Map<string, Map<string, TurnFact>>();
  readonly #sent = new Map<string, Set<string>>();
  readonly #hidden = new Map<string, NativeSession>();
  #inTransaction = false;

  /** `onTrouble`: called with every error of a write that waits now. */
  constructor(store: ThreadStore, onTrouble: (error: unknown) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
  }

  /** Saves the record, now or later. */
  keepThread(record: ThreadRecord): void {
    this.#note(`thread ${record.id}`, {
      write: () => this.#store.saveThread(record),
      wait: () => this.#records.set(record.id, record),
      forget: () => this.#records.delete(record.id),
    });
  }

  /** Saves the fact, now or later. */
  keepTurn(threadId: string, fact: TurnFact): void {
    this.#note(`turn ${threadId} ${fact.turnId}`, {
      write: () => this.#store.saveTurn(threadId, fact),
      wait: () => this.#facts.set(threadId, (this.#facts.get(threadId) ?? new Map<string, TurnFact>()).set(fact.turnId, fact)),
      forget: () => forget(this.#facts, threadId, fact.turnId),
    });
  }

  /** Takes an input that the harness has out of what waits, now or later. */
  forgetQueued(threadId: string, id: string): void {
    this.#note(`queued ${threadId} ${id}`, {
      write: () => this.#store.deleteQueued(threadId, id),
      wait: () => this.#sent.set(threadId, (this.#sent.get(threadId) ?? new Set<string>()).add(id)),
      forget: () => forget(this.#sent, threadId, id),
    });
  }

  transaction<T>(work: () => T): T {
    if (this.#inTransaction) return work();
    this.#catchUp();
    const before = new Map(this.#waiting);
    let inWork: unknown = null;
    this.#inTransaction = true;
    try {
      return this.#store.transaction(() => {
        try {
          return work();
        } catch (error) {
          inWork = error;
          throw error;
        }
      });
    } catch (error) {
      this.#waitAgain(before);
      throw error === inWork ? error : new StoreWriteError(error);
    } finally {
      this.#inTransaction = false;
    }
  }

  thread(id: string): ThreadRecord | null {
    return this.#records.get(id) ?? this.#store.thread(id);
  }

  threadByNative(harness: string, nativeSessionId: string): ThreadRecord | null {
    const waiting = [...this.#records.values()].find((record) => record.harness === harness && record.nativeSessionId === nativeSessionId);
    return waiting ?? this.#store.threadByNative(harness, nativeSessionId);
  }

  threads(): Iterable<ThreadRecord> {
    if (this.#records.size === 0) return this.#store.threads();
    return [...[...this.#store.threads()].filter(({ id }) => !this.#records.has(id)), ...this.#records.values()];
  }

  saveThread(record: ThreadRecord): void {
    this.#write(() => this.#store.saveThread(record));
    this.#waiting.delete(`thread ${record.id}`);
    this.#records.delete(record.id);
  }

  deleteThread(id: string): void {
    this.#write(() => this.#store.deleteThread(id));
    for (const key of this.#waiting.keys()) if (key.split(" ")[1] === id) this.#waiting.delete(key);
    this.#records.delete(id);
    this.#facts.delete(id);
    this.#sent.delete(id);
  }

  hiddenSessions(): Iterable<NativeSession> {
    return [...this.#store.hiddenSessions(), ...this.#hidden.values()];
  }

  /** Now or later. */
  hideSession(session: NativeSession): void {
    const key = `hidden ${session.harness} ${session.nativeSessionId}`;
    this.#note(key, {
      write: () => this.#store.hideSession(session),
      wait: () => this.#hidden.set(key, session),
      forget: () => this.#hidden.delete(key),
    });
  }

  turns(threadId: string): readonly TurnFact[] {
    const waiting = this.#facts.get(threadId);
    const kept = this.#store.turns(threadId);
    if (waiting === undefined) return kept;
    const known = kept.map((fact) => waiting.get(fact.turnId) ?? fact);
    return [...known, ...[...waiting.values()].filter(({ turnId }) => !kept.some((fact) => fact.turnId === turnId))];
  }

  turnByKey(threadId: string, turnKey: string): TurnFact | null {
    const waiting = [...(this.#facts.get(threadId)?.values() ?? [])].findLast((fact) => fact.turnKey === turnKey);
    return waiting ?? this.#store.turnByKey(threadId, turnKey);
  }

  saveTurn(threadId: string, fact: TurnFact): void {
    this.#write(() => this.#store.saveTurn(threadId, fact));
    this.#waiting.delete(`turn ${threadId} ${fact.turnId}`);
    forget(this.#facts, threadId, fact.turnId);
  }

  deleteTurn(threadId: string, turnId: string): void {
    this.#write(() => this.#store.deleteTurn(threadId, turnId));
    this.#waiting.delete(`turn ${threadId} ${turnId}`);
    forget(this.#facts, threadId, turnId);
  }

  queue(threadId: string): readonly QueuedInput[] {
    const sent = this.#sent.get(threadId);
    const queued = this.#store.queue(threadId);
    return sent === undefined ? queued : queued.filter(({ id }) => !sent.has(id));
  }

  saveQueued(threadId: string, queued: QueuedInput): void {
    this.#write(() => this.#store.saveQueued(threadId, queued));
    this.#waiting.delete(`queued ${threadId} ${queued.id}`);
    forget(this.#sent, threadId, queued.id);
  }

  deleteQueued(threadId: string, id: string): void {
    this.#write(() => this.#store.deleteQueued(threadId, id));
  }

  sections(): readonly Section[] {
    return this.#store.sections();
  }

  saveSection(section: Section): void {
    this.#write(() => this.#store.saveSection(section));
  }

  deleteSection(id: string): void {
    this.#write(() => this.#store.deleteSection(id));
  }

  /** Writes what still waits; what cannot be written now is lost. Does not close the store beneath, which has its own owner. */
  close(): void {
    this.#catchUp();
  }

  #note(key: string, note: Note): void {
    try {
      this.#catchUp(key);
      note.write();
      note.forget();
      // In a transaction the earlier note of the same is still there.
      this.#waiting.delete(key);
    } catch (error) {
      note.wait();
      this.#waiting.delete(key);
      this.#waiting.set(key, note);
      if (this.#waiting.size > MAX_WAITING) this.#giveUpOldest();
      this.#onTrouble(error);
    }
  }

  /** What took the place of a note was taken back with its transaction: the note is the latest word again. */
  #waitAgain(before: ReadonlyMap<string, Note>): void {
    for (const [key, note] of before) {
      if (this.#waiting.has(key)) continue;
      note.wait();
      this.#waiting.set(key, note);
    }
  }

  #giveUpOldest(): void {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    this.#waiting.delete(oldest[0]);
    oldest[1].forget();
  }

  /** Of what waits, all but what is about to be written anew. */
  #catchUp(except: string | null = null): void {
    // What a transaction takes back would be lost.
    if (this.#waiting.size === 0 || this.#inTransaction) return;
    if (except !== null) this.#waiting.delete(except);
    for (const [key, note] of this.#waiting) {
      try {
        note.write();
        note.forget();
        this.#waiting.delete(key);
      } catch {
        // Still no room. It was reported when it failed first.
        return;
      }
    }
  }

  #write<T>(write: () => T): T {
    this.#catchUp();
    try {
      return write();
    } catch (error) {
      throw new StoreWriteError(error);
    }
  }
}

function forget(from: Map<string, Map<string, unknown> | Set<string>>, threadId: string, id: string): void {
  const inner = from.get(threadId);
  inner?.delete(id);
  if (inner?.size === 0) from.delete(threadId);
}
