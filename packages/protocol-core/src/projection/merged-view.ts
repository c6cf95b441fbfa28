import type { FileChangeItem, ThreadItem } from "../wire/index.ts";
import { auditOf } from "./detail.ts";
import { EditSummary } from "./edit-summary.ts";
import { currentItem, type Entry } from "./entries.ts";
import type { OutputAudience, ProjectorOutput } from "./outputs.ts";

const MERGED: OutputAudience = { edits: "merged" };

/**
 * What clients have that merge the edits of a turn: all items in their order, and in place of the edits that succeeded
 * one summary, where the first of them succeeded. An edit that was asked about, failed or was declined stands for itself.
 */
export class MergedView {
  readonly #order: (Entry | "summary")[] = [];
  #summary: EditSummary | null = null;

  /** An item that is the same for all clients. */
  show(entry: Entry): void {
    this.#order.push(entry);
  }

  /** An edit as an item of its own; its completion is for the caller. */
  showAlone(entry: Entry, out: ProjectorOutput[]): void {
    if (entry.shownToMerging || entry.item?.type !== "fileChange") return;
    entry.shownToMerging = true;
    this.#order.push(entry);
    const started: FileChangeItem = { ...entry.item, status: "inProgress", completedAtMs: null };
    out.push({ audience: MERGED, type: "item.started", item: started, at: entry.startedAt ?? 0, detail: auditOf(entry) });
  }

  /** Takes a succeeded edit into the summary; `newId` is asked for the first one's. */
  merge(entry: Entry, at: number | null, newId: () => string, out: ProjectorOutput[]): void {
    entry.merged = true;
    if (this.#summary !== null) return this.#summary.add(entry.edits);
    this.#summary = new EditSummary(newId(), entry.startedAt);
    this.#summary.add(entry.edits);
    this.#order.push("summary");
    out.push({ audience: MERGED, type: "item.started", item: this.#summary.item(), at: at ?? 0 });
  }

  /** At the turn's end. */
  finish(at: number | null, out: ProjectorOutput[]): void {
    if (this.#summary === null) return;
    this.#summary.finish(at);
    out.push({ audience: MERGED, type: "item.completed", item: this.#summary.item(), at: at ?? 0 });
  }

  /** False also when the edits cancelled each other out. */
  get hasNetChange(): boolean {
    return this.#summary !== null && this.#summary.changes().length > 0;
  }

  /** The running summary's changes so far. */
  patch(): ProjectorOutput | null {
    if (this.#summary === null || this.#summary.done) return null;
    return { audience: MERGED, type: "patch.updated", itemId: this.#summary.id, changes: this.#summary.changes() };
  }

  items(): (ThreadItem | null)[] {
    return this.#order.map((slot) => (slot === "summary" ? this.#summary!.item() : currentItem(slot)));
  }
}
