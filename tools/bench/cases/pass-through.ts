import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchCase } from "../case.ts";
import { repeatedly, RoundTrips } from "../pass-through/round-trips.ts";
import { REPO } from "../repo.ts";
import { buildFoldcast, hasCodex, startBehind, startCodex, type StreamingServer } from "../wire/servers.ts";
import { Watched } from "../wire/stream.ts";

const REQUESTS = 500;
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

/**
 * What foldcast adds to a request that it passes on: the median of many over a WebSocket through it, less that of as many
 * to a server that answers at once, reached over its unix socket. Beside it both medians, and how much of the real
 * program's delta rate is left behind foldcast, in percent.
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
    also["a request, direct"] = () => direct!.median(REQUESTS);
    also["a request, through foldcast"] = () => through!.median(REQUESTS);
    if (!hasCodex()) return;
    const [real, behind] = [await streaming(startCodex), await streaming(startBehind)];
    also["delta rate kept, in percent"] = async () => (await real.stream(DELTAS)) / (await behind.stream(DELTAS)) * 100;
  },
  async run() {
    const without = await direct!.median(REQUESTS);
    return (await through!.median(REQUESTS)) - without;
  },
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
