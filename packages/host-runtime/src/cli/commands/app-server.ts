import { join } from "node:path";
import { bridge } from "../../rpc/bridge.ts";
import type { Joined } from "../../rpc/bridge.ts";
import type { ListenAddress } from "../../rpc/listen.ts";
import { openStandardOutput, serveStdio } from "../../rpc/stdio.ts";
import type { Call } from "../command.ts";
import { missingWords } from "../../native/codex-words.ts";
import { nativeProgram } from "../native.ts";
import { port } from "../options/kinds.ts";
import type { Values } from "../options/option.ts";
import { forCodex, overridesOf } from "../overrides.ts";
import type { Override } from "../overrides.ts";
import { refused } from "../refused.ts";
import { serverOptions } from "../server-options.ts";
import { admit, OpenDoors, ownOrJoin } from "../share.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import type { APP_SERVER_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

/** Of an instance whose owner has gone: its client starts it again. */
const OWNER_GONE = 1;

export async function run({ settings, operands, flags, handedOn, env, stderr }: Call<typeof APP_SERVER_OPTIONS>): Promise<number> {
  if (operands[0] !== undefined) throw new UsageError(`\`app-server ${operands[0]}\` is a command of Codex itself: codex app-server ${operands[0]}`);
  const { values, file } = await settings();
  const options = serverOptions(values, file, env);
  const { edits, model } = overridesOf(flags);
  const address = listenAddress(values, options.dataDir);
  const words = forCodex(handedOn);
  const native = await nativeProgram(values, env, words);
  const start = (): RunningHost => {
    const running = startHost({ ...options, native });
    // With a Codex behind us they are its own.
    if (native === null) apply(running, edits);
    return running;
  };
  const onJoined = ({ pid, codexWords }: Joined): void => {
    const idle = missingWords(words, codexWords ?? []);
    if (idle.length > 0) stderr.write(`foldcast app-server: clients are served by the foldcast of process ${pid}, which was started without ${idle.join(" ")}; that does not count here\n`);
  };
  if (address !== "stdio") {
    const { serveShared } = await import("../serve-shared.ts");
    try {
      return await serveShared({ address: address === "off" ? null : address, start, options, model, onJoined, onListening: (url) => void stderr.write(`foldcast app-server\n  listening on: ${url}\n`) });
    } catch (error) {
      return refused(error, stderr);
    }
  }
  const share = await ownOrJoin(start, model);
  if (share.role === "owner") return await serveOwn(share.running, options.dataDir, model);
  onJoined(share.joined);
  const ended = await bridge(share.joined, process.stdin, openStandardOutput());
  if (ended === "client") return 0;
  stderr.write(`foldcast app-server: the foldcast that this one was connected to (process ${share.joined.pid}) has ended; start again to take its place\n`);
  return OWNER_GONE;
}

/** Until the client closes its end and nobody else is here, or a signal. */
async function serveOwn(running: RunningHost, dataDir: string, model: string | null): Promise<number> {
  const client = serveStdio(process.stdin, openStandardOutput(), (transport) => admit(running, transport, model), () => running.log.warn("skipped a line over the limit"));
  const opening = OpenDoors.open(running, dataDir);
  const left = async (): Promise<void> => {
    await client.closed;
    // Other instances have clients of their own, who should not notice.
    await (await opening).empty();
  };
  await Promise.race([left(), running.stopped]);
  await (await opening).close();
  await stopHost(running);
  return 0;
}

function listenAddress({ listen: url, ...values }: Values<typeof APP_SERVER_OPTIONS>, dataDir: string): ListenAddress | "stdio" | "off" {
  if (values.stdio || url === "stdio://" || url === "stdio") return "stdio";
  if (url === "off") return "off";
  // A client that asks for one of these must not get a server that anybody can use.
  for (const name of ["ws-token-sha256", "ws-shared-secret-file"] as const) {
    if (values[name] !== null) throw new UsageError(`--${name} is not supported; give --ws-auth capability-token --ws-token-file FILE`);
  }
  if (url.startsWith("unix://")) {
    const path = url.slice("unix://".length);
    return { kind: "unix", path: path === "" ? join(dataDir, "app-server.sock") : path };
  }
  const tcp = /^ws:\/\/(\[[0-9a-fA-F:]+\]|[^:/]+):(\d+)\/?$/.exec(url);
  if (tcp === null) throw new UsageError(`unsupported --listen URL \`${url}\`; expected \`stdio://\`, \`unix://\`, \`unix://PATH\`, \`ws://IP:PORT\`, or \`off\``);
  const number = port.schema.safeParse(port.read(tcp[2]!));
  if (!number.success) throw new UsageError(`the port in --listen is ${port.expects}; got \`${tcp[2]!}\``);
  return { kind: "tcp", host: tcp[1]!, port: number.data };
}

function apply({ host }: RunningHost, edits: readonly Override[]): void {
  for (const { keyPath, value } of edits) host.config.write(keyPath, value, "replace");
}
