import type { FileEdit } from "../harness/index.ts";
import type { FileChangeItem, FileUpdateChange } from "../wire/index.ts";
import { NetChanges } from "./net-changes.ts";

/** The turn's one summary of edits, as clients that merge edits have it. Begins with the first edit that merges. */
export class EditSummary {
  readonly id: string;
  readonly #startedAt: number | null;
  readonly #net = new NetChanges();
  #completedAt: number | null = null;
  #done = false;

  constructor(id: string, startedAt: number | null) {
    this.id = id;
    this.#startedAt = startedAt;
  }

  get done(): boolean {
    return this.#done;
  }

  add(edits: readonly FileEdit[]): void {
    for (const edit of edits) this.#net.add(edit);
  }

  /** Net per path, rendered now. */
  changes(): FileUpdateChange[] {
    return this.#net.changes();
  }

  finish(at: number | null): void {
    this.#done = true;
    this.#completedAt = at;
  }

  item(): FileChangeItem {
    return {
      type: "fileChange", id: this.id, changes: this.changes(), status: this.#done ? "completed" : "inProgress",
      startedAtMs: this.#startedAt, completedAtMs: this.#completedAt,
    };
  }
}
