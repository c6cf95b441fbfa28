import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import type { Thread } from "@foldcast/protocol-core/wire";
import { RpcFault } from "../support/client.ts";
import { foldcast } from "../support/command.ts";
import { PlainClient } from "../support/plain-client.ts";
import { temporaryDir } from "../support/paths.ts";
import { childrenOf } from "../support/process.ts";
import { endToEnd } from "../support/recording.ts";
import { FOLDCAST } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import { stalledClient } from "../support/stalled-client.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  short: { schema: 1, name: "short", turns: [{ steps: [{ message: "Short.", chunks: 3 }] }] },
  long: { schema: 1, name: "long", turns: [{ steps: [{ message: "Begun." }, { delayMs: 600_000 }] }] },
};
const text = (value: string): object[] => [{ type: "text", text: value, text_elements: [] }];

test("a half-open link is let go within a minute or so, whoever answers is kept", async () => {
  await using server = await startServer({ scenarios: SCENARIOS, speed: 1 });
  await using alive = await PlainClient.connect(server.url);
  const dead = await stalledClient(server.url, null);
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
  // One that waited for the turns' end would be killed, and have no code.
  expect(await server.stop("SIGINT")).toBe(0);
  for (const [id, turn] of turns) expect((await client.ended(id, turn)).status).toBe("interrupted");
  await until("the ends of its children", () => (children.some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true), { describe: () => children.join() });
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
