/**
 * One thing that the bench measures. A case is a module in `cases/` with this as its default export; it is loaded
 * when it is asked for, so that a case may import what others cannot run without.
 */
export interface BenchCase {
  /** How many units one run of the ordinary size has. */
  n: number;
  /** What `value` counts: `ms` for a duration (less is better), `<things>/s` for a rate. */
  unit: "ms" | `${string}/s`;
  /** The smaller of the two sizes whose times are compared, default `n`; null where size means nothing. */
  growthFrom?: number | null;
  /** Once for each size, not measured. */
  prepare?(n: number): Promise<void> | void;
  /** One run with n units. Resolves the milliseconds of the part that counts. */
  run(n: number): Promise<number> | number;
  /** Always called at the end. */
  close?(): Promise<void> | void;
}

/** Runs the work and answers its duration in milliseconds. */
export async function timed(work: () => Promise<void> | void): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
