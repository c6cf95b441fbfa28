/**
 * One thing that the bench measures. A case is a module in `cases/` with this as its default export; it is loaded
 * when it is asked for, so that a case may import what others cannot run without.
 */
export interface BenchCase {
  /** How many units one run of the ordinary size has. */
  n: number;
  /** What `value` counts: `ms` for a duration, `MB` for memory and `MB/min` for its growth (less is better), `<things>/s` for a rate. */
  unit: "ms" | "MB" | "MB/min" | `${string}/s`;
  /** The smaller of the two sizes whose times are compared, default `n`; null where size means nothing. */
  growthFrom?: number | null;
  /** Once for each size, not measured. */
  prepare?(n: number): Promise<void> | void;
  /** How often it is measured; 5 times, after 2 runs to warm up, by default. */
  runs?: { warmUp: number; measured: number };
  /** One run with n units. Resolves the milliseconds of the part that counts, or what the unit of memory says; several where each unit has its own. */
  run(n: number): Promise<number | readonly number[]> | number | readonly number[];
  /** The same work in another way or by another program, by name, measured in turn with it. Filled by `prepare` at the latest. */
  also?: Readonly<Record<string, (n: number) => Promise<number> | number>>;
  /** Further figures of the runs, each with its unit in its name. Called after the last one. */
  more?(): Readonly<Record<string, number>>;
  /** Always called at the end. */
  close?(): Promise<void> | void;
}

/** Runs the work and answers its duration in milliseconds. */
export async function timed(work: () => Promise<void> | void): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
