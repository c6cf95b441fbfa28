import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { foldcast } from "../support/command.ts";
import { DesktopApp } from "../support/desktop-app.ts";
import { desktopProcess, writeShim } from "../support/desktop-start.ts";
import { temporaryDir } from "../support/paths.ts";
import { endToEnd } from "../support/recording.ts";
import { startServer, writeScenarios } from "../support/server.ts";
import { until } from "../support/wait.ts";

endToEnd();

const SCENARIOS = {
  work: {
    schema: 1,
    name: "work",
    turns: [
      { steps: [{ message: "On it." }, { tool: { id: "a", name: "shell", input: { command: "make" } } }, { result: { id: "a", output: "ok\n", exitCode: 0 } }, { message: "Done." }] },
      { match: "wait", steps: [{ message: "Working." }, { delayMs: 600_000 }, { message: "Late." }] },
    ],
  },
};

type Instance = ReturnType<typeof instance>;
/** One that Desktop or a helper of it starts on standard streams. */
function instance(dataDir: string) {
  const started = desktopProcess(writeShim(null), { FOLDCAST_DATA_DIR: dataDir, FOLDCAST_NO_NATIVE: "1", FOLDCAST_SCENARIO: writeScenarios(SCENARIOS), FOLDCAST_SCENARIO_SPEED: "1" });
  onTestFinished(async () => {
    started.child.kill("SIGKILL");
    await started.ended;
  });
  return started;
}
const ownerOf = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, "owner.json"), "utf8")) as { pid: number; socket: string; lines: string };
const opened = async (one: Instance) => (await DesktopApp.start(one)).app;

test("of several that start at once one owns the store, and all have the same threads", async () => {
  const dataDir = temporaryDir("data");
  const all = Array.from({ length: 6 }, () => instance(dataDir));
  const apps = await Promise.all(all.map(opened));
  const [first, ...others] = apps;
  const threadId = await first!.client.prewarm("/w", "scripted/work");
  const turn = await first!.client.prompt(threadId, "from one");
  expect(turn.status).toBe("completed");
  for (const { client } of others) expect((await client.open(threadId)).map(({ items }) => items)).toEqual([turn.items]);
  const owner = ownerOf(dataDir);
  expect(all.map(({ child }) => child.pid)).toContain(owner.pid);
  for (const path of [owner.socket, owner.lines]) expect(statSync(path).mode & 0o777).toBe(0o600);

  // The command line finds it, which has no address for everybody.
  const listed = await foldcast(["threads", "list", "--json", "--data-dir", dataDir]);
  expect([listed.code, JSON.parse(listed.stdout)]).toMatchObject([0, [{ id: threadId }]]);

  // A guest that is killed is missed by nobody; one that ends its input has its last answers.
  const at = all.findIndex(({ child }) => child.pid !== owner.pid);
  all[at]!.child.kill("SIGKILL");
  expect(await all[at]!.ended).toBe("SIGKILL");
  const asking = all.findIndex(({ child }, index) => child.pid !== owner.pid && index !== at);
  const answer = apps[asking]!.client.wire.request<{ data: unknown[] }>("thread/list", {});
  all[asking]!.child.stdin.end();
  expect((await answer).data).toHaveLength(1);
  expect(await all[asking]!.ended).toBe(0);

  // The owner's own client leaves: it stays for the others, and ends with the last of them.
  const ownerAt = all.findIndex(({ child }) => child.pid === owner.pid);
  all[ownerAt]!.child.stdin.end();
  const rest = all.filter((_, index) => ![at, asking, ownerAt].includes(index));
  const last = apps[all.indexOf(rest[0]!)]!;
  expect((await last.client.list()).map(({ id }) => id)).toEqual([threadId]);
  for (const { child } of rest) child.stdin.end();
  expect(await Promise.all([...rest, all[ownerAt]!].map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
});

test("an owner that is killed ends its guests with a clear word, and the next start takes over", async () => {
  const dataDir = temporaryDir("data");
  const owner = instance(dataDir);
  const before = await opened(owner);
  const threadId = await before.client.prewarm("/w", "scripted/work");
  await before.client.prompt(threadId, "kept");
  const guest = instance(dataDir);
  await opened(guest);
  owner.child.kill("SIGKILL");
  expect(await guest.ended).toBe(1);
  await until("why it ended", () => (guest.stderr().includes(`(process ${owner.child.pid!}) has ended; start again`) ? true : undefined));
  const next = instance(dataDir);
  const after = await opened(next);
  expect(after.sidebar.get(threadId)?.title).toBe("kept");
  expect(ownerOf(dataDir).pid).toBe(next.child.pid);
  expect((await after.client.prompt(await after.client.prewarm("/w", "scripted/work"), "goes on")).status).toBe("completed");
});

test("a WebSocket over the private socket is Desktop's other door; a second server passes on, then takes the place", async () => {
  const dataDir = temporaryDir("data");
  const options = { dataDir, scenarios: SCENARIOS, speed: 1 };
  const first = await startServer(options);
  const { socket } = ownerOf(dataDir);
  await using app = (await DesktopApp.start(`ws+unix://localhost${socket}:/rpc`)).app;
  const threadId = await app.client.prewarm("/w", "scripted/work");
  await app.client.prompt(threadId, "through the socket");
  await using picked = (await DesktopApp.start(`ws+unix://localhost${socket}:/rpc?model=scripted%2Fwork`)).app;
  expect((await picked.client.wire.request<{ config: { model: string } }>("config/read", { includeLayers: false, cwd: null })).config.model).toBe("scripted/work");

  await using second = await startServer(options);
  // The line on stdout says the address; what the other stream says may come behind it.
  await until("whose the threads are", () => (second.stderr().includes(`process ${first.pid} has the threads`) ? true : undefined));
  const guest = (await DesktopApp.start(second.url)).app;
  expect(guest.sidebar.get(threadId)?.title).toBe("through the socket");
  await guest.client.open(threadId);
  const running = await guest.client.submit(threadId, "wait");
  await until("the running turn", () => (running.items.some((item) => item.type === "agentMessage") ? true : undefined));
  await app.client.open(threadId);
  // A text that is still being said is not told to one who opens the thread, but its end is.
  await until("the running turn on the other side", () => (app.client.threads.get(threadId)!.at(-1)!.items.some((item) => item.type === "agentMessage" && item.text === "Working.") ? true : undefined));

  const lost = until("the end of the link", () => guest.client.wire.closed ?? undefined);
  process.kill(first.pid, "SIGKILL");
  await lost;
  const again = await until("the new owner", async () => {
    const next = (await DesktopApp.start(second.url).catch(() => null))?.app;
    return next ?? undefined;
  });
  expect(again.sidebar.get(threadId)?.title).toBe("through the socket");
  await until("its entry as the owner", () => (ownerOf(dataDir).pid === second.pid ? true : undefined));
  await again.close();
  expect(await second.stop()).toBe(0);
});
