import { execFileSync } from "node:child_process";
import { constants, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ThreadItem } from "@foldcast/protocol-core/wire";
import type { ModelServer, ScenarioInput } from "../model-server/index.ts";
import type { ReceivedRequest } from "./client.ts";
import type { DesktopTurn } from "./desktop-turns.ts";
import { LiveHistory, matrixTable, type SavedRun } from "./live-history.ts";
import { temporaryDir } from "./paths.ts";
import { PlainClient } from "./plain-client.ts";
import { startServer, type RunningServer } from "./server.ts";
import { until } from "./wait.ts";

/** What a scripted model says, in its order. */
export type Replies = ScenarioInput["replies"];
export const text = (words: string, chunks = 3): { text: string; chunks: number } => ({ text: words, chunks });
export const tool = (id: string, name: string, input: object): { tool: { id: string; name: string; input: object } } => ({ tool: { id, name, input } });
export const after = (id: string): { resultOf: string } => ({ resultOf: id });

/** A real program with a home of its own and a scripted model in the place of its own. */
export interface Bench extends AsyncDisposable {
  model: ModelServer;
  env: Readonly<Record<string, string>>;
  workspace: string;
  /** Where the program saves its sessions. */
  sessions: string;
  /** Ids of the running programs of this home. */
  programs(): number[];
}

export interface MatrixSetup {
  harness: string;
  /** Name and version for the table. */
  program: string;
  /** As clients name it. */
  model: string;
  bench(): Promise<Bench>;
}

/** A real program on a busy machine takes its time. */
const PATIENCE_MS = 100_000;

/** One run of the program in a thread of its own. */
export class Run {
  readonly threadId: string;
  readonly client: PlainClient;
  #asked: number;

  constructor(client: PlainClient, threadId: string) {
    this.client = client;
    this.threadId = threadId;
    this.#asked = client.wire.requests.length;
  }

  get turns(): DesktopTurn[] {
    return this.client.threads.get(this.threadId) ?? [];
  }

  prompt(words: string): Promise<DesktopTurn> {
    return this.client.prompt(this.threadId, words);
  }

  submit(words: string): Promise<string> {
    return this.client.submit(this.threadId, words);
  }

  ended(turnId: string): Promise<DesktopTurn> {
    return this.client.ended(this.threadId, turnId);
  }

  interrupt(turnId: string): Promise<unknown> {
    return this.client.wire.request("turn/interrupt", { threadId: this.threadId, turnId });
  }

  /** The next request of the server to its clients. */
  async request(): Promise<ReceivedRequest> {
    const at = this.#asked++;
    return this.until("a request", () => this.client.wire.requests[at]);
  }

  async approve(request: ReceivedRequest, decision: string): Promise<void> {
    this.client.wire.respond(request.id, { decision });
    await this.client.wire.waitFor("serverRequest/resolved", ({ requestId }) => requestId === request.id);
  }

  async item(what: string, fits: (item: ThreadItem) => boolean): Promise<ThreadItem> {
    return this.until(what, () => this.turns.flatMap((turn) => turn.items).find(fits));
  }

  /** The first turn from the one with this index on that has ended. */
  async turnFrom(index: number): Promise<DesktopTurn> {
    return this.until("another turn's end", () => this.turns.slice(index).find((one) => one.status !== "inProgress"));
  }

  /** Waits for something as long as it may take. */
  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    return until(what, look, { timeoutMs: PATIENCE_MS, everyMs: 5, describe: () => JSON.stringify(this.turns).slice(-2000) });
  }

  /** Until words are in the program's own file, which it writes a little later than it tells. */
  async written(words: string): Promise<void> {
    const { thread } = await this.client.read(this.threadId);
    await this.until(`"${words}" in the file`, () => readFileSync(thread.path!, "utf8").includes(words) || undefined);
  }

  texts(turn: DesktopTurn): string[] {
    return turn.items.flatMap((item) => (item.type === "agentMessage" ? [item.text] : []));
  }
}

interface Ran extends SavedRun {
  threadId: string;
}

/** Programs that nobody needs any longer take memory. */
const IDLE_MS = 20_000;

/**
 * Scenarios of a real program, each played through a running host and then read again: from the host's history, and
 * from the program's own files by a new process. What differs must be a known exception.
 */
export class Matrix {
  readonly #setup: MatrixSetup;
  readonly #history: LiveHistory;
  readonly #dataDir: string;
  readonly #cells = new Map<string, string>();
  readonly #ran: Ran[] = [];
  #held = 0;
  bench!: Bench;
  server!: RunningServer;
  client!: PlainClient;

