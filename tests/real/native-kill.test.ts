import { rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Upstream } from "../../packages/host-runtime/src/native/upstream.ts";
import { silentLogger } from "../../packages/host-runtime/src/log/logger.ts";
import { listen } from "../../packages/host-runtime/src/rpc/listen.ts";
import { schedule } from "../../packages/host-runtime/src/schedule.ts";
import { startTestHost } from "../../packages/host-runtime/src/testing/client.ts";
import { startModelServer, type ScenarioInput } from "../model-server/index.ts";
import { WireClient } from "../support/client.ts";
import { codexProgram } from "../support/codex.ts";
import { nativeHome, QUIET_TUI, startBehind, type NativeHome } from "../support/native.ts";
import { codexOf, processesOf, zombiesOf } from "../support/native-processes.ts";
import { isolatedEnv, temporaryDir } from "../support/paths.ts";
import { PlainClient } from "../support/plain-client.ts";
import { FOLDCAST } from "../support/program.ts";
import { endToEnd } from "../support/recording.ts";
import type { RunningServer } from "../support/server.ts";
import { tap } from "../support/tap.ts";
import { childProcess, type Transport } from "../support/transport.ts";
import { Tui } from "../support/tui.ts";
import { finished, gone } from "../support/tui-steps.ts";
import { sleep, until } from "../support/wait.ts";

endToEnd();

/** `FOLDCAST_KILLS=100` goes on for longer, with a seed of its own. */
const KILLS = process.env["FOLDCAST_KILLS"];

const MODEL: ScenarioInput = {
  replies: [
    { match: { says: "quick" }, blocks: [{ text: "That was quick." }], times: 0 },
    { match: { says: "slowly" }, blocks: [{ text: "word ".repeat(40), chunks: 40 }], chunkMs: 100, times: 0 },
    { match: { says: "Generate a concise, single-line task title" }, blocks: [{ text: "{\"title\":\"Named\"}" }], times: 0 },
  ],
};
const SCENARIOS = {
  steady: {
    schema: 1,
    name: "steady",
    turns: [
      { match: "endlessly", steps: [{ message: "I begin." }, { delayMs: 600_000 }], end: "succeeded" },
      { match: "slowly", steps: [{ message: "I begin." }, ...Array.from({ length: 15 }, () => [{ delayMs: 200 }, { message: "One step." }]).flat(), { message: "All steps are done." }], end: "succeeded" },
      { match: "quick", steps: [{ message: "That was quick." }], end: "succeeded" },
    ],
  },
};

type Victim = "codex" | "codex's launcher" | "owner" | "second instance";
const round = fc.record({ victim: fc.constantFrom<Victim>("codex", "codex's launcher", "owner", "second instance"), afterMs: fc.integer({ min: 0, max: 1_500 }) });
const rounds = KILLS === undefined
  ? [...fc.sample(round, { seed: 20_261_130, numRuns: 2 }), ...(["codex", "codex's launcher", "owner", "second instance"] as const).map((victim, at) => ({ victim, afterMs: 150 + 250 * at }))]
  : fc.sample(round, { numRuns: Number(KILLS) });

