import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startModelServer, type ScenarioInput } from "../model-server/index.ts";
import type { Bench } from "./matrix.ts";
import { installedOnce } from "./npm.ts";
import { CACHE, isolatedEnv, temporaryDir } from "./paths.ts";
import { programsWith } from "./processes.ts";

const run = promisify(execFile);
export const CLAUDE_VERSION = "2.1.332";
const FOLDER = join(CACHE, `claude-${CLAUDE_VERSION}`);

let program: Promise<string> | undefined;

/** The pinned Claude Code, installed on first use with the ordinary npm client: the path of the program. */
export function claudeProgram(): Promise<string> {
  program ??= obtain();
  return program;
}

async function obtain(): Promise<string> {
  const bin = join(FOLDER, "node_modules", ".bin", "claude");
  await installedOnce(FOLDER, [`@anthropic-ai/claude-code@${CLAUDE_VERSION}`]);
  const { stdout } = await run(bin, ["--version"], { env: isolatedEnv(temporaryDir("claude-version")), timeout: 60_000 });
  if (!stdout.startsWith(`${CLAUDE_VERSION} `)) throw new Error(`${bin} is Claude Code ${stdout.trim()}; the pinned one is ${CLAUDE_VERSION}`);
  return bin;
}

/** The pinned program with a home and a workspace of its own, and a scripted model in the place of the real one. */
export async function claudeBench(scenario: ScenarioInput = { replies: [] }): Promise<Bench> {
  const bin = await claudeProgram();
  const home = temporaryDir("claude-home");
  const workspace = temporaryDir("claude-work");
  const config = join(home, ".claude");
  mkdirSync(config);
  await run("git", ["init", "-q", workspace]);
  const model = await startModelServer({ scenario });
  const env = {
    HOME: home,
    PATH: `${join(bin, "..")}:${process.env["PATH"] ?? ""}`,
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "a-key-of-the-scripted-model",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
  };
  return { model, env, workspace, sessions: join(config, "projects"), programs: () => programsWith(workspace), [Symbol.asyncDispose]: () => model.close() };
}