  constructor(setup: MatrixSetup) {
    this.#setup = setup;
    this.#history = new LiveHistory(setup.harness);
    this.#dataDir = temporaryDir(`${setup.harness}-data`);
    beforeAll(async () => {
      this.bench = await setup.bench();
      await this.#start();
    });
    afterAll(async () => {
      await this.client.close();
      await this.server.stop();
      await this.bench[Symbol.asyncDispose]();
      console.log(`\n${matrixTable(this.#cells, setup.program)}\n`);
    });
  }

  /** Starts the host, with what an earlier one left. */
  async #start(): Promise<void> {
    this.server = await startServer({ dataDir: this.#dataDir, env: this.bench.env, args: ["--harness", this.#setup.harness, "--idle-session-ms", String(IDLE_MS)] });
    this.client = await PlainClient.connect(this.server.url);
    await this.client.offered(this.#setup.model);
  }

  /** Ends the host, and its programs with it. */
  async #stop(): Promise<void> {
    await this.client.close();
    expect(await this.server.stop()).toBe(0);
    expect(this.bench.programs(), "programs that are left").toEqual([]);
  }

  async open(options: { permissions?: string } = {}): Promise<Run> {
    const thread = await this.client.start({ model: this.#setup.model, cwd: this.bench.workspace, ...options });
    return new Run(this.client, thread.id);
  }

  /** Declares one cell of the matrix. */
  scenario(name: string, replies: () => Replies, play: (run: Run) => Promise<unknown>, options: { permissions?: string; cell?: string } = {}): void {
    test(name, async () => {
      const { model } = this.bench;
      model.forget();
      model.play({ replies: replies() });
      const run = await this.open(options.permissions === undefined ? {} : { permissions: options.permissions });
      await play(run);
      await this.finish(name, run, options.cell);
    });
  }

  /** What the program cannot do, and its own fact of that. */
  cannot(name: string, fact: string): void {
    this.#cells.set(name, `no: ${fact}`);
  }

  /** A command that runs until it is let go: it reads a pipe, for which programs ask nobody. */
  heldCommand(): { command: string; letGo: () => Promise<void> } {
    const pipe = join(this.bench.workspace, `held-${(this.#held += 1)}`);
    execFileSync("mkfifo", [pipe]);
    const letGo = async (): Promise<void> => {
      // Without a reader there is nobody to let go yet.
      const writer = await until("the command that reads", () => open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined), { timeoutMs: PATIENCE_MS });
      await writer.writeFile("let go\n");
      await writer.close();
    };
    return { command: `cat ${basename(pipe)}`, letGo };
  }

  /** The last cell: a session goes on in a host and a program that are new; and all that ran is told again by both. */
  restart(): void {
    test("resume in a new process, and everything told again", async () => {
      const { model } = this.bench;
      model.forget();
      model.play({ replies: [{ match: { says: "before" }, blocks: [text("Before.")] }, { match: { says: "after" }, blocks: [text("And after.")] }] });
      const before = await this.open();
      const { threadId } = before;
      await before.prompt("before the restart");
      await this.#stop();
      await this.#start();
      await this.client.join(threadId);
      const run = new Run(this.client, threadId);
      expect(run.texts(await run.prompt("after the restart"))).toEqual(["And after."]);
      expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("before the restart");
      await this.finish("resume in a new process", run);
      for (const { name, threadId, live } of this.#ran) this.#history.expectSameTold(name, live, (await this.client.read(threadId)).turns);
      // A program that has ended has written all of its file.
      await this.#stop();
      await this.#history.expectSameFiles(this.#ran, this.bench);
      this.#history.expectAllUsed();
    });
  }

  async finish(name: string, run: Run, cell = "yes"): Promise<void> {
    const { model } = this.bench;
    const { thread, turns } = await this.client.read(run.threadId);
    const live = structuredClone(run.turns);
    this.#history.expectSameTold(name, live, turns);
    expect(model.unused().map((reply) => reply.blocks), "what the model was not asked for").toEqual([]);
    expect(model.requests.filter((request) => request.reply === null).map((request) => request.said.slice(-300)), "what the model had no answer for").toEqual([]);
    this.#ran.push({ name, threadId: run.threadId, live, file: thread.path! });
    this.#cells.set(name, cell);
  }
}

/** One pixel, as a PNG in base64. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
