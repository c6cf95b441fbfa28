import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, utimes } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../make-folder.ts";
import type { NativeProgram } from "./upstream.ts";

/** What it says on standard error is kept so far, from its end. */
const WORDS_KEPT = 4_000;
/** A server that drains gets this long, then it is killed. */
const GRACE_MS = 2_000;

/**
 * Runs the program as the leader of a process group and waits beside it for the end of our pipe, however this process
 * ends: then the group is asked to end, killed, and its folder removed. A killed owner so leaves nothing behind.
 */
const GUARD = `folder=$1; shift
{ trap '' TERM INT HUP; while read -r _ <&3; do :; done; kill -s TERM -- -$$ 2>/dev/null
  n=0; while [ $n -lt ${String(GRACE_MS / 100)} ] && kill -0 $$ 2>/dev/null; do sleep 0.1; n=$((n+1)); done
  rm -rf -- "$folder"; kill -s KILL -- -$$ 2>/dev/null; } </dev/null >/dev/null 2>&1 &
exec "$@" 3<&-`;

/** One run of the real Codex as a server on a unix socket that only this user can reach. */
export interface NativeChild {
  readonly pid: number;
  /** The socket's path; there as soon as it listens. */
  readonly socket: string;
  /** Resolves with the last words of its standard error when it has ended, or could not be started. Never rejects. */
  readonly ended: Promise<string>;
  /** Makes its socket look used: what cleans folders of temporary files goes by the age of a file, and a socket's stays. */
  freshen(): void;
  /** Asks it to end, kills it when it does not. Idempotent. */
  stop(): void;
}

/** The path of a unix socket has 104 bytes on macOS and 108 on Linux, with the zero at its end. */
const LONGEST_SOCKET_PATH = 103;
const SOCKET_IN_FOLDER = "/foldcast-codex-XXXXXX/s";

/**
 * Starts it. `dir` is made private where it is missing; the socket lies in a folder of its own in there, or in one of
 * `/tmp` where its path would be too long.
 */
export function startNative({ program, args, env, dir }: NativeProgram & { dir: string }): NativeChild {
  const isShort = Buffer.byteLength(dir) + SOCKET_IN_FOLDER.length <= LONGEST_SOCKET_PATH;
  if (isShort) makeFolder(dir, 0o700);
  // Made for this user alone, wherever it is.
  const folder = mkdtempSync(join(isShort ? dir : "/tmp", "foldcast-codex-"));
  const socket = join(folder, "s");
  const command = [program, ...args, "--listen", `unix://${socket}`];
  // A unix socket and a POSIX shell go together; there is neither where this cannot run.
  const child = spawn("/bin/sh", ["-c", GUARD, "sh", folder, ...command], { env, detached: true, stdio: ["ignore", "ignore", "pipe", "pipe"] });
  let words = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (words = (words + text).slice(-WORDS_KEPT)));
  const lifeline = child.stdio[3];
  lifeline?.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => {
    const finish = (say: string): void => {
      // Whatever it has started ends with it.
      lifeline?.destroy();
      resolve(say);
    };
    child.once("error", (error) => {
      rmSync(folder, { recursive: true, force: true });
      finish(error.message);
    });
    child.once("exit", (code, signal) => finish(words.trim() === "" ? `it ended with ${signal ?? String(code)}` : words.trim()));
  });
  const freshen = (): void => {
    const now = Date.now() / 1000;
    utimes(socket, now, now, () => undefined);
  };
  return { pid: child.pid ?? -1, socket, ended, freshen, stop: () => void lifeline?.destroy() };
}
