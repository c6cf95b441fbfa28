import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startModelServer, type ScenarioInput } from "../model-server/index.ts";
import type { Bench } from "./matrix.ts";
import { installedOnce } from "./npm.ts";
import { CACHE, isolatedEnv, temporaryDir } from "./paths.ts";

const run = promisify(execFile);
export const KIMI_VERSION = "2.1.0";
const FOLDER = join(CACHE, `kimi-${KIMI_VERSION}`);
/** Kimi Code needs Node 22.19 or newer, and ripgrep, which it would download itself. */
const PACKAGES = [`@moonshot-ai/kimi-code@${KIMI_VERSION}`, "node@22.23.3", "@vscode/ripgrep@1.18.0"];

let program: Promise<string> | undefined;

/** The pinned Kimi Code, installed on first use with the ordinary npm client: the folder of `kimi` and of what it needs. */
export function kimiProgram(): Promise<string> {
  program ??= obtain();
  return program;
}

async function obtain(): Promise<string> {
  const bin = join(FOLDER, "bin");
  await installedOnce(FOLDER, PACKAGES, () => layOut(bin));
  const env = { ...isolatedEnv(temporaryDir("kimi-version")), PATH: `${bin}:${process.env["PATH"] ?? ""}` };
  const version = async (name: string, ...args: string[]): Promise<string> => (await run(join(bin, name), args, { env, timeout: 60_000 })).stdout.trim();
  const [kimi, node, rg] = await Promise.all([version("kimi", "--version"), version("node", "--version"), version("rg", "--version")]);
  if (kimi !== KIMI_VERSION) throw new Error(`${bin}/kimi is Kimi Code ${kimi}; the pinned one is ${KIMI_VERSION}`);
  if (!node.startsWith("v22.")) throw new Error(`${bin}/node is ${node}; Kimi Code ${KIMI_VERSION} needs 22.19 or newer`);
  if (!rg.startsWith("ripgrep ")) throw new Error(`${bin}/rg is no ripgrep: ${rg}`);
  return bin;
}

/** One folder for the PATH; npm links only `kimi`, for whichever Node is there. */
function layOut(bin: string): void {
  const modules = join(FOLDER, "node_modules");
  mkdirSync(bin, { recursive: true });
  const node = join(modules, "node", "bin", "node");
  const ripgrep = join(modules, "@vscode", `ripgrep-${process.platform}-${process.arch}`, "bin", "rg");
  for (const [name, target] of [["node", node], ["rg", ripgrep]] as const) if (!existsSync(join(bin, name))) symlinkSync(target, join(bin, name));
  const script = join(bin, "kimi");
  writeFileSync(script, `#!/bin/sh\nexec "${node}" "${join(modules, "@moonshot-ai", "kimi-code", "dist", "main.mjs")}" "$@"\n`);
  chmodSync(script, 0o755);
}

/** The pinned program with a home and a workspace of its own, and a scripted model in the place of the real one. */
export async function kimiBench(scenario: ScenarioInput = { replies: [] }): Promise<Bench> {
  const bin = await kimiProgram();
  const user = temporaryDir("kimi-home");
  const workspace = temporaryDir("kimi-work");
  const home = join(user, ".kimi-code");
  mkdirSync(home);
  await run("git", ["init", "-q", workspace]);
  const model = await startModelServer({ scenario });
  const env = {
    HOME: user,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    KIMI_CODE_HOME: home,
    KIMI_MODEL_NAME: "scripted",
    KIMI_MODEL_API_KEY: "a-key-of-the-scripted-model",
    KIMI_MODEL_BASE_URL: model.url,
    KIMI_MODEL_CAPABILITIES: "thinking,image_in,tool_use",
    KIMI_MODEL_MAX_CONTEXT_SIZE: "262144",
    KIMI_DISABLE_TELEMETRY: "1",
    KIMI_CODE_NO_AUTO_UPDATE: "1",
    KIMI_LOOP_MAX_ATTEMPTS_PER_STEP: "2",
  };
  return { model, env, workspace, sessions: join(home, "sessions"), programs: () => kimiPrograms(home), [Symbol.asyncDispose]: () => model.close() };
}

/** Ids of running programs of this home, oldest first (Linux). The program names itself: its command line is gone. */
function kimiPrograms(home: string): number[] {
  const read = (pid: number, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
      return "";
    }
  };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).sort((one, other) => one - other);
  return pids.filter((pid) => read(pid, "comm").trim() === "kimi-code" && read(pid, "environ").includes(`KIMI_CODE_HOME=${home}\0`));
}
