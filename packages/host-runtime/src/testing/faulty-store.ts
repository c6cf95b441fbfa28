import { MemoryThreadStore } from "../store/memory.ts";
import type { QueuedInput, Section, ThreadRecord, TurnFact } from "../store/store.ts";

/** A store on a disk that can be full: then nothing can be written, and everything can be read. */
export class FaultyStore extends MemoryThreadStore {
  full = false;
  /** Writes that were refused. */
  refused = 0;

  override transaction<T>(work: () => T): T {
    this.#write();
    return super.transaction(work);
  }
  override saveThread(record: ThreadRecord): void {
    this.#write();
    super.saveThread(record);
  }
  override deleteThread(id: string): void {
    this.#write();
    super.deleteThread(id);
  }
  override saveTurn(threadId: string, fact: TurnFact): void {
    this.#write();
    super.saveTurn(threadId, fact);
  }
  override deleteTurn(threadId: string, turnId: string): void {
    this.#write();
    super.deleteTurn(threadId, turnId);
  }
  override saveQueued(threadId: string, queued: QueuedInput): void {
    this.#write();
    super.saveQueued(threadId, queued);
  }
  override deleteQueued(threadId: string, id: string): void {
    this.#write();
    super.deleteQueued(threadId, id);
  }
  override saveSection(section: Section): void {
    this.#write();
    super.saveSection(section);
  }
  override deleteSection(id: string): void {
    this.#write();
    super.deleteSection(id);
  }

  #write(): void {
    if (!this.full) return;
    this.refused += 1;
    throw new Error("database or disk is full");
  }
}
