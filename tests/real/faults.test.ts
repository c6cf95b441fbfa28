import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import type { Thread } from "@foldcast/protocol-core/wire";
import { RpcFault, WireClient } from "../support/client.ts";
import { foldcast } from "../support/command.ts";
import { PlainClient } from "../support/plain-client.ts";
import { temporaryDir } from "../support/paths.ts";
import { childrenOf, memoryOf } from "../support/process.ts";
import { endToEnd } from "../support/recording.ts";
import { FOLDCAST } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import { webSocket } from "../support/transport.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  short: { schema: 1, name: "short", turns: [{ steps: [{ message: "Short.", chunks: 3 }] }] },
  flood: { schema: 1, name: "flood", turns: [{ steps: [{ message: "x".repeat(30_000_000), chunks: 3_000 }] }] },
  long: { schema: 1, name: "long", turns: [{ steps: [{ message: "Begun." }, { delayMs: 600_000 }] }] },
};
const text = (value: string): object[] => [{ type: "text", text: value, text_elements: [] }];

test("a reader that stops is cut off while others get everything, and what waits for it is bounded", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 0, args: ["--scenario-process"] });
  const connectCounting = async (): Promise<{ wire: WireClient; deltas: () => number; turns: () => number }> => {
    const wire = new WireClient(await webSocket(server.url), { record: false });
    await wire.request("initialize", { clientInfo: { name: "counting", title: null, version: "1" }, capabilities: { experimentalApi: true } });
    let [deltas, turns] = [0, 0];
    wire.on(({ method }) => {
      if (method === "item/agentMessage/delta") deltas += 1;
      else if (method === "turn/completed") turns += 1;
      wire.notifications.length = 0;
    });
    return { wire, deltas: () => deltas, turns: () => turns };
  };
  const one = await connectCounting();
  const two = await connectCounting();
  const { thread } = await one.wire.request<{ thread: Thread }>("thread/start", { model: "scripted/short", cwd: "/w" });
  const submit = (model: string): Promise<unknown> => one.wire.request("turn/start", { threadId: thread.id, model, input: [{ type: "text", text: "go", text_elements: [] }] });
  await submit("scripted/short");
  await until("the first turn", () => (one.turns() === 1 ? true : undefined));
  await two.wire.request("thread/resume", { threadId: thread.id, excludeTurns: true });
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, memoryOf(server.pid))), 50);
  /** Turns of 30 MB each; the peak of memory meanwhile. */
  const flood = async (turns: number): Promise<number> => {
    peak = 0;
    for (let turn = 1; turn <= turns; turn += 1) {
      const [ours, theirs] = [one.turns() + 1, two.turns() + 1];
      await submit("scripted/flood");
      await until("the turn's end", () => (one.turns() === ours && two.turns() === theirs ? true : undefined), { timeoutMs: 60_000 });
    }
    return peak;
  };
  const without = await flood(2);
  const raw = await stalled(server.url, thread.id);
  // The limit of 64 MB is passed with the third turn at the latest.
  const withIt = await flood(4).finally(() => {
    clearInterval(watch);
    raw.destroy();
  });
  console.log(`120 MB for a stalled reader: ${without.toFixed(0)} → ${withIt.toFixed(0)} MB`);
  expect([one.deltas(), two.deltas()]).toEqual([18_003, 18_000]);
  expect(server.stderr().match(/cutting off a slow reader/g)).toHaveLength(1);
  expect(withIt).toBeLessThan(without + 300);
  await one.wire.close();
  await two.wire.close();
});

