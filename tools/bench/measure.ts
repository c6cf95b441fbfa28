import { availableParallelism } from "node:os";
import type { BenchCase } from "./case.ts";

const RUNS = { warmUp: 2, measured: 5 };

/** `value` is the median; `p95` the run that 95 % are at least as good as. */
interface Figures {
  value: number;
  median: number;
  p95: number;
  runs: number[];
}

/**
 * The result line of a case, figures in `unit`; `also` has those of the other ways to do the same. `growth` holds median times in milliseconds for `from` and ten times as many
 * units, and the ratio of the second to ten times the first: 1 is linear; null where the case has no size.
 */
export interface BenchResult extends Figures {
  case: string;
  n: number;
  unit: string;
  growth: { n: number; "10n": number; ratio: number; from: number } | null;
  also?: Record<string, Figures>;
  more?: Readonly<Record<string, number>>;
  node: string;
  cpus: number;
}

export async function measure(name: string, bench: BenchCase): Promise<BenchResult> {
  try {
    const from = bench.growthFrom === undefined ? bench.n : bench.growthFrom;
    const { bySize, also } = await results(bench, from === null ? [bench.n] : [bench.n, from, from * 10]);
    return {
      case: name,
      n: bench.n,
      unit: bench.unit,
      ...figures(bench, bySize.get(bench.n)!),
      growth: from === null ? null : growth(from, bySize),
      ...(also.size === 0 ? {} : { also: Object.fromEntries([...also].map(([way, list]) => [way, figures(bench, list)])) }),
      ...(bench.more === undefined ? {} : { more: bench.more() }),
      node: process.version,
      cpus: availableParallelism(),
    };
  } finally {
    await bench.close?.();
  }
}

/** Slowest last, whatever the unit counts. */
function figures({ unit, n }: BenchCase, results: readonly number[]): Figures {
  const isRate = unit.endsWith("/s");
  const runs = results.map((result) => round(isRate ? (n / result) * 1000 : result));
  const ordered = runs.toSorted((a, b) => (isRate ? b - a : a - b));
  const value = median(ordered);
  return { value, median: value, p95: ordered[Math.ceil(0.95 * ordered.length) - 1]!, runs };
}

function growth(from: number, times: ReadonlyMap<number, number[]>): BenchResult["growth"] {
  const small = median(sorted(times.get(from)!));
  const large = median(sorted(times.get(from * 10)!));
  return { n: round(small), "10n": round(large), ratio: round(large / (10 * small)), from };
}

/** What the runs resolved. Sizes and ways take turns, so that a machine that is busy for a while slows all of them. */
async function results(bench: BenchCase, sizes: readonly number[]): Promise<{ bySize: Map<number, number[]>; also: Map<string, number[]> }> {
  const bySize = new Map(sizes.map((n): [number, number[]] => [n, []]));
  const { warmUp, measured } = bench.runs ?? RUNS;
  for (const n of bySize.keys()) {
    await bench.prepare?.(n);
    for (let i = 0; i < warmUp; i++) await bench.run(n);
  }
  const ways = Object.entries(bench.also ?? {});
  for (const [, run] of ways) for (let i = 0; i < warmUp; i++) await run(bench.n);
  const also = new Map(ways.map(([way]): [string, number[]] => [way, []]));
  for (let i = 0; i < measured; i++) {
    for (const [n, list] of bySize) list.push(...[await bench.run(n)].flat());
    for (const [way, run] of ways) also.get(way)!.push(await run(bench.n));
  }
  return { bySize, also };
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
