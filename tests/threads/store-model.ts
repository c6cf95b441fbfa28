import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { harnesses } from "@foldcast/adapter-registry";
import { Host } from "../../packages/host-runtime/src/host.ts";
import { silentLogger } from "../../packages/host-runtime/src/log/logger.ts";
import { openStore, type OpenedStore } from "../../packages/host-runtime/src/store/open.ts";
import { connectStdio, type TestClient } from "../../packages/host-runtime/src/testing/client.ts";
import { threadIdFor } from "../../packages/host-runtime/src/threads/ids.ts";
import { claudeFile, claudeId, claudeLines, scriptedFile, scriptedId, scriptedLines, writeSession, type SavedTurn } from "../support/saved-sessions.ts";

export const ANSWER = "Done and dusted.";
export const FOLDERS = ["/repo", "/other"] as const;
/** For a first look at thousands of sessions, by the host and by who waits for it. */
const PATIENCE_MS = 120_000;
/** Before any session here was started by us. */
const FIRST_START = Date.UTC(2026, 9, 1);

/** A session of another program, as its file holds it. */
export interface SavedFile {
  harness: "claude-code" | "scripted";
  n: number;
  cwd: string;
  turns: number;
}

/** A host on folders of its own, which can be ended and started again on what it left behind. */
export class World implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), "foldcast-model-"));
  readonly data = join(this.root, "data");
  readonly home = join(this.root, "home");
  client!: TestClient;
  /** The host's clock: a second further at every step. */
  now = FIRST_START;
  #host: Host | null = null;
  #store: OpenedStore | null = null;
  #ended = 0;
  readonly #onProgress: (done: number, total: number) => void;

  constructor({ onProgress = () => undefined }: { onProgress?: (done: number, total: number) => void } = {}) {
    this.#onProgress = onProgress;
    mkdirSync(join(this.root, "scenarios"));
    writeFileSync(join(this.root, "scenarios", "demo.json"), JSON.stringify({ schema: 1, name: "demo", turns: [{ steps: [{ message: ANSWER }], end: "succeeded" }] }));
  }

  async start(): Promise<void> {
    this.#store = openStore(this.data);
    this.#host = new Host({
      store: this.#store.store,
      harnesses: harnesses.filter(({ id }) => id === "scripted" || id === "claude-code"),
      harnessSettings: { scenarios: join(this.root, "scenarios"), speed: 0 },
      dataDir: this.data,
      dialect: "auto",
      log: silentLogger,
      now: () => this.now,
      discovery: { enabled: true, cacheDir: this.data, home: this.home, patienceMs: PATIENCE_MS, onProgress: this.#onProgress },
    });
    this.client = await connectStdio(this.#host).initialize();
    this.#ended = 0;
  }

  async stop(): Promise<void> {
    await this.#host?.close();
    this.#store?.close();
    this.#host = this.#store = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.root, { recursive: true, force: true });
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  fileOf({ harness, n }: SavedFile): string {
    return harness === "scripted" ? scriptedFile(this.data, n) : claudeFile(this.home, n);
  }
  idOf({ harness, n }: SavedFile): string {
    return threadIdFor(harness, harness === "scripted" ? scriptedId(n) : claudeId(n));
  }
  contentOf(saved: SavedFile): string {
    return existsSync(this.fileOf(saved)) ? readFileSync(this.fileOf(saved), "utf8") : "";
  }

  /** Writes turns as the session's own program would. */
  write(saved: SavedFile, turns: readonly SavedTurn[]): void {
    const { harness, n, cwd, turns: from } = saved;
    const lines = harness === "scripted" ? scriptedLines(n, turns, { cwd, from }) : claudeLines(n, turns, { cwd, from });
    const file = this.fileOf(saved);
    if (from === 0) return writeSession(file, lines, n);
    appendFileSync(file, lines);
    const { mtimeMs } = statSync(file);
    utimesSync(file, new Date(), new Date(Math.max(mtimeMs, Date.now())));
  }

  async request(method: string, params: object): Promise<Record<string, unknown>> {
    this.now += 1_000;
    return (await this.client.call(method, params, PATIENCE_MS)) as unknown as Record<string, unknown>;
  }
  /** The refusal's words; null where there was none. */
  async refusal(method: string, params: object): Promise<string | null> {
    this.now += 1_000;
    return (await this.client.request(method, params)).error?.message ?? null;
  }
  async runTurn(threadId: string, prompt: string): Promise<void> {
    await this.request("turn/start", { threadId, input: [{ type: "text", text: prompt, text_elements: [] }] });
    await this.client.turnsCompleted((this.#ended += 1));
  }
}
