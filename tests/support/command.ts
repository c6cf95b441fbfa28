import { spawn } from "node:child_process";
import { isolatedEnv, temporaryDir } from "./paths.ts";
import { FOLDCAST } from "./program.ts";

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one `foldcast` command in a process and a home of its own. */
export async function foldcast(args: readonly string[], options: { input?: string; cwd?: string; env?: Readonly<Record<string, string>>; timeoutMs?: number } = {}): Promise<CommandResult> {
  const [program, prefix] = FOLDCAST;
  const child = spawn(program, [...prefix, ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    // A Codex of this machine is nothing for a test.
    env: isolatedEnv(temporaryDir("home"), { FOLDCAST_NO_NATIVE: "1", ...options.env }),
    stdio: "pipe",
    timeout: options.timeoutMs ?? 60_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stdout, stderr };
}

/** The objects of JSON Lines output. Throws on a line that is none. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
}
