import { setTimeout as sleep } from "node:timers/promises";
import type { BenchCase } from "../case.ts";
import { Crowd } from "../wire/crowd.ts";
import { buildFoldcast, hasCodex, startCodex, startFoldcast, type StreamingServer } from "../wire/servers.ts";

const THREADS = 50;
const DELTAS = 100;
/** A server that has just been busy frees what it can meanwhile. */
const REST_MS = 3_000;

type Program = typeof startFoldcast | typeof startCodex;

async function resting(program: Program, use: (server: StreamingServer) => Promise<unknown>): Promise<number> {
  const server = await program("ws", [DELTAS]);
  try {
    await use(server);
    await sleep(REST_MS);
    return server.memory();
  } finally {
    await server.stop();
  }
}

const fresh = (program: Program): Promise<number> => resting(program, (server) => server.client());
const used = (program: Program): Promise<number> => resting(program, (server) => Crowd.start(server, THREADS, DELTAS));

const also: Record<string, () => Promise<number>> = { [`foldcast, ${String(THREADS)} threads used once`]: () => used(startFoldcast) };

/** Resident megabytes of a server's own process with one client that does nothing. */
const bench: BenchCase = {
  n: 1,
  unit: "MB",
  growthFrom: null,
  runs: { warmUp: 0, measured: 3 },
  also,
  prepare() {
    buildFoldcast();
    if (!hasCodex()) return;
    also["codex"] = () => fresh(startCodex);
    also[`codex, ${String(THREADS)} threads used once`] = () => used(startCodex);
  },
  run: () => fresh(startFoldcast),
};
export default bench;