/** A client that answers no ping and is never closed: what is left of one whose cable was pulled. */
async function stalled(url: string, threadId: string | null): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.from("0123456789abcdef").toString("base64")}\r\n\r\n`);
  const send = (frame: object): void => {
    const payload = Buffer.from(JSON.stringify(frame));
    const head = Buffer.alloc(8);
    head[0] = 0x81;
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
    socket.write(Buffer.concat([head, payload]));
  };
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "a client that stalls, in a test of it", version: "1.0.0" } } });
  send({ id: 2, method: threadId === null ? "thread/loaded/list" : "thread/resume", params: threadId === null ? { limit: 10, padding: "x".repeat(100) } : { threadId, excludeTurns: true, padding: "x".repeat(50) } });
  let seen = "";
  socket.on("data", (chunk: Buffer) => (seen = (seen + chunk.toString("latin1")).slice(-20_000)));
  await until("the answer", () => (seen.includes('{"id":2,') ? true : undefined));
  socket.pause();
  return socket;
}

test("a half-open link is let go within a minute or so, whoever answers is kept", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 1 });
  await using alive = await PlainClient.connect(server.url);
  const dead = await stalled(server.url, null);
  const links = (): number => socketsOf(server.pid);
  const both = links();
  await until("the end of the silent one", () => (links() < both ? true : undefined), { timeoutMs: 75_000, everyMs: 500 });
  expect(links()).toBe(both - 1);
  const thread = await alive.start({ model: "scripted/short", cwd: "/w" });
  expect((await alive.prompt(thread.id, "still there?")).status).toBe("completed");
  dead.destroy();
}, 120_000);

function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith("socket:");
    } catch {
      return false;
    }
  }).length;
}

test("SIGINT to a server in the foreground interrupts its turns and ends what they started", async () => {
  const server = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--scenario-process"] });
  await using client = await PlainClient.connect(server.url);
  const turns: [string, string][] = [];
  for (let at = 0; at < 5; at += 1) {
    const { id } = await client.start({ model: "scripted/long", cwd: "/w" });
    turns.push([id, await client.submit(id, "go")]);
  }
  await until("all of them", () => (childrenOf(server.pid).length >= 5 && turns.every(([id]) => client.threads.get(id)?.[0]?.items.length === 2) ? true : undefined), { timeoutMs: 60_000 });
  const children = childrenOf(server.pid);
  const began = Date.now();
  expect(await server.stop("SIGINT")).toBe(0);
  expect(Date.now() - began).toBeLessThan(10_000);
  for (const [id, turn] of turns) expect((await client.ended(id, turn)).status).toBe("interrupted");
  for (const pid of children) expect(existsSync(`/proc/${pid}`)).toBe(false);
});

test("files that may not grow (ulimit -f): turns go on, what cannot be kept is refused in clear words, and a restart finds the rest", async () => {
  const [program, args] = FOLDCAST;
  const dataDir = temporaryDir("data");
  const limited = ["bash", ["-c", 'ulimit -f 400; exec "$0" "$@"', program, ...args]] as const;
  const tooLong = "y".repeat(500_000);
  const seen: string[] = [];
  let threadId: string;
  {
    await using server = await startServer({ scenarios: SCENARIOS, speed: 1, dataDir, command: limited });
    await using client = await PlainClient.connect(server.url);
    const thread = await client.start({ model: "scripted/short", cwd: "/w" });
    threadId = thread.id;
    seen.push((await client.prompt(threadId, "first")).id!);
    // A turn runs meanwhile on another thread.
    const busy = await client.start({ model: "scripted/long", cwd: "/w" });
    await client.submit(busy.id, "go");
    const refused = await client.wire.request("thread/queue/add", { threadId: busy.id, input: text(tooLong), clientUserMessageId: "big" }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RpcFault);
    expect(refused).toMatchObject({ code: -32603, message: expect.stringMatching(/could not be saved/) as string });
    expect((await client.wire.request<{ data: unknown[] }>("thread/queue/list", { threadId: busy.id })).data).toEqual([]);
    // The harness cannot write so long a line into its own file either; that fails its turn, with the reason.
    const failed = await client.prompt(threadId, tooLong);
    expect(failed).toMatchObject({ status: "failed", error: { message: expect.stringMatching(/cannot be written.*EFBIG/) as string } });
    for (let turn = 0; turn < 40; turn += 1) {
      const { id } = await client.start({ model: "scripted/short", cwd: "/w" });
      expect((await client.prompt(id, `turn ${turn}`)).status).toBe("completed");
    }
    await client.wire.request("turn/interrupt", { threadId: busy.id, turnId: client.threads.get(busy.id)![0]!.id });
    await client.ended(busy.id, client.threads.get(busy.id)![0]!.id!);
    expect(server.stderr()).not.toMatch(/uncaught|unhandled/);
    expect(await server.stop()).toBe(0);
  }
  await using server = await startServer({ scenarios: SCENARIOS, speed: 0, dataDir });
  await using client = await PlainClient.connect(server.url);
  const { data } = await client.wire.request<{ data: Thread[] }>("thread/list", { limit: 100 });
  expect(data).toHaveLength(42);
  expect((await client.read(threadId)).turns[0]).toMatchObject({ id: seen[0], status: "completed" });
});

test("a data folder whose owner hangs is exit code 4 and says whose it is; the owner goes on unharmed", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 1 });
  process.kill(server.pid, "SIGSTOP");
  try {
    const refused = await foldcast(["serve", "--port", "0", "--data-dir", server.dataDir]);
    expect([refused.code, refused.stdout]).toEqual([4, ""]);
    expect(refused.stderr).toContain(`process ${server.pid}`);
  } finally {
    process.kill(server.pid, "SIGCONT");
  }
  await using client = await PlainClient.connect(server.url);
  const thread = await client.start({ model: "scripted/short", cwd: "/w" });
  expect((await client.prompt(thread.id, "still there?")).status).toBe("completed");
});
