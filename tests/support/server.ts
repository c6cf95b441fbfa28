import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { atExit } from "./exit.ts";
import { isolatedEnv, REPO, temporaryDir } from "./paths.ts";
import { FOLDCAST } from "./program.ts";
import { sleep } from "./wait.ts";

const listening = z.strictObject({
  event: z.literal("listening"),
  url: z.string().startsWith("ws://127.0.0.1:"),
  pid: z.number(),
  version: z.string(),
  protocol: z.string(),
});

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** What it logged so far. */
  stderr(): string;
  /** Lines on stdout; the first one is the ready line and there must be no other. */
  stdout(): string[];
  /** Ends it with a signal and resolves with its exit code (null = killed by the signal). */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ServerOptions {
  /** Scenarios that the scripted harness plays, by file name. */
  scenarios?: Readonly<Record<string, object>>;
  /** Of the scenarios' delays; 0 (default) removes them. */
  speed?: number;
  args?: readonly string[];
  /** Kept by a second start, to see what survives a restart. */
  dataDir?: string;
  env?: Readonly<Record<string, string>>;
  /** The real Codex behind it, and the home of the user whose it is; none by default. */
  native?: { bin: string; home: string };
  /** Default: the source, bundled. */
  command?: readonly [string, readonly string[]];
}

/** Starts `foldcast serve` on a free port with folders of its own. Rejects with its log when it does not come up. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const dataDir = options.dataDir ?? temporaryDir("data");
  const home = options.native?.home ?? temporaryDir("home");
  const [command, prefix] = options.command ?? FOLDCAST;
  const args = [...prefix, "serve", "--port", "0", "--data-dir", dataDir, ...(options.native === undefined ? ["--no-native"] : ["--codex-bin", options.native.bin])];
  if (options.scenarios !== undefined) args.push("--scenario", writeScenarios(options.scenarios), "--scenario-speed", String(options.speed ?? 0));
  const child = spawn(command, [...args, ...(options.args ?? [])], {
    cwd: REPO,
    env: isolatedEnv(home, options.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-200_000)));
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      stderr += error.message;
      resolve(-1);
    });
    child.once("close", resolve);
  });
  const callOff = atExit(() => child.kill("SIGKILL"));
  void ended.then(callOff);

  const firstLine = await Promise.race([readyLine(() => stdout), ended.then(() => undefined), sleep(60_000)]);
  const ready = firstLine === undefined ? undefined : listening.safeParse(JSON.parse(firstLine));
  if (!ready?.success) {
    child.kill("SIGKILL");
    throw new Error(`the server did not come up: ${firstLine ?? "no line on stdout"} ${ready?.error.message ?? ""}\n${stderr}`);
  }
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> => {
    child.kill(signal);
    const forced = setTimeout(() => child.kill("SIGKILL"), 30_000);
    const code = await ended;
    clearTimeout(forced);
    return code;
  };
  return {
    url: ready.data.url,
    pid: ready.data.pid,
    dataDir,
    stderr: () => stderr,
    stdout: () => stdout.split("\n").filter((line) => line !== ""),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

async function readyLine(read: () => string): Promise<string> {
  for (;;) {
    const end = read().indexOf("\n");
    if (end >= 0) return read().slice(0, end);
    await sleep(10);
  }
}

/** Writes scenario files into a folder of their own and gives that folder. */
export function writeScenarios(scenarios: Readonly<Record<string, object>>): string {
  const dir = temporaryDir("scenarios");
  for (const [name, scenario] of Object.entries(scenarios)) writeFileSync(join(dir, `${name}.json`), JSON.stringify(scenario));
  return dir;
}
