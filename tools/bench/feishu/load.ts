import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startFakeFeishu, type FakeFeishu } from "@foldcast/feishu-channel/fake";
import { RpcClient } from "@foldcast/protocol-core/client";
import { linkTo } from "../../../tests/support/feishu.ts";
import { REPO } from "../repo.ts";
import { buildFoldcast } from "../wire/servers.ts";

const FOLDCAST = join(REPO, "packages/host-runtime/bin/foldcast.js");
/** Turns that begin, and later end, in one second: the platform takes 50 of each call a second from one app. */
const BEGINS_A_SECOND = 20;
const STEPS = 11;
const STEP_MS = 1_100;
const PATIENCE_MS = 90_000;
/** Of the turns must have been measured. */
const MOST = 0.9;
const ANSWER = "The answer. ".repeat(40);
/** Of `/proc/PID/stat`. */
const TICK_MS = 10;

const steps = Array.from({ length: STEPS }, (_, index) => [
  ...(index % 3 === 0 ? [{ message: `Now step ${index} of the work, which looks at one more part of it.`, chunks: 8 }] : []),
  { tool: { id: `c${index}`, name: "shell", input: { command: `run step ${index} --with some --more arguments` } } },
  { delayMs: STEP_MS },
  { result: { id: `c${index}`, output: "ok\n", exitCode: 0 } },
]).flat();
const SCENARIO = { schema: 1, name: "load", turns: [{ steps: [...steps, { message: ANSWER, chunks: 30 }] }] };

interface Resumed {
  readonly initialTurnsPage?: { readonly data: readonly { readonly status: string }[] } | null;
}

/** What one run has cost, a turn. */
interface Costs {
  readonly writesPerTurn: number;
  readonly kilobytesPerTurn: number;
  readonly cpuMsPerTurn: number;
  readonly memoryMB: number;
}

/** The built server, the built channel in a process of its own, and the stand-in for Feishu in this one. */
export class FeishuLoad {
  readonly #fake: FakeFeishu;
  readonly #children: readonly ChildProcess[];
  readonly #channel: ChildProcess;
  readonly #rpc: RpcClient;
  readonly #ends: Map<string, number>;
  readonly #folder: string;
  readonly #person: string;
  readonly #costs = new Map<number, Costs>();
  #count = 0;

  private constructor(parts: { fake: FakeFeishu; person: string; server: ChildProcess; channel: ChildProcess; rpc: RpcClient; ends: Map<string, number>; folder: string }) {
    this.#fake = parts.fake;
    this.#person = parts.person;
    this.#children = [parts.channel, parts.server];
    this.#channel = parts.channel;
    this.#rpc = parts.rpc;
    this.#ends = parts.ends;
    this.#folder = parts.folder;
  }

  static async start(): Promise<FeishuLoad> {
    buildFoldcast();
    const folder = mkdtempSync(join(tmpdir(), "foldcast-bench-feishu-"));
    writeFileSync(join(folder, "load.json"), JSON.stringify(SCENARIO));
    const fake = await startFakeFeishu();
    // The channel keeps the limits by itself; a machine that is busy must not count as one that does not.
    fake.setRules({ rates: false });
    const person = fake.addPerson({ name: "Ada" }).openId;
    writeFileSync(join(folder, "secret"), fake.app.appSecret, { mode: 0o600 });
    const env = {
      PATH: process.env["PATH"], HOME: folder, FOLDCAST_FEISHU_BASE_URL: fake.baseUrl, FOLDCAST_FEISHU_APP_ID: fake.app.appId, FOLDCAST_FEISHU_APP_SECRET_FILE: join(folder, "secret"),
      FOLDCAST_FEISHU_ALLOW_USERS: person, FOLDCAST_FEISHU_DEFAULT_MODEL: "scripted/load", FOLDCAST_FEISHU_CWD: folder, FOLDCAST_FEISHU_LOCALE: "en",
    };
    const server = run(["serve", "--port", "0", "--no-native", "--discover", "off", "--harness", "scripted", "--scenario", join(folder, "load.json"), "--data-dir", join(folder, "server")], env);
    const { url } = (await firstLine(server)) as { url: string };
    const channel = run(["feishu", "--server", url, "--data-dir", join(folder, "channel")], env);
    await firstLine(channel);
    const ends = new Map<string, number>();
    const rpc = new RpcClient(await linkTo(url), {
      notification: ({ method, params }) => {
        if (method === "turn/completed") ends.set((params as { threadId: string }).threadId, fake.now());
      },
      request: () => undefined,
      closed: () => undefined,
    });
    await rpc.request("initialize", { clientInfo: { name: "bench", title: null, version: "1" }, capabilities: { experimentalApi: true } });
    rpc.notify("initialized");
    return new FeishuLoad({ fake, person, server, channel, rpc, ends, folder });
  }

