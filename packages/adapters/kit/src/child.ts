import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";

export interface ChildOptions {
  /** Program and arguments; not read by a shell. */
  command: readonly string[];
  cwd?: string;
  /** The whole environment; absent = that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Milliseconds between asking the processes to end and killing them. */
  graceMs?: number;
  /** How much of the end of stderr is kept, in characters. */
  stderrLimit?: number;
  /** Longest line taken from stdout, in characters; a longer one ends the child. */
  lineLimit?: number;
  /** Ends the child as `close` does. */
  signal?: AbortSignal;
}

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last part of stderr. */
  stderr: string;
}

/** A running child that speaks JSON lines over its pipes. */
export interface LineChild {
  readonly pid: number;
  /** False as soon as its end is known, which is a little before `exited` resolves. */
  readonly running: boolean;
  /**
   * Lines of stdout without their line ends, as many at a time as arrived together; blank lines left out. Single
   * consumer; reading slowly holds the child back. Ends when stdout does and never throws.
   */
  readonly lines: AsyncIterable<readonly string[]>;
  /** The end of the child itself; its descendants are asked to end at that moment. Never rejects. */
  readonly exited: Promise<ChildExit>;
  /** Writes one line; resolves when the pipe has room again, rejects when the child no longer reads. */
  send(value: unknown): Promise<void>;
  /** Closes stdin, asks the child and its descendants to end, kills them after the grace. Idempotent, never rejects. */
  close(): Promise<ChildExit>;
}

const GROUP_POLL_MS = 20;
/** How long pipes may stay open after the child's end, for what is still on its way in them. */
const STDIO_LINGER_MS = 200;

/** Process groups to kill when this process exits without having closed them. */
const liveGroups = new Set<number>();
let exitHookInstalled = false;

/**
 * Starts a program in a process group of its own, so that everything it started can be ended with it.
 * Rejects with a readable message when it cannot be started.
 */
export async function spawnLines(options: ChildOptions): Promise<LineChild> {
  const [program, ...args] = options.command;
  if (program === undefined) throw new Error("The command to start is empty.");
  options.signal?.throwIfAborted();
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const exit = watchExit(child, options);
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new Error(`Could not start ${program}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const pid = child.pid!;
  registerGroup(pid);
  // A write to a child that has just died is reported by `send`; without a listener the stream's error would be fatal.
  child.stdin.on("error", () => undefined);
  let reaping: Promise<void> | null = null;
  const reap = (): Promise<void> => (reaping ??= endGroup(pid, options.graceMs ?? 2000));
  // What the child started must not outlive it, whoever ended it.
  void exit.then(reap);
  let closing: Promise<ChildExit> | null = null;
  const close = (): Promise<ChildExit> => (closing ??= (async () => {
    child.stdin.end();
    await reap();
    // A process that left the group may hold the pipe open: its reader must end all the same.
    setTimeout(() => child.stdout.destroy(), STDIO_LINGER_MS).unref();
    return await exit;
  })());
  if (options.signal?.aborted === true) {
    await close();
    options.signal.throwIfAborted();
  }
  options.signal?.addEventListener("abort", () => void close(), { once: true });
  return {
    pid,
    get running() {
      return child.exitCode === null && child.signalCode === null;
    },
    lines: readLines(child, options.lineLimit ?? 256 * 1024 * 1024, close),
    exited: exit,
    send: (value) => new Promise((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(value)}\n`, (error) => {
        if (error) reject(new Error(`The program ${program} no longer reads: ${error.message}`));
        else resolve();
      });
    }),
    close,
  };
}

function watchExit(child: ChildProcessWithoutNullStreams, options: ChildOptions): Promise<ChildExit> {
  const limit = options.stderrLimit ?? 8192;
  let stderr = "";
  const decoder = new StringDecoder("utf8");
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + decoder.write(chunk)).slice(-limit);
  });
  child.stderr.on("error", () => undefined);
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      // stdout belongs to its reader, who may be slow; only stderr is waited for here, and not for long.
      const finish = (): void => resolve({ code, signal, stderr });
      child.stderr.once("close", finish);
      if (child.stderr.closed) finish();
      setTimeout(finish, STDIO_LINGER_MS).unref();
    });
  });
}

async function* readLines(
  child: ChildProcessWithoutNullStreams, limit: number, close: () => Promise<ChildExit>,
): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder("utf8");
  // The unfinished line as pieces: joining at every chunk would cost quadratic time on a very long line.
  let rest: string[] = [];
  let restLength = 0;
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      const text = decoder.write(chunk);
      const end = text.lastIndexOf("\n");
      if (end === -1) {
        rest.push(text);
        restLength += text.length;
        if (restLength > limit) break;
        continue;
      }
      const lines = (rest.join("") + text.slice(0, end)).split("\n").map((line) => line.endsWith("\r") ? line.slice(0, -1) : line);
      rest = [text.slice(end + 1)];
      restLength = text.length - end - 1;
      const filled = lines.filter((line) => line !== "");
      if (filled.length > 0) yield filled;
    }
    if (restLength <= limit) {
      const last = rest.join("") + decoder.end();
      if (last.trim() !== "") yield [last];
    }
  } catch {
    // A broken pipe is the end of the lines; `exited` says why.
  } finally {
    if (restLength > limit) void close();
  }
}

/** Resolves when no process of the group is left, or the rest of it was killed. */
async function endGroup(pid: number, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  if (signalGroup(pid, "SIGTERM")) {
    while (signalGroup(pid, 0)) {
      if (performance.now() >= deadline) {
        signalGroup(pid, "SIGKILL");
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, GROUP_POLL_MS));
    }
  }
  liveGroups.delete(pid);
}

/** False when the group has no process any more. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function registerGroup(pid: number): void {
  liveGroups.add(pid);
  if (exitHookInstalled) return;
  exitHookInstalled = true;
  process.once("exit", () => {
    for (const group of liveGroups) signalGroup(group, "SIGKILL");
  });
}
