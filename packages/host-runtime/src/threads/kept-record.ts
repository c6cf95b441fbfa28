import type { PatientStore } from "../store/patient.ts";
import type { ThreadRecord, TurnFact } from "../store/store.ts";

/** What is kept of one thread and of its turns; of an ephemeral thread nothing is. */
export class KeptRecord {
  readonly #store: PatientStore;
  #record: ThreadRecord;
  /** The session of an ephemeral thread that is hidden already. */
  #hidden: string | null = null;

  constructor(record: ThreadRecord, store: PatientStore) {
    this.#record = record;
    this.#store = store;
  }

  get current(): Readonly<ThreadRecord> {
    return this.#record;
  }

  /** Changes it as a client asked for it. Throws, with nothing changed, where it cannot be saved. */
  update(change: Partial<ThreadRecord>): void {
    const record = { ...this.#record, ...change };
    if (!record.ephemeral) this.#store.saveThread(record);
    this.#record = record;
    this.#hideEphemeral();
  }

  /** Changes it as the thread goes on: what cannot be saved now is saved later. */
  note(change: Partial<ThreadRecord>): void {
    this.#record = { ...this.#record, ...change };
    if (!this.#record.ephemeral) this.#store.keepThread(this.#record);
    this.#hideEphemeral();
  }

  /** What is known of a turn; saved later where it cannot be now. */
  fact(fact: TurnFact): void {
    if (!this.#record.ephemeral) this.#store.keepTurn(this.#record.id, fact);
  }

  /** When the turn with this key began, where it is known. */
  startOf(turnKey: string | null): number | null {
    return turnKey === null ? null : (this.#store.turnByKey(this.#record.id, turnKey)?.startedAt ?? null);
  }

  /** A harness may save the session of a thread that is not to be kept: it must not be found as one of another program. */
  #hideEphemeral(): void {
    const { ephemeral, harness, nativeSessionId } = this.#record;
    if (!ephemeral || harness === null || nativeSessionId === null || nativeSessionId === this.#hidden) return;
    this.#hidden = nativeSessionId;
    this.#store.hideSession({ harness, nativeSessionId });
  }
}
