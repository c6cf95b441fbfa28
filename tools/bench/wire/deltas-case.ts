import type { BenchCase } from "../case.ts";
import { buildFoldcast, hasCodex, startCodex, startFoldcast, type StreamingServer, type Transport } from "./servers.ts";
import { Watched } from "./stream.ts";

const N = 20_000;
const FROM = 2_000;
const WARM_UP = 100;

/**
 * A case that streams one message of n deltas to clients on this transport, beside the pinned real program where the tests
 * have fetched it. Each way has a server of its own, all of them up for the whole case.
 */
export function deltasCase(transport: Transport, crowds: readonly number[]): BenchCase {
  const servers: StreamingServer[] = [];
  const also: Record<string, (n: number) => Promise<number>> = {};
  let alone: Watched | null = null;

  async function watch(program: typeof startFoldcast | typeof startCodex, clients: number): Promise<Watched> {
    const server = await program(transport, [WARM_UP, FROM, N]);
    servers.push(server);
    return Watched.start(server, clients, WARM_UP);
  }

  async function setUp(): Promise<Watched> {
    buildFoldcast();
    const watched = await watch(startFoldcast, 1);
    for (const [name, program] of [["foldcast", startFoldcast], ...(hasCodex() ? [["codex", startCodex] as const] : [])] as const) {
      for (const clients of crowds) {
        if (name === "foldcast" && clients === 1) continue;
        const other = await watch(program, clients);
        also[`${name}, ${String(clients)} ${clients === 1 ? "client" : "clients"}`] = (n) => other.stream(n);
      }
    }
    return watched;
  }

  return {
    n: N,
    unit: "deltas/s",
    growthFrom: FROM,
    also,
    async prepare() {
      alone ??= await setUp();
    },
    run: (n) => alone!.stream(n),
    async close() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
