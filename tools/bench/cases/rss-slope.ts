import { setTimeout as sleep } from "node:timers/promises";
import type { BenchCase } from "../case.ts";
import { Crowd } from "../wire/crowd.ts";
import { buildFoldcast, promptFor, startFoldcast, type StreamingServer } from "../wire/servers.ts";

/** FOLDCAST_RSS_MINUTES=10 for a measure that counts; the first fifth, in which everything is new, is left out. */
const MINUTES = Number(process.env["FOLDCAST_RSS_MINUTES"] ?? 0.5);
const SAMPLE_MS = 500;
const PAUSE_MS = 200;
const THREADS = 10;
const TURNS_EACH = 20;
const DELTAS = 200;
let server: StreamingServer | null = null;

/** Ten threads that stream turn after turn to one client; after some turns others take their place, so that no session grows for ever. */
async function stream(on: StreamingServer, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const crowd = await Crowd.start(on, THREADS, DELTAS);
    for (let turn = 0; turn < TURNS_EACH && goesOn(); turn += 1) {
      await crowd.stream(DELTAS);
      await sleep(PAUSE_MS);
    }
    await crowd.end();
  }
}

/** Clients that come, start a thread, use it, read it and others, and go. */
async function visit(on: StreamingServer, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const client = await on.client();
    const { thread } = await client.request<{ thread: { id: string } }>("thread/start", { model: on.model });
    const input = [{ type: "text", text: promptFor(DELTAS), text_elements: [] }];
    await client.request("turn/start", { threadId: thread.id, input });
    await client.turns(1);
    await client.request("thread/name/set", { threadId: thread.id, name: "used" });
    const { data } = await client.request<{ data: { id: string }[] }>("thread/list", { limit: 20 });
    for (const { id } of data.slice(0, 3)) await client.request("thread/read", { threadId: id, includeTurns: true });
    await client.request("thread/resume", { threadId: thread.id });
    await client.request("thread/archive", { threadId: thread.id });
    client.close();
    await sleep(PAUSE_MS);
  }
}

/** Megabytes a minute by which the server's memory grows under this load: the slope of the line through all samples. */
async function slope(on: StreamingServer): Promise<number> {
  const began = performance.now();
  const until = began + MINUTES * 60_000;
  const goesOn = (): boolean => performance.now() < until;
  const samples: { minutes: number; megabytes: number }[] = [];
  const timer = setInterval(() => samples.push({ minutes: (performance.now() - began) / 60_000, megabytes: on.memory() }), SAMPLE_MS);
  try {
    await Promise.all([stream(on, goesOn), visit(on, goesOn)]);
  } finally {
    clearInterval(timer);
  }
  const settled = samples.filter(({ minutes }) => minutes > MINUTES / 5);
  process.stderr.write(`rss-slope: ${settled.filter((_, at) => at % Math.ceil(settled.length / 20) === 0).map(({ megabytes }) => megabytes.toFixed(0)).join(" ")} MB\n`);
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const x = mean(settled.map(({ minutes }) => minutes));
  const y = mean(settled.map(({ megabytes }) => megabytes));
  const over = settled.reduce((sum, { minutes, megabytes }) => sum + (minutes - x) * (megabytes - y), 0);
  return over / settled.reduce((sum, { minutes }) => sum + (minutes - x) ** 2, 0);
}

const bench: BenchCase = {
  n: 1,
  unit: "MB/min",
  growthFrom: null,
  runs: { warmUp: 0, measured: 1 },
  async prepare() {
    buildFoldcast();
    server = await startFoldcast("ws", [DELTAS]);
  },
  run: () => slope(server!),
  async close() {
    await server?.stop();
  },
};
export default bench;
