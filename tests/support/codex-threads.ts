import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definition, history } from "@foldcast/adapter-codex";
import { DEFAULT_POLICY } from "@foldcast/protocol-core/delivery";
import { TurnProjector } from "@foldcast/protocol-core/projection";
import type { Turn } from "@foldcast/protocol-core/wire";
import { WireClient } from "./client.ts";
import { codexProgram } from "./codex.ts";
import { processesOf } from "./native-processes.ts";
import { isolatedEnv, temporaryDir } from "./paths.ts";
import { childProcess } from "./transport.ts";

/** A turn as the real app-server gives it: its items may be of types that foldcast has none of. */
export interface NativeTurn extends Omit<Turn, "items"> {
  items: (Record<string, unknown> & { type: string; id: string })[];
}

/** The real app-server on a Codex home of its own. */
export class CodexThreads implements AsyncDisposable {
  readonly home: string;
  readonly cwd: string;
  #client: WireClient | null = null;

  private constructor(home: string) {
    this.home = home;
    this.cwd = join(home, "work");
  }

  /** `modelUrl`: where its model is; nobody is there by default. */
  static async prepare(modelUrl = "http://127.0.0.1:9"): Promise<CodexThreads> {
    const threads = new CodexThreads(temporaryDir("codex-threads"));
    mkdirSync(join(threads.home, ".codex"), { recursive: true });
    mkdirSync(threads.cwd);
    await threads.restart(modelUrl);
    return threads;
  }

  /** A new process on the same home: what it then tells comes from its files. */
  async restart(modelUrl?: string): Promise<void> {
    await this.#client?.close();
    if (modelUrl !== undefined) this.#configure(modelUrl);
    const { bin } = await codexProgram();
    this.#client = new WireClient(childProcess(bin, ["app-server"], isolatedEnv(this.home), this.cwd), { label: "codex", record: false });
    await this.#client.request("initialize", { clientInfo: { name: "foldcast-test", version: "0" }, capabilities: { experimentalApi: true } });
    this.#client.notify("initialized");
  }

  /** The program ends with no time to write anything. */
  async kill(): Promise<void> {
    // Its launcher's end would be a hint to it.
    const programs = processesOf(this.home).filter(({ command }) => command.endsWith(" app-server"));
    for (const { pid } of programs.reverse()) process.kill(pid, "SIGKILL");
    await this.#client?.close();
  }

  #configure(modelUrl: string): void {
    writeFileSync(join(this.home, ".codex", "config.toml"), [
      "model = \"gpt-5.5\"", "model_provider = \"mock\"", "approval_policy = \"never\"", "sandbox_mode = \"danger-full-access\"",
      "[model_providers.mock]", "name = \"mock\"", `base_url = "${modelUrl}/v1"`, "wire_api = \"responses\"", "request_max_retries = 0", "stream_max_retries = 0",
      "[tools.update_plan]", "enabled = true", "",
    ].join("\n"));
  }

  get client(): WireClient {
    return this.#client!;
  }

  async start(options: Record<string, unknown> = {}): Promise<string> {
    const { thread } = await this.client.request<{ thread: { id: string } }>("thread/start", { cwd: this.cwd, historyMode: "paginated", ...options });
    return thread.id;
  }

  /** Sends input and waits for the turn's end. */
  async turn(threadId: string, text: string, more: Record<string, unknown> = {}): Promise<void> {
    await this.#ended(threadId, () => this.client.request("turn/start", { threadId, input: [{ type: "text", text }], ...more }));
  }

  /** Does something that runs as a turn. */
  async run(threadId: string, method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#ended(threadId, () => this.client.request(method, { threadId, ...params }));
  }

  async #ended(threadId: string, begin: () => Promise<unknown>): Promise<void> {
    const seen = this.client.notifications.length;
    await begin();
    await this.client.waitFor("turn/completed", (params) => params["threadId"] === threadId && this.client.notifications.findIndex((each) => each.params === params) >= seen);
  }

  /** All its rollouts, those of sub-agents and of reverted parts too. */
  rollouts(): string[] {
    return ["sessions", "archived_sessions"].flatMap((folder) => {
      const root = join(this.home, ".codex", folder);
      try {
        return readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl")).map((name) => join(root, name)).sort();
      } catch {
        return [];
      }
    });
  }

  /** Puts a rollout where the program finds it. */
  place(text: string, id: string, timestamp: string): string {
    const folder = join(this.home, ".codex/sessions", timestamp.slice(0, 10).replaceAll("-", "/"));
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `rollout-${timestamp.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`);
    writeFileSync(file, text);
    return file;
  }

  /** The turns as the program itself tells them, oldest first. */
  async read(threadId: string): Promise<NativeTurn[]> {
    await this.client.request("thread/resume", { threadId, excludeTurns: false });
    const { thread } = await this.client.request<{ thread: { turns: NativeTurn[] } }>("thread/read", { threadId, includeTurns: true });
    return thread.turns;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
  }
}

/** The turns of a rollout as foldcast tells them, under their native ids. */
export async function projected(file: string): Promise<{ id: string; turns: Turn[] }> {
  const index = await history.open(file);
  const turns: Turn[] = [];
  for await (const { index: at, events } of index.read(0, index.turns.length)) {
    const { key } = index.turns[at]!;
    const projector = new TurnProjector({
      turnId: key, threadId: index.nativeSessionId, cwd: index.cwd ?? "/", toolMaps: { codex: definition.manifest.tools }, defaultMap: "codex", childThreadId: (ref) => ref,
    });
    for (const event of events) projector.apply(event);
    turns.push(projector.turn(DEFAULT_POLICY));
  }
  return { id: index.nativeSessionId, turns };
}
