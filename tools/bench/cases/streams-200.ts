import type { BenchCase } from "../case.ts";
import { Crowd } from "../wire/crowd.ts";
import { buildFoldcast, hasCodex, startCodex, startFoldcast, type StreamingServer } from "../wire/servers.ts";

const THREADS = 200;
const EACH = 100;
const servers: StreamingServer[] = [];
const also: Record<string, (n: number) => Promise<number>> = {};
let own: Crowd | null = null;

async function crowd(program: typeof startFoldcast | typeof startCodex): Promise<Crowd> {
  const server = await program("ws", [1, EACH]);
  servers.push(server);
  return Crowd.start(server, THREADS, 1);
}

/** Deltas a second of 200 threads that stream at the same time, each from a process of its own, to one client. */
const bench: BenchCase = {
  n: THREADS * EACH,
  unit: "deltas/s",
  growthFrom: null,
  runs: { warmUp: 1, measured: 5 },
  also,
  async prepare() {
    buildFoldcast();
    own = await crowd(startFoldcast);
    if (!hasCodex()) return;
    const other = await crowd(startCodex);
    also["codex"] = (n) => other.stream(n / THREADS);
  },
  run: (n) => own!.stream(n / THREADS),
  async close() {
    await Promise.all(servers.map((server) => server.stop()));
  },
};
export default bench;
