import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startModelServer, type ModelServer, type ScenarioInput } from "../model-server/index.ts";
import { withLock } from "./lock.ts";
import { CACHE, isolatedEnv, temporaryDir } from "./paths.ts";
import { plainNpmEnv } from "./npm.ts";

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
  const done = join(FOLDER, "installed");
  if (!existsSync(done)) {
    await withLock(join(FOLDER, "lock"), 280_000, async () => {
      if (existsSync(done)) return;
      // The exact version: npm takes an older one by itself where `engines` does not fit (it needs no Node to run).
      const name = `@anthropic-ai/claude-code@${CLAUDE_VERSION}`;
      await run("npm", ["install", "--prefix", FOLDER, "--no-audit", "--no-fund", "--workspaces=false", name], { cwd: FOLDER, env: plainNpmEnv(), timeout: 280_000, maxBuffer: 1 << 24 });
      writeFileSync(done, `${name}\n`);
    });
  }
  const { stdout } = await run(bin, ["--version"], { env: isolatedEnv(temporaryDir("claude-version")), timeout: 60_000 });
  if (!stdout.startsWith(`${CLAUDE_VERSION} `)) throw new Error(`${bin} is Claude Code ${stdout.trim()}; the pinned one is ${CLAUDE_VERSION}`);
  return bin;
}

/** A home of its own, a workspace, and a scripted model in the place of the real one. */
export interface ClaudeBench extends AsyncDisposable {
  model: ModelServer;
  /** For the program, or for a server that starts it: it finds `claude`, this home and the scripted model. */
  env: Readonly<Record<string, string>>;
  workspace: string;
}

export async function claudeBench(scenario: ScenarioInput = { replies: [] }): Promise<ClaudeBench> {
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
  return { model, env, workspace, [Symbol.asyncDispose]: () => model.close() };
}
