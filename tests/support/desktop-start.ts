import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shimScript } from "../../packages/host-runtime/src/desktop/shim.ts";
import { isolatedEnv, REPO, temporaryDir } from "./paths.ts";
import { FOLDCAST } from "./program.ts";
import { childProcess } from "./transport.ts";

/** What Codex Desktop 26.930 puts behind its `CODEX_CLI_PATH`. */
export const DESKTOP_ARGS = ["-c", "features.code_mode_host=true", "app-server", "--analytics-default-enabled"] as const;

/** The shim that `foldcast desktop enable` would write, in a folder with a space. `codex` is the real program behind it. */
export function writeShim(codex: string | null, model: string | null = null): string {
  const [node, words] = FOLDCAST;
  const shim = join(temporaryDir("shim folder"), "codex");
  writeFileSync(shim, shimScript({ foldcast: [node, ...words], codex, model, env: {} }));
  chmodSync(shim, 0o755);
  return shim;
}

/** A process that Desktop starts, or a helper of it; it speaks lines on its standard streams. `env` goes on top. */
export function desktopProcess(program: string, env: Readonly<Record<string, string>>, home: string = temporaryDir("home"), args: readonly string[] = DESKTOP_ARGS) {
  const isolated = isolatedEnv(home, { ...env, LOG_FORMAT: "json", RUST_LOG: "warn", CODEX_INTERNAL_ORIGINATOR_OVERRIDE: "Codex Desktop" });
  // What a launcher passes on has none that helps.
  delete isolated["PATH"];
  const started = childProcess(program, args, isolated, REPO);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => started.child.once("close", (code, signal) => resolve(code ?? signal)));
  return { ...started, ended };
}
