import { availableParallelism } from "node:os";
import type { BenchCase } from "./case.ts";

const WARM_UP_RUNS = 2;
const MEASURED_RUNS = 5;

/**
 * The result line of a case. `value`, `median`, `p95` and `runs` are in `unit`, `value` being the median; `p95` is the
 * run that 95 % are at least as good as. `growth` holds median times in milliseconds for `from` and ten times as many
 * units, and the ratio of the second to ten times the first: 1 is linear; null where the case has no size.
 */
export interface BenchResult {
  case: string;
  n: number;
  unit: string;
  value: number;
  median: number;
  p95: number;
  runs: number[];
  growth: { n: number; "10n": number; ratio: number; from: number } | null;
  node: string;
  cpus: number;
}

export async function measure(name: string, bench: BenchCase): Promise<BenchResult> {
  try {
    const from = bench.growthFrom === undefined ? bench.n : bench.growthFrom;
    const times = await timesOf(bench, from === null ? [bench.n] : [bench.n, from, from * 10]);
    const inUnit = times.get(bench.n)!.map((ms) => round(bench.unit === "ms" ? ms : (bench.n / ms) * 1000));
    // Slowest last, whatever the unit counts.
    const ordered = inUnit.toSorted((a, b) => (bench.unit === "ms" ? a - b : b - a));
    return {
      case: name,
      n: bench.n,
      unit: bench.unit,
      value: median(ordered),
      median: median(ordered),
      p95: ordered[Math.ceil(0.95 * ordered.length) - 1]!,
      runs: inUnit,
      growth: from === null ? null : growth(from, times),
      node: process.version,
      cpus: availableParallelism(),
    };
  } finally {
    await bench.close?.();
  }
}

function growth(from: number, times: ReadonlyMap<number, number[]>): BenchResult["growth"] {
  const small = median(sorted(times.get(from)!));
  const large = median(sorted(times.get(from * 10)!));
  return { n: round(small), "10n": round(large), ratio: round(large / (10 * small)), from };
}

/** Milliseconds for each size. The sizes take turns, so that a machine that is busy for a while slows all of them. */
async function timesOf(bench: BenchCase, sizes: readonly number[]): Promise<Map<number, number[]>> {
  const times = new Map(sizes.map((n): [number, number[]] => [n, []]));
  for (const n of times.keys()) {
    await bench.prepare?.(n);
    for (let i = 0; i < WARM_UP_RUNS; i++) await bench.run(n);
  }
  for (let i = 0; i < MEASURED_RUNS; i++) {
    for (const [n, list] of times) list.push(await bench.run(n));
  }
  return times;
}

const sorted = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);

function median(ordered: readonly number[]): number {
  const middle = ordered.length / 2;
  return ordered.length % 2 === 1 ? ordered[Math.floor(middle)]! : round((ordered[middle - 1]! + ordered[middle]!) / 2);
}

/** Four significant digits are more than the noise allows. */
function round(value: number): number {
  return Number(value.toPrecision(4));
}
