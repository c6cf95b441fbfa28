import { stat } from "node:fs/promises";
import type { HarnessInspection } from "@foldcast/protocol-core/harness";

/** What is installed and logged in can change without a trace in the files that are looked at. */
const TTL_MS = 10 * 60_000;

/** What a program says of itself: it is started for that once, and again when one of its files has changed. */
export class InspectionCache {
  readonly #now: () => number;
  #kept: { key: string; at: number; answer: Promise<HarnessInspection> } | null = null;

  /** `now` in Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** `files`: of the program and of its login or settings; those that are not there count too. */
  async get(files: readonly string[], look: () => Promise<HarnessInspection>): Promise<HarnessInspection> {
    const key = JSON.stringify([files, await Promise.all(files.map(modifiedAt))]);
    const now = this.#now();
    if (this.#kept?.key !== key || now - this.#kept.at > TTL_MS) this.#kept = { key, at: now, answer: look() };
    const { answer } = this.#kept;
    const inspection = await answer;
    // A login or a repair counts at once.
    if (!inspection.ready) this.#forget(answer);
    return inspection;
  }

  /** Unless another one was asked for meanwhile. */
  #forget(answer: Promise<HarnessInspection>): void {
    if (this.#kept?.answer === answer) this.#kept = null;
  }
}

function modifiedAt(path: string): Promise<number> {
  return stat(path).then((stats) => stats.mtimeMs, () => 0);
}
