import type { BenchCase } from "../case.ts";
import { pairs, type Pair } from "../adapter-latency/pairs.ts";
import { buildFoldcast } from "../wire/servers.ts";

const WARM_UP = 3;
const SESSIONS = 4;

const round = (figure: number): number => Number(figure.toPrecision(4));
const series = new Map<string, number[]>();
const memory = new Map<string, number>();
let found: Pair[] = [];

function at(part: number, figures: readonly number[]): number {
  const ordered = figures.toSorted((a, b) => a - b);
  return round(ordered[Math.ceil(part * ordered.length) - 1]!);
}

function note(name: string, ms: number): void {
  series.set(name, [...(series.get(name) ?? []), ms]);
}

/** Milliseconds that foldcast adds between the request for a turn and its first piece of text, against the same program alone. */
const bench: BenchCase = {
  n: 20,
  unit: "ms",
  growthFrom: null,
  runs: { warmUp: 0, measured: 1 },
  async prepare() {
    buildFoldcast();
    found = await pairs();
    for (const { alone, through } of found) {
      for (let turn = 0; turn < WARM_UP; turn++) {
        await alone?.turn();
        await through.turn();
      }
    }
  },
  async run(n) {
    const added: number[] = [];
    for (const { harness, alone, through } of found) {
      // In turn, so that a machine that is busy for a while slows both.
      for (let turn = 0; turn < n; turn++) {
        const own = (await alone?.turn()) ?? 0;
        const ours = await through.turn();
        if (alone !== null) note(`${harness} alone`, own);
        note(`${harness} through foldcast`, ours);
        note(`${harness} added`, ours - own);
        added.push(ours - own);
      }
      const before = await through.anotherSession();
      let after = before;
      for (let session = 0; session < SESSIONS; session++) after = await through.anotherSession();
      memory.set(harness, (after - before) / SESSIONS);
    }
    return added;
  },
  more() {
    const times = [...series].flatMap(([name, figures]) => [[`${name}, p50 ms`, at(0.5, figures)], [`${name}, p95 ms`, at(0.95, figures)]] as [string, number][]);
    return Object.fromEntries([...times, ...[...memory].map(([harness, megabytes]): [string, number] => [`${harness}, MB of the host per live session`, round(megabytes)])]);
  },
  async close() {
    for (const each of found) await each[Symbol.asyncDispose]();
  },
};
export default bench;