describe("kill -9", () => {
  test("of Codex, of the owner of the threads and of a second instance at any moment: what lives goes on, clients come back, nothing is left over", { timeout: 90_000 + rounds.length * 20_000 }, async () => {
    await using model = await startModelServer({ scenario: MODEL });
    const home = nativeHome(model.url);
    const dataDir = temporaryDir("data");
    await using held = {
      owner: await start(home, dataDir),
      // Also where the test ends before its time.
      async [Symbol.asyncDispose]() {
        await this.owner.stop("SIGKILL");
      },
    };
    const native = await begun(held.owner, home, "gpt-5.5");
    const foreign = await begun(held.owner, home, "scripted/steady");
    for (const { victim, afterMs } of rounds) {
      const say = `${victim} after ${afterMs} ms`;
      await using onNative = await comeBack(held.owner, native);
      await using onForeign = await comeBack(held.owner, foreign);
      // The program and its launcher: there is one of them, whoever joined. What one of them starts looks like it at first.
      await until("one Codex", () => (codexOf(home.home).length === 2 ? true : undefined), { describe: () => `${say}: ${JSON.stringify(codexOf(home.home))}` });
      const second = await secondInstance(home, dataDir);
      await second.wire.request("thread/resume", { threadId: foreign });
      // What the owner's end cuts off must not end before.
      const turn = await onForeign.submit(foreign, victim === "owner" ? "endlessly" : "slowly");
      await onNative.submit(native, "slowly");
      await sleep(afterMs);

      if (victim === "second instance") {
        process.kill(second.pid, "SIGKILL");
        expect((await onForeign.ended(foreign, turn)).status, say).toBe("completed");
        expect([onNative.wire.closed, onForeign.wire.closed], say).toEqual([null, null]);
        await onNative.wire.waitFor("turn/completed", (params) => params["threadId"] === native);
      } else if (victim === "owner") {
        expect(await held.owner.stop("SIGKILL")).toBe(null);
        await until("the ends of all connections", () => (onNative.wire.closed !== null && onForeign.wire.closed !== null && second.wire.closed !== null ? true : undefined));
        expect(second.wire.closed, say).toBe("process ended with 1");
        await nothingLeft(home);
        held.owner = await start(home, dataDir);
      } else {
        const codex = codexOf(home.home);
        const program = codex.find(({ command }) => (basename(command.split(" ")[0]!) === "node") === (victim === "codex's launcher"));
        process.kill(program!.pid, "SIGKILL");
        await until("the end of the native client's connection", () => onNative.wire.closed ?? undefined);
        expect((await onForeign.ended(foreign, turn)).status, say).toBe("completed");
        expect(onForeign.wire.closed, say).toBe(null);
        await until("the end of the killed Codex", () => (codexOf(home.home).some(({ pid }) => codex.some((old) => old.pid === pid)) ? undefined : true));
      }
      await second.end();

      // Whatever it was: both go on, and what was cut off says so.
      await using again = await comeBack(held.owner, native);
      await again.join(foreign);
      const before = await again.read(foreign);
      expect(before.turns.at(-1)!.status, say).toBe(victim === "owner" ? "interrupted" : "completed");
      for (const threadId of [native, foreign]) expect((await again.prompt(threadId, "quick")).status, say).toBe("completed");
      // One that has just ended waits for a moment to be asked about.
      await until("no zombie", () => (zombiesOf(held.owner.pid).length === 0 ? true : undefined), { describe: () => `${say}: ${JSON.stringify(zombiesOf(held.owner.pid))}` });
    }
    expect(await held.owner.stop()).toBe(0);
    await nothingLeft(home);
    // No lock is stale: the next one owns the folder at once.
    await using last = await start(home, dataDir);
    expect(last.stderr()).not.toContain("locked");
  });

  test("of Codex in a turn: the TUI comes back by itself and goes on, and a foreign thread beside it notices nothing", async () => {
    await using model = await startModelServer({ scenario: MODEL });
    const home = nativeHome(model.url);
    await using server = await start(home, temporaryDir("data"));
    await using foreign = await PlainClient.connect(server.url);
    const thread = await foreign.start({ model: "scripted/steady", cwd: home.cwd });
    await using wire = await tap(server.url, "tui-native-kill");
    await using tui = await Tui.start(wire.url, "native-kill", { args: ["-C", home.cwd], config: QUIET_TUI });
    await tui.ready();
    await tui.submit("quick first");
    await finished(tui, "That was quick.");
    await tui.submit("slowly please");
    await tui.waitFor(/word word/);
    const turn = await foreign.submit(thread.id, "slowly");
    killAll(codexOf(home.home));
    // That it reconnects is on the screen for as long as that takes, which may be no time at all.
    await until("the thread on another connection", () => wire.frames.find(({ connection, dir, msg }) => connection > 0 && dir === "c2s" && msg["method"] === "thread/resume"));
    await tui.waitFor("Conversation interrupted");
    await gone(tui, /Reconnecting to server/);
    await tui.submit("quick again");
    await finished(tui, "That was quick.", 2);
    await tui.capture("came-back");
    expect((await foreign.ended(thread.id, turn)).status).toBe("completed");
    expect(foreign.wire.closed).toBe(null);
  });
});

