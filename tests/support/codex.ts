import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { installedOnce } from "./npm.ts";
import { CACHE, isolatedEnv, temporaryDir } from "./paths.ts";

const run = promisify(execFile);

/** Where the pinned Codex program and what it generated are kept between runs. */
export const CODEX_CACHE = join(CACHE, `codex-${PROTOCOL_VERSION}`);

/** The real program, for tests only: it judges our frames and its TUI is driven against us. */
export interface CodexProgram {
  bin: string;
  version: string;
  /** Runs it with a home of its own; resolves with what it printed. */
  run(args: readonly string[]): Promise<string>;
}

let program: Promise<CodexProgram> | undefined;

/** The pinned Codex program, installed on first use with the ordinary npm client. Rejects if its version is another. */
export function codexProgram(): Promise<CodexProgram> {
  program ??= obtain();
  return program;
}

async function obtain(): Promise<CodexProgram> {
  const bin = join(CODEX_CACHE, "node_modules", ".bin", "codex");
  await installedOnce(CODEX_CACHE, [`@openai/codex@${PROTOCOL_VERSION}`]);
  const home = temporaryDir("codex-home");
  const env = isolatedEnv(home);
  mkdirSync(join(home, ".codex"), { recursive: true });
  const runCodex = async (args: readonly string[]): Promise<string> =>
    (await run(bin, args, { env, cwd: home, timeout: 60_000, maxBuffer: 1 << 26 })).stdout;
  const version = (await runCodex(["--version"])).trim().replace(/^codex-cli /, "");
  if (version !== PROTOCOL_VERSION) throw new Error(`${bin} is Codex ${version}; the pinned protocol is ${PROTOCOL_VERSION}`);
  return { bin, version, run: runCodex };
}
