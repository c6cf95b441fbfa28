import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase } from "../case.ts";
import { repeatedly, RoundTrips } from "../pass-through/round-trips.ts";
import { REPO } from "../repo.ts";
import { buildFoldcast, hasCodex, startBehind, startCodex, type StreamingServer } from "../wire/servers.ts";
import { Watched } from "../wire/stream.ts";

/** A run asks in turn here and there, so many at a time. */
const TURNS = 20;
const REQUESTS = 25;
/** A server runs for days: by the first figure its code is compiled. */
const REQUESTS_BEFORE = 5_000;
const DELTAS = 10_000;
const WARM_UP = 100;
const ECHO = join(REPO, "tools/bench/pass-through/echo-upstream.cjs");

let folder: string | null = null;
let upstream: ChildProcess | null = null;
let foldcast: ChildProcess | null = null;
let direct: RoundTrips | null = null;
let through: RoundTrips | null = null;
const servers: StreamingServer[] = [];
const also: Record<string, (n: number) => Promise<number>> = {};

async function streaming(start: typeof startCodex): Promise<Watched> {
  const server = await start("ws", [WARM_UP, DELTAS]);
  servers.push(server);
  return Watched.start(server, 1, WARM_UP);
}

async function turns(): Promise<{ direct: number; through: number; added: number }> {
  const pairs: [number, number][] = [];
  for (let turn = 0; turn < TURNS; turn++) pairs.push([await direct!.median(REQUESTS), await through!.median(REQUESTS)]);
  const middle = (times: number[]): number => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
  return { direct: middle(pairs.map(([one]) => one)), through: middle(pairs.map(([, other]) => other)), added: middle(pairs.map(([one, other]) => other - one)) };
}

/**
 * What foldcast adds to a request that it passes on: the median over a WebSocket through it, less that to a server that
 * answers at once, reached over its unix socket, asked in turn. Beside it both medians, and how much of the real program's
 * delta rate is left behind foldcast, in percent. The client, the model, the program and foldcast share the cores: with
 * two of them foldcast's work is time that the others do not get.
 */
const bench: BenchCase = {
  n: 1,
  unit: "ms",
  growthFrom: null,
  also,
  async prepare() {
    buildFoldcast();
    folder = mkdtempSync(join(tmpdir(), "foldcast-bench-"));
    const socket = join(folder, "direct");
    upstream = spawn(process.execPath, [ECHO, `unix://${socket}`], { stdio: "inherit" });
    await repeatedly(() => existsSync(socket));
    direct = await RoundTrips.connect(`ws+unix://${socket}:/rpc`);
    const command = ["packages/host-runtime/bin/foldcast.js", "serve", "--port", "0", "--codex-bin", ECHO, "--harness", "scripted", "--data-dir", join(folder, "data"), "--discover", "off"];
    foldcast = spawn(process.execPath, command, { cwd: REPO, stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env["PATH"], HOME: folder } });
    let text = "";
    foldcast.stdout!.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    const url = await repeatedly(() => /"url":"([^"]+)"/.exec(text)?.[1]);
    through = await RoundTrips.connect(url);
    await direct.median(REQUESTS_BEFORE);
    await through.median(REQUESTS_BEFORE);
    also["a request, direct"] = async () => (await turns()).direct;
    also["a request, through foldcast"] = async () => (await turns()).through;
    if (!hasCodex()) return;
    const [real, behind] = [await streaming(startCodex), await streaming(startBehind)];
    let isRealFirst = false;
    also["delta rate kept, in percent"] = async () => {
      isRealFirst = !isRealFirst;
      const times = new Map<Watched, number>();
      for (const each of isRealFirst ? [real, behind] : [behind, real]) times.set(each, await each.stream(DELTAS));
      return (times.get(real)! / times.get(behind)!) * 100;
    };
  },
  runs: { warmUp: 2, measured: 9 },
  run: async () => (await turns()).added,
  async close() {
    direct?.close();
    through?.close();
    foldcast?.kill();
    upstream?.kill();
    await Promise.all(servers.map((server) => server.stop()));
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  },
};
export default bench;
