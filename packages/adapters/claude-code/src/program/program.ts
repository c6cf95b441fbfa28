import { type ChildExit, type LineChild, spawnLines, filledString, objectOf, parseRecord, withoutSecrets } from "@foldcast/adapter-kit";
import type { HarnessEnvironment } from "@foldcast/protocol-core/harness";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import type { Frame } from "./frame.ts";
import { endLeftovers } from "./leftovers.ts";

export interface ProgramStart {
  bin: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  log: HarnessEnvironment["log"];
  /** Every frame but answers to our own requests, in order. Reading waits for it. Must not reject. */
  onFrame(frame: Frame): Promise<void> | void;
  /** The program has ended, by itself or closed by us; no frame follows. */
  onEnd(exit: ProgramExit): void;
}

export interface ProgramExit extends ChildExit {
  /** How it ended and its last words, for a person; secrets are removed. */
  message: string;
  details: string | null;
}

/** Both ways as streams of JSON, with questions over stdio (measured on 2.1.332). */
const STREAM_ARGS = [
  "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--include-partial-messages", "--replay-user-messages",
  "--permission-prompt-tool", "stdio",
];
const START_PATIENCE_MS = 60_000;
const REQUEST_PATIENCE_MS = 20_000;
const STDERR_LINES = 8;
/** Ids of our requests; those of the program's own are UUIDs, and its answers to both come on one stream. */
const OURS = "foldcast-";

interface Waiter {
  resolve: (answer: Frame) => void;
  reject: (error: Error) => void;
}

/** A running `claude` that was told hello and answered. */
export class ClaudeProgram {
  /** Its answer to `initialize`: models, account, version. */
  about: Frame = {};
  readonly #child: LineChild;
  readonly #start: ProgramStart;
  readonly #waiting = new Map<string, Waiter>();
  #requests = 0;
  #ended: ProgramExit | null = null;
  #reaping: Promise<void> | null = null;

  private constructor(child: LineChild, start: ProgramStart) {
    this.#child = child;
    this.#start = start;
  }

  /** Rejects with a readable message when it cannot be started or gives no answer; nothing is left running then. */
  static async start(start: ProgramStart): Promise<ClaudeProgram> {
    const child = await spawnLines({ command: [start.bin, ...STREAM_ARGS, ...start.args], cwd: start.cwd, env: start.env });
    const program = new ClaudeProgram(child, start);
    void program.#read();
    try {
      program.about = await program.request({ subtype: "initialize" }, START_PATIENCE_MS);
    } catch (error) {
      await program.close();
      throw error;
    }
    return program;
  }

  get running(): boolean {
    return this.#ended === null && this.#child.running;
  }

  /** Asks something; rejects with the program's own words where it refuses, and when it ends or does not answer in time. */
  async request(request: Frame, patienceMs = REQUEST_PATIENCE_MS): Promise<Frame> {
    if (this.#ended !== null) throw new Error(this.#ended.message);
    const id = `${OURS}${(this.#requests += 1)}`;
    const what = filledString(request["subtype"]) ?? "request";
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<Frame>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      timer = setTimeout(() => reject(new Error(`Claude Code gave no answer to ${what} within ${patienceMs / 1000} seconds.`)), patienceMs);
    });
    try {
      // Whichever comes first: a program that ends says more than a pipe that closes.
      await Promise.race([this.send({ type: "control_request", request_id: id, request }).catch(() => this.#child.exited), answer]);
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Writes one frame; rejects when the program no longer reads. */
  send(frame: Frame): Promise<void> {
    return this.#child.send(frame);
  }

  /** Answers a question of the program. One that is gone needs no answer. */
  answer(requestId: string, response: Frame): Promise<void> {
    return this.send({ type: "control_response", response: { subtype: "success", request_id: requestId, response } }).catch(() => undefined);
  }

  refuse(requestId: string, error: string): Promise<void> {
    return this.send({ type: "control_response", response: { subtype: "error", request_id: requestId, error } }).catch(() => undefined);
  }

  /** Ends it with all that it started. Idempotent, never rejects. */
  async close(): Promise<void> {
    await this.#child.close();
    await this.#reap();
  }

  #reap(): Promise<void> {
    return (this.#reaping ??= endLeftovers(this.#child.pid));
  }

  async #read(): Promise<void> {
    for await (const lines of this.#child.lines) {
      for (const line of lines) {
        const frame = parseRecord(line);
        if (frame === null) this.#start.log("warn", "Claude Code wrote a line that is no frame", { line: line.slice(0, 200) });
        else if (!this.#takeAnswer(frame)) await this.#start.onFrame(frame);
      }
    }
    const exit = exitOf(await this.#child.exited, this.#start.env);
    this.#ended = exit;
    void this.#reap();
    for (const { reject } of this.#waiting.values()) reject(new Error(exit.details === null ? exit.message : `${exit.message} ${exit.details}`));
    this.#start.onEnd(exit);
  }

  #takeAnswer(frame: Frame): boolean {
    if (frame["type"] !== "control_response") return false;
    const response = objectOf(frame["response"]);
    const waiter = this.#waiting.get(filledString(response["request_id"]) ?? "");
    // Our own answers come back as echoes.
    if (waiter === undefined) return true;
    const value = response["response"];
    if (response["subtype"] === "error") waiter.reject(new Error(filledString(response["error"]) ?? "Claude Code refused."));
    else waiter.resolve(isJsonObject(value) ? value : {});
    return true;
  }
}

function exitOf(exit: ChildExit, env: NodeJS.ProcessEnv): ProgramExit {
  const how = exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
  const lines = withoutSecrets(exit.stderr, env).split("\n").map((line) => line.trimEnd()).filter((line) => line !== "");
  return { ...exit, message: `Claude Code ended unexpectedly (${how}).`, details: lines.length === 0 ? null : lines.slice(-STDERR_LINES).join("\n") };
}
