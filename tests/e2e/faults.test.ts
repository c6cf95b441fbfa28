import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { foldcast } from "../support/command.ts";
import { garbage } from "../support/garbage.ts";
import { temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { childrenOf, memoryOf } from "../support/process.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, type RunningServer } from "../support/server.ts";
import { sleep, until } from "../support/wait.ts";

endToEnd();

/** FOLDCAST_GARBAGE_MS=60000 for a minute of it. */
const GARBAGE_MS = Number(process.env["FOLDCAST_GARBAGE_MS"] ?? 1_000);

const SCENARIOS = {
  short: { schema: 1, name: "short", turns: [{ steps: [{ message: "Short.", chunks: 3 }] }] },
  long: { schema: 1, name: "long", turns: [{ steps: [{ message: "Begun." }, { delayMs: 600_000 }, { message: "never" }] }, { match: "again", steps: [{ message: "Back." }] }] },
};

let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--scenario-process"] });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

const begun = (client: PlainClient, threadId: string): Promise<true> =>
  until("the turn", () => (client.threads.get(threadId)?.at(-1)?.items.some((item) => item.type === "agentMessage") === true ? true : undefined));

test("garbage from one client stops neither the server nor another client, and costs no memory", async () => {
  await using client = await PlainClient.connect(server.url);
  const thread = await client.start({ model: "scripted/short", cwd: "/w" });
  await client.prompt(thread.id, "warm up");
  const before = memoryOf(server.pid);
  let turns = 0;
  const sent = garbage(server.url, thread.id, GARBAGE_MS);
  const end = Date.now() + GARBAGE_MS;
  // On a busy machine a turn may take longer than the garbage: then the others come after it.
  while (Date.now() < end || turns < 3) {
    expect((await client.prompt(thread.id, "go on")).status).toBe("completed");
    turns += 1;
    await sleep(20);
  }
  const { frames, answers, connections } = await sent;
  console.log(`${frames} bad frames on ${connections} connections, ${answers} refused; ${turns} turns meanwhile; ${before.toFixed(0)} → ${memoryOf(server.pid).toFixed(0)} MB`);
  expect(frames).toBeGreaterThan(100);
  expect(turns).toBeGreaterThan(2);
  expect(memoryOf(server.pid)).toBeLessThan(before + 400);
  expect(server.stderr()).not.toMatch(/uncaught|unhandled/);
}, 60_000 + GARBAGE_MS);

test("a harness that is killed fails its turn in clear words, and the next turn runs in a new one", async () => {
  // A server of its own: in the other one a child of what came before may start late.
  await using own = await startServer({ scenarios: SCENARIOS, speed: 1, args: ["--scenario-process"] });
  await using client = await PlainClient.connect(own.url);
  const thread = await client.start({ model: "scripted/long", cwd: "/w" });
  const turnId = await client.submit(thread.id, "go");
  await begun(client, thread.id);
  const children = childrenOf(own.pid);
  expect(children).toHaveLength(1);
  process.kill(children[0]!, "SIGKILL");
  const turn = await client.ended(thread.id, turnId);
  expect(turn).toMatchObject({ status: "failed", error: { message: expect.stringMatching(/ended unexpectedly \(signal SIGKILL\)/) as string } });
  expect((await client.prompt(thread.id, "again")).items.at(-1)).toMatchObject({ text: "Back.", phase: "final_answer" });
});

test("SIGTERM in the middle of a turn interrupts it, ends what it started, keeps what waits, and is code 0", async () => {
  const dataDir = temporaryDir("data");
  const ending = await startServer({ scenarios: SCENARIOS, speed: 1, dataDir, args: ["--scenario-process"] });
  await using client = await PlainClient.connect(ending.url);
  const thread = await client.start({ model: "scripted/long", cwd: "/w" });
  const turnId = await client.submit(thread.id, "go");
  await begun(client, thread.id);
  await client.wire.request("thread/queue/add", { threadId: thread.id, input: [{ type: "text", text: "again", text_elements: [] }], clientUserMessageId: "waits" });
  const children = childrenOf(ending.pid);
  expect(children.length).toBeGreaterThan(0);
  // One that waited for the turn's end would be killed, and have no code.
  expect(await ending.stop("SIGTERM")).toBe(0);
  expect((await client.ended(thread.id, turnId)).status).toBe("interrupted");
  await until("the end of the link", () => client.wire.closed ?? undefined);
  expect(client.wire.closed).toBe("socket closed with 1006");
  await until("the ends of its children", () => (children.some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true), { describe: () => children.join() });
  expect(readdirSync(dataDir)).not.toContain("owner.json");

  await using next = await startServer({ scenarios: SCENARIOS, speed: 1, dataDir, args: ["--scenario-process"] });
  await using later = await PlainClient.connect(next.url);
  expect((await later.read(thread.id)).turns.map((turn) => [turn.id, turn.status])).toEqual([[turnId, "interrupted"]]);
  await later.join(thread.id);
  await until("what waited", () => (later.threads.get(thread.id)?.at(-1)?.items.some((item) => item.type === "agentMessage" && item.text === "Back.") === true ? true : undefined));
});

test("a data folder that cannot be made is told at once", async () => {
  const never = await foldcast(["serve", "--port", "0", "--data-dir", "/proc/nowhere/at/all"]);
  expect([never.code, never.stdout]).toEqual([1, ""]);
  expect(never.stderr).toContain("cannot use the data folder /proc/nowhere/at/all");
});
