import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { WebSocket } from "ws";

/** One connection as a stream of texts: a text frame, or a line. */
export interface Transport {
  send(text: string): void;
  /** Called once, before anything can arrive. */
  listen(onText: (text: string) => void, onClose: (why: string) => void): void;
  close(): Promise<void>;
}

/** Resolves when the socket is open; rejects with the server's answer otherwise. */
export async function webSocket(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Transport> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: 1 << 28 });
  // Frames may come in one piece with the answer to the upgrade, before `listen` is called.
  const early: string[] = [];
  let onText = (text: string): void => void early.push(text);
  socket.on("message", (data, isBinary) => {
    if (!isBinary) onText((data as Buffer).toString("utf8"));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  return {
    send: (text) => socket.send(text),
    listen(listener, onClose) {
      onText = listener;
      for (const text of early.splice(0)) listener(text);
      void closed.then((code) => onClose(`socket closed with ${code}`));
    },
    async close() {
      socket.close();
      const forced = setTimeout(() => socket.terminate(), 2_000);
      await closed;
      clearTimeout(forced);
    },
  };
}

/** A child process that speaks one JSON object a line on its standard streams. `stderr` collects what it logs. */
export function childProcess(command: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Transport & { child: ChildProcessWithoutNullStreams; stderr: () => string } {
  const child = spawn(command, args, { env, cwd, stdio: "pipe" });
  const closed = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(`process ended with ${code ?? signal}`));
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-100_000)));
  child.stdin.on("error", () => undefined);
  return {
    child,
    stderr: () => stderr,
    send: (text) => child.stdin.write(`${text}\n`),
    listen(onText, onClose) {
      let rest = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) onText(line);
      });
      void closed.then(onClose);
    },
    async close() {
      child.stdin.end();
      const forced = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await closed;
      clearTimeout(forced);
    },
  };
}
