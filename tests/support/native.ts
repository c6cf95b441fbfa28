import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codexProgram } from "./codex.ts";
import { atExit } from "./exit.ts";
import { isolatedEnv, temporaryDir } from "./paths.ts";
import { startServer, type RunningServer, type ServerOptions } from "./server.ts";
import { until } from "./wait.ts";

/** Of a TUI that says nothing of its own: it first offers newer models than these, and gives a tip by chance. */
export const QUIET_TUI = "[tui]\nshow_tooltips = false\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n\"gpt-5.6-sol\" = \"gpt-6-sol\"\n";

/** A user's Codex home with a model provider on loopback and without a login. */
export interface NativeHome {
  /** What `HOME` is to be; `.codex` is in it. */
  home: string;
  codexHome: string;
  /** A folder that Codex trusts. */
  cwd: string;
}

/** A new home. `modelUrl`: of the model server, without a slash at the end. */
export function nativeHome(modelUrl: string): NativeHome {
  const home = temporaryDir("native");
  const codexHome = join(home, ".codex");
  const cwd = join(home, "work");
  for (const folder of [codexHome, cwd]) mkdirSync(folder);
  writeFileSync(join(codexHome, "config.toml"), [
    "# The user's own words stay as they are.",
    "model = \"gpt-5.5\"", "model_provider = \"mock\"", "approval_policy = \"on-request\"", "sandbox_mode = \"danger-full-access\"", "",
    "[model_providers.mock]", "name = \"mock\"", `base_url = "${modelUrl}/v1"`, "wire_api = \"responses\"", "request_max_retries = 0", "stream_max_retries = 0", "",
    "[tools.update_plan]", "enabled = true", "",
    `[projects."${cwd}"]`, "trust_level = \"trusted\"", "",
  ].join("\n"));
  return { home, codexHome, cwd };
}

export interface CodexServer extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** The real app-server with nothing in front of it. */
export async function startCodexServer({ home }: NativeHome): Promise<CodexServer> {
  const { bin } = await codexProgram();
  // A group of its own: the program is started by a launcher, and both have to go.
  const child = spawn(bin, ["app-server", "--listen", "ws://127.0.0.1:0"], { env: isolatedEnv(home), cwd: home, stdio: ["ignore", "ignore", "pipe"], detached: true });
  const end = (): void => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  const callOff = atExit(end);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-100_000)));
  const url = await until("the app-server's address", () => /listening on: (ws:\S+)\s/.exec(stderr)?.[1], { timeoutMs: 60_000, describe: () => stderr });
  return {
    url,
    pid: child.pid!,
    async [Symbol.asyncDispose]() {
      end();
      await ended;
      callOff();
    },
  };
}

/** `foldcast serve` with the real Codex of this home behind it. */
export async function startBehind({ home }: NativeHome, options: ServerOptions = {}): Promise<RunningServer> {
  const { bin } = await codexProgram();
  return await startServer({ ...options, native: { bin, home }, args: ["--harness", "scripted", ...(options.args ?? [])] });
}