  /** Plays `n` turns; for each the milliseconds from its last event to the write that shows its end. */
  async play(n: number): Promise<number[]> {
    const fake = this.#fake;
    const first = this.#count;
    this.#count += n;
    const jobs = Array.from({ length: n }, (_, index) => ({ prompt: `job ${first + index}`, chatId: fake.addChat({ mode: "p2p", name: `chat ${first + index}`, people: [this.#person] }).chatId }));
    const [cpuBefore, before] = [this.#cpuMs(), fake.calls().length];
    const following = this.#follow(jobs.map(({ prompt }) => prompt));
    for (const { prompt, chatId } of jobs) {
      fake.say({ chatId, from: this.#person, text: prompt });
      await pause(1_000 / BEGINS_A_SECOND);
    }
    const threads = await following;
    await this.#until("all turns to end", () => [...threads.values()].every((id) => this.#ends.has(id)));
    const isFinal = (chatId: string): boolean => fake.chat({ chatId }).messages.some(({ card }) => card?.streaming === false && card.summary.startsWith("The answer."));
    await this.#until("all cards to show it", () => jobs.every(({ chatId }) => isFinal(chatId)));
    const calls = fake.calls().slice(before);
    this.#costs.set(n, this.#costsOf(n, calls, this.#cpuMs() - cpuBefore));
    const lastWrite = new Map(calls.flatMap(({ api, target, atMs }) => (api === "card.update" && target !== null ? [[target, atMs] as const] : [])));
    const delays = jobs.map(({ prompt, chatId }) => {
      const { messages } = fake.chat({ chatId });
      const shown = messages.flatMap(({ card, createTimeMs }) => (card === null ? [] : [(card.cardId === null ? undefined : lastWrite.get(card.cardId)) ?? createTimeMs]));
      return Math.max(...shown) - this.#ends.get(threads.get(prompt)!)!;
    }).filter((delay) => !Number.isNaN(delay));
    if (delays.length < n * MOST) throw new Error(`the ends of ${n - delays.length} of ${n} turns were not seen: this machine is too busy`);
    return delays;
  }

  /** Of the last run with so many turns. */
  costs(n: number): Readonly<Record<string, number>> {
    return { ...this.#costs.get(n)! };
  }

  async stop(): Promise<void> {
    this.#rpc.close();
    for (const child of this.#children) {
      const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
      child.kill("SIGTERM");
      const forced = setTimeout(() => child.kill("SIGKILL"), 8_000);
      await ended;
      clearTimeout(forced);
    }
    await this.#fake.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #costsOf(n: number, calls: ReturnType<FakeFeishu["calls"]>, cpuMs: number): Costs {
    const writes = calls.filter(({ api }) => api.startsWith("card.") || api.startsWith("message."));
    const perTurn = (sum: number): number => Number((sum / n).toFixed(1));
    return {
      writesPerTurn: perTurn(writes.length),
      kilobytesPerTurn: perTurn(writes.reduce((sum, { bytes }) => sum + bytes, 0) / 1_024),
      cpuMsPerTurn: perTurn(cpuMs),
      memoryMB: Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(this.#proc("status"))?.[1]) / 1_024),
    };
  }

  /** Joins the threads that have these prompts, so that their ends are told here as well. */
  async #follow(prompts: readonly string[]): Promise<Map<string, string>> {
    const wanted = new Set(prompts);
    const threads = new Map<string, string>();
    await this.#until("all threads", async () => {
      const { data } = await this.#rpc.request<{ data: { id: string; preview: string }[] }>("thread/list", { limit: prompts.length, sortKey: "created_at", sourceKinds: ["cli", "vscode", "exec", "appServer", "unknown"] });
      const found = data.filter(({ preview }) => wanted.has(preview) && !threads.has(preview));
      for (const { id, preview } of found) {
        threads.set(preview, id);
        const { initialTurnsPage } = await this.#rpc.request<Resumed>("thread/resume", { threadId: id, excludeTurns: true, initialTurnsPage: { limit: 1, sortDirection: "desc", itemsView: "summary" } });
        // On a machine that is far too busy: it was over before anybody looked, and when it was is not known.
        if (initialTurnsPage?.data[0]?.status === "completed" && !this.#ends.has(id)) this.#ends.set(id, Number.NaN);
      }
      return threads.size === wanted.size;
    });
    return threads;
  }

  async #until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`waited too long for ${what}`);
      await pause(200);
    }
  }

  #cpuMs(): number {
    // After the name in parentheses: state is the third field, user and system time the 14th and 15th.
    const fields = this.#proc("stat").replace(/^.*\) /, "").split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }

  #proc(file: string): string {
    return readFileSync(`/proc/${String(this.#channel.pid)}/${file}`, "utf8");
  }
}

function run(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [FOLDCAST, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
}

function firstLine(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes("\n")) resolve(JSON.parse(text.slice(0, text.indexOf("\n"))));
    });
    child.once("close", (code) => reject(new Error(`it ended with ${String(code)} before it was ready`)));
  });
}
