import type { HistoryDiagnostic } from "@foldcast/protocol-core/harness";

const SAMPLE_LENGTH = 200;
const MAX_CODES = 200;

/** Counts peculiarities of a saved file by code, with a short raw piece of the first case. */
export class DiagnosticCounter {
  readonly #counts = new Map<string, { count: number; sample: string | null }>();

  /** A sample of more than 200 characters is cut; after 200 codes, new ones count as `other`. */
  count(code: string, sample: string | null = null, by = 1): void {
    const known = this.#counts.get(code);
    if (known !== undefined) {
      known.count += by;
      return;
    }
    if (this.#counts.size >= MAX_CODES && code !== "other") return this.count("other", sample, by);
    this.#counts.set(code, { count: by, sample: sample === null ? null : sample.slice(0, SAMPLE_LENGTH) });
  }

  clear(): void {
    this.#counts.clear();
  }

  /** In the order of first occurrence. */
  list(): HistoryDiagnostic[] {
    return [...this.#counts].map(([code, { count, sample }]) => ({ code, count, sample }));
  }
}

/** The bytes of a line as a diagnostic's sample. */
export function sampleOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("utf8", start, Math.min(end, start + SAMPLE_LENGTH));
}
