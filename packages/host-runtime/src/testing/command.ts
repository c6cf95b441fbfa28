import { Writable } from "node:stream";
import { runCommand } from "../cli/run.ts";
import { COMMANDS } from "../cli/table/commands.ts";

/** Keeps what is written to it. */
export class CapturedStream extends Writable {
  text = "";

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

/** Runs a command in this process, with an environment of its own. */
export async function runCaptured(argv: readonly string[], env: NodeJS.ProcessEnv = { HOME: "/nonexistent" }, cwd = "/"): Promise<{ code: number; stdout: string; stderr: string }> {
  const [name = "", ...rest] = argv;
  const [stdout, stderr] = [new CapturedStream(), new CapturedStream()];
  const code = await runCommand(name, COMMANDS[name]!, rest, { stdout, stderr, env, cwd });
  return { code, stdout: stdout.text, stderr: stderr.text };
}