describe("a Codex that hangs", () => {
  test("is killed and started again; its clients are let go and find their thread again, others notice nothing", async () => {
    await using model = await startModelServer({ scenario: MODEL });
    const home = nativeHome(model.url);
    const { bin } = await codexProgram();
    const upstream = new Upstream({ program: bin, args: ["app-server"], env: isolatedEnv(home.home), dir: temporaryDir("up"), log: silentLogger, schedule, signEveryMs: 3_000 });
    const { host } = await startTestHost({ native: upstream });
    const listener = await listen({ kind: "tcp", host: "127.0.0.1", port: 0 }, { connect: (transport) => host.connect(transport), token: null });
    try {
      await using native = await PlainClient.connect(listener.url);
      const { id } = await native.start({ model: "gpt-5.5", cwd: home.cwd });
      expect((await native.prompt(id, "quick")).status).toBe("completed");
      await using other = await PlainClient.connect(listener.url);
      const before = codexOf(home.home);
      for (const { pid } of before) process.kill(pid, "SIGSTOP");
      const unanswered = native.wire.request("thread/read", { threadId: id, includeTurns: true }).then(() => "answered", String);
      await until("the end of the native client's connection", () => native.wire.closed ?? undefined, { timeoutMs: 60_000 });
      expect(await unanswered).not.toBe("answered");
      expect(other.wire.closed).toBe(null);
      await until("the end of the Codex that hung", () => (processesOf(home.home).some(({ pid }) => before.some((old) => old.pid === pid)) ? undefined : true));
      await using again = await comeBack(listener, id);
      expect((await again.prompt(id, "quick")).status).toBe("completed");
    } finally {
      await listener.close();
      await host.close();
    }
    await nothingLeft(home);
  });
});

describe("a Codex whose socket file is removed", () => {
  test("goes on for whoever is connected, and who comes then finds native threads all the same", async () => {
    await using model = await startModelServer({ scenario: MODEL });
    const home = nativeHome(model.url);
    await using server = await start(home, temporaryDir("data"));
    await using first = await PlainClient.connect(server.url);
    const { id } = await first.start({ model: "gpt-5.5", cwd: home.cwd });
    const turn = await first.submit(id, "slowly");
    const before = codexOf(home.home);
    const socket = before.map(({ command }) => / unix:\/\/(\S+)/.exec(command)?.[1]).find((path) => path !== undefined);
    rmSync(dirname(socket!), { recursive: true });
    await using second = await PlainClient.connect(server.url);
    const thread = await second.start({ model: "gpt-5.5", cwd: home.cwd });
    expect((await second.prompt(thread.id, "quick")).status).toBe("completed");
    expect((await first.ended(id, turn)).status).toBe("completed");
    expect((await first.prompt(id, "quick")).status).toBe("completed");
    await first.close();
    await until("the end of the Codex that let nobody in", () => (codexOf(home.home).some(({ pid }) => before.some((old) => old.pid === pid)) ? undefined : true));
    expect((await second.prompt(thread.id, "quick")).status).toBe("completed");
    await second.join(id);
    expect((await second.prompt(id, "quick")).status).toBe("completed");
    expect(await server.stop()).toBe(0);
    await nothingLeft(home);
  });
});

/** Where one has ended with another, there is nothing left to kill. */
function killAll(programs: readonly { pid: number }[]): void {
  for (const { pid } of programs) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

function start(home: NativeHome, dataDir: string): Promise<RunningServer> {
  return startBehind(home, { scenarios: SCENARIOS, speed: 1, dataDir });
}

/** A new thread with one turn in it. */
async function begun(server: RunningServer, { cwd }: NativeHome, model: string): Promise<string> {
  await using client = await PlainClient.connect(server.url);
  const { id } = await client.start({ model, cwd });
  await client.prompt(id, "quick");
  return id;
}

/** A client as they all are: it comes again until it is let in, and its thread is open. */
function comeBack(server: Pick<RunningServer, "url">, threadId: string): Promise<PlainClient> {
  let why = "";
  return until(`the thread ${threadId}`, async () => {
    const client = await PlainClient.connect(server.url).catch((error: unknown) => void (why = String(error)));
    if (client === undefined) return undefined;
    try {
      await client.join(threadId);
      return client;
    } catch (error) {
      why = String(error);
      await client.close();
      return undefined;
    }
  }, { everyMs: 200, describe: () => why });
}

/** A second process on the same data folder, as a helper of Codex Desktop starts it. */
async function secondInstance({ home, cwd }: NativeHome, dataDir: string): Promise<{ wire: WireClient; pid: number; end(): Promise<void> }> {
  const [command, prefix] = FOLDCAST;
  const transport: Transport & { child: { pid?: number | undefined } } = childProcess(command, [...prefix, "app-server", "--data-dir", dataDir, "--analytics-default-enabled"], isolatedEnv(home), cwd);
  const wire = new WireClient(transport, { label: "second" });
  await wire.request("initialize", { clientInfo: { name: "second", version: "0" }, capabilities: { experimentalApi: true } });
  wire.notify("initialized");
  return { wire, pid: transport.child.pid!, end: () => wire.close() };
}

function nothingLeft({ home }: NativeHome): Promise<unknown> {
  return until("the end of all processes", () => (processesOf(home).length === 0 ? true : undefined), { everyMs: 50, describe: () => JSON.stringify(processesOf(home)) });
}
