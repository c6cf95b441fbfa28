const SAMPLE_LENGTH = 200;

/** Counted peculiarities, by code, with a short raw sample of the first case. Bounded by the number of codes. */
export class Diagnostics {
  readonly all = new Map<string, { count: number; sample: string | null }>();

  count(code: string, sample: string | null): void {
    const known = this.all.get(code);
    if (known === undefined) this.all.set(code, { count: 1, sample: sample === null ? null : sample.slice(0, SAMPLE_LENGTH) });
    else known.count += 1;
  }
}
