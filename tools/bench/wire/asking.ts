import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { REPO } from "../repo.ts";

const FOLDCAST = join(REPO, "packages/host-runtime/bin/foldcast.js");
const CODEX = join(REPO, ".cache", `codex-${PROTOCOL_VERSION}`, "node_modules/.bin/codex");

export interface Asked {
  /** Milliseconds until the last byte of the answer was here. */
  ms: number;
  /** Reads the answer, which costs nothing until then. */
  result: () => unknown;
}

/** A server on standard streams that is asked one request after the other. */
export class Asking {
  readonly #child: ChildProcess;
  #pieces: Buffer[] = [];
  #onLine: ((line: Buffer) => void) | null = null;
  #onEnd: ((error: Error) => void) | null = null;
  #log = "";
  #id = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#log = (this.#log + text).slice(-4_000)));
    child.stdout?.on("data", (chunk: Buffer) => this.#take(chunk));
    child.once("close", (code) => this.#onEnd?.(new Error(`the server ended with ${String(code)}\n${this.#log}`)));
  }

  /** The built foldcast with a home of its own, which knows what it has kept in `dataDir`. */
  static foldcast(home: string, dataDir: string): Promise<Asking> {
    return start([process.execPath, FOLDCAST, "app-server", "--no-native", "--data-dir", dataDir], { PATH: process.env["PATH"], HOME: home });
  }

  /** The pinned real program; null where the tests have not fetched it. */
  static codex(codexHome: string): Promise<Asking> | null {
    if (!existsSync(CODEX)) return null;
    mkdirSync(codexHome, { recursive: true });
    writeFileSync(join(codexHome, "config.toml"), "model = \"bench\"\n");
    return start([CODEX, "app-server"], { PATH: process.env["PATH"], HOME: codexHome, CODEX_HOME: codexHome });
  }

  static make(child: ChildProcess): Asking {
    return new Asking(child);
  }

  async ask(method: string, params: unknown): Promise<Asked> {
    const id = (this.#id += 1);
    const began = performance.now();
    const line = await new Promise<Buffer>((resolve, reject) => {
      this.#onEnd = reject;
      this.#onLine = (each) => {
        // The answer; all else is news. The real server puts its id first, or its error.
        if (/^\{"(?:id|error|result|jsonrpc)"/.test(each.toString("latin1", 0, 12))) resolve(each);
      };
      this.#child.stdin?.write(`${JSON.stringify({ id, method, params })}\n`);
    });
    const ms = performance.now() - began;
    return {
      ms,
      result: (): unknown => {
        const frame = JSON.parse(line.toString("utf8")) as { result?: unknown; error?: { message: string } };
        if (frame.error !== undefined || frame.result === undefined) throw new Error(`${method}: ${frame.error?.message ?? "no result"}`);
        return frame.result;
      },
    };
  }

  async stop(): Promise<void> {
    this.#onEnd = null;
    const ended = new Promise<void>((resolve) => this.#child.once("close", () => resolve()));
    this.#child.stdin?.end();
    const forced = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(forced);
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#pieces, rest.subarray(0, end)]);
      this.#pieces = [];
      rest = rest.subarray(end + 1);
      this.#onLine?.(line);
    }
    if (rest.length > 0) this.#pieces.push(rest);
  }
}

async function start(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Promise<Asking> {
  const [program, ...args] = command;
  const server = Asking.make(spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] }));
  (await server.ask("initialize", { clientInfo: { name: "bench", title: null, version: "1" }, capabilities: { experimentalApi: true } })).result();
  return server;
}
