import { spawn, type ChildProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import type { TerminalState } from "./calls.ts";
import { type JsonRecord, countOf, filledString, objectsOf, stringOf } from "../json.ts";

/** Output kept of a terminal where the agent names no limit, in characters. */
const OUTPUT_LIMIT = 1024 * 1024;
const KILL_GRACE_MS = 2000;
/** How long output may still come behind the end of a command. */
const LINGER_MS = 200;

interface Terminal {
  child: ChildProcess;
  output: Tail;
  exit: { exitCode: number | null; signal: string | null } | null;
  ended: Promise<void>;
}

/** The end of a text that grows, at a cost that does not depend on its length. */
class Tail {
  readonly #limit: number;
  #pieces: string[] = [];
  #length = 0;
  truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    const all = this.#pieces.join("");
    this.#pieces = [all];
    return all.slice(Math.max(0, all.length - this.#limit));
  }

  append(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > this.#limit) this.truncated = true;
    while (this.#pieces.length > 1 && this.#length - this.#pieces[0]!.length >= this.#limit) this.#length -= this.#pieces.shift()!.length;
  }
}

/** `terminal/*` for an agent that runs its commands through its client. */
export class ClientTerminals {
  readonly #cwd: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #onOutput: (id: string, append: string) => void;
  readonly #terminals = new Map<string, Terminal>();
  #numbers = 0;

  /** `onOutput` is called for everything that a command writes. */
  constructor(options: { cwd: string; env: NodeJS.ProcessEnv; onOutput: (id: string, append: string) => void }) {
    this.#cwd = options.cwd;
    this.#env = options.env;
    this.#onOutput = options.onOutput;
  }

  /** What is known of a terminal, also after its release; null for one that never was. */
  state(id: string): TerminalState | null {
    const terminal = this.#terminals.get(id);
    return terminal === undefined ? null : { output: terminal.output.text, exitCode: terminal.exit?.exitCode ?? null };
  }

  /** A `command` without `args` is a line for the shell, as agents send it. */
  create(params: JsonRecord): { terminalId: string } {
    const command = filledString(params["command"]);
    if (command === null) throw new Error("There is no command.");
    const args = Array.isArray(params["args"]) ? params["args"].filter((arg) => typeof arg === "string") : null;
    const env = { ...this.#env, ...Object.fromEntries(objectsOf(params["env"]).map((entry) => [stringOf(entry["name"]) ?? "", stringOf(entry["value"]) ?? ""])) };
    const options = { cwd: filledString(params["cwd"]) ?? this.#cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] };
    const child = args === null ? spawn(command, { ...options, shell: true }) : spawn(command, args, options);
    const id = `terminal-${(this.#numbers += 1)}`;
    let done!: () => void;
    const ended = new Promise<void>((resolve) => (done = resolve));
    // The end is kept, as the protocol says.
    const terminal: Terminal = { child, output: new Tail(countOf(params["outputByteLimit"]) ?? OUTPUT_LIMIT), exit: null, ended };
    this.#terminals.set(id, terminal);
    const take = (append: string): void => {
      if (append === "") return;
      terminal.output.append(append);
      this.#onOutput(id, append);
    };
    for (const stream of [child.stdout, child.stderr]) {
      const decoder = new StringDecoder("utf8");
      stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    }
    const end = (exitCode: number | null, signal: string | null): void => {
      terminal.exit ??= { exitCode, signal };
      done();
    };
    child.once("error", (error) => {
      take(`${error.message}\n`);
      end(127, null);
    });
    child.once("close", end);
    // What a command left running may hold the pipes open.
    child.once("exit", (exitCode, signal) => setTimeout(() => end(exitCode, signal), LINGER_MS).unref());
    return { terminalId: id };
  }

  output(params: JsonRecord): object {
    const { output, exit } = this.#get(params);
    return { output: output.text, truncated: output.truncated, ...(exit === null ? {} : { exitStatus: exit }) };
  }

  async waitForExit(params: JsonRecord, signal: AbortSignal): Promise<object> {
    const terminal = this.#get(params);
    const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("The request was taken back.")), { once: true }));
    await Promise.race([terminal.ended, aborted]);
    return terminal.exit ?? {};
  }

  kill(params: JsonRecord): Record<string, never> {
    stop(this.#get(params));
    return {};
  }

  /** Ends the command; what it wrote stays known for the call that shows it. */
  release(params: JsonRecord): Record<string, never> {
    stop(this.#get(params));
    return {};
  }

  /** Ends every command. */
  async close(): Promise<void> {
    await Promise.all([...this.#terminals.values()].map(async (terminal) => {
      stop(terminal);
      await terminal.ended;
    }));
  }

  #get(params: JsonRecord): Terminal {
    const id = filledString(params["terminalId"]);
    const terminal = id === null ? undefined : this.#terminals.get(id);
    if (terminal === undefined) throw new Error(`There is no terminal ${id ?? ""}.`);
    return terminal;
  }
}

function stop({ child, exit }: Terminal): void {
  if (exit !== null || child.pid === undefined) return;
  const { pid } = child;
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-pid, name);
    } catch {
      // It has just ended.
    }
  };
  signal("SIGTERM");
  setTimeout(() => signal("SIGKILL"), KILL_GRACE_MS).unref();
}
