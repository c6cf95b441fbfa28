import { setTimeout as sleep } from "node:timers/promises";
import type { BenchCase } from "../case.ts";
import { Crowd } from "../wire/crowd.ts";
import { buildFoldcast, promptFor, startFoldcast, type StreamingServer } from "../wire/servers.ts";

/** FOLDCAST_RSS_MINUTES=10 for a measure that counts. */
const MINUTES = Number(process.env["FOLDCAST_RSS_MINUTES"] ?? 0.5);
/**
 * The same load runs before for half as long, and is not measured: five minutes before ten. Measured minute by minute, it
 * takes so long until the code that runs often is compiled, the store has its pages, sixteen histories are open and the
 * allocator has all the room that the largest answers take; memory that still grows then is a leak or as good as one.
 */
const WARM_UP_MINUTES = MINUTES / 2;
const SAMPLE_MS = 500;
/** From the beginning of one to that of the next, so that each machine carries the same load: 1,200 turns and 120 new sessions a minute. */
const ROUND_MS = 500;
const VISIT_MS = 1_000;
const THREADS = 10;
const TURNS_EACH = 20;
const DELTAS = 200;
let server: StreamingServer | null = null;

/** Does the work, and resolves no earlier than so many milliseconds after it began. */
async function paced(ms: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all([sleep(ms), work()]);
}

/** Ten threads that stream turn after turn to one client; after some turns others take their place, so that no session grows for ever. */
async function stream(on: StreamingServer, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const crowd = await Crowd.start(on, THREADS, DELTAS);
    for (let turn = 0; turn < TURNS_EACH && goesOn(); turn += 1) {
      await paced(ROUND_MS, () => crowd.stream(DELTAS));
    }
    await crowd.end();
  }
}

/** Clients that come, start a thread, use it, read it and others, and go. */
async function visit(on: StreamingServer, goesOn: () => boolean): Promise<void> {
  while (goesOn()) await paced(VISIT_MS, () => visitOnce(on));
}

async function visitOnce(on: StreamingServer): Promise<void> {
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
}

/** Megabytes a minute by which the server's memory grows under this load: the slope of the line through all samples after the warm-up. */
async function slope(on: StreamingServer): Promise<number> {
  const began = performance.now();
  const until = began + (WARM_UP_MINUTES + MINUTES) * 60_000;
  const goesOn = (): boolean => performance.now() < until;
  const samples: { minutes: number; megabytes: number }[] = [];
  const timer = setInterval(() => samples.push({ minutes: (performance.now() - began) / 60_000, megabytes: on.memory() }), SAMPLE_MS);
  try {
    await Promise.all([stream(on, goesOn), visit(on, goesOn)]);
  } finally {
    clearInterval(timer);
  }
  const settled = samples.filter(({ minutes }) => minutes > WARM_UP_MINUTES);
  const some = (of: typeof samples, count: number): string => of.filter((_, at) => at % Math.ceil(of.length / count) === 0).map(({ megabytes }) => megabytes.toFixed(0)).join(" ");
  process.stderr.write(`rss-slope: warm-up ${some(samples.slice(0, -settled.length), 10)}, measured ${some(settled, 20)} MB\n`);
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
