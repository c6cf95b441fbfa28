import { join } from "node:path";
import type { ListenAddress, Listener } from "../../rpc/listen.ts";
import { openStandardOutput, serveStdio } from "../../rpc/stdio.ts";
import type { Call } from "../command.ts";
import { port } from "../options/kinds.ts";
import type { Values } from "../options/option.ts";
import { refused } from "../refused.ts";
import { serverOptions } from "../server-options.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import type { APP_SERVER_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

export async function run({ settings, operands, env, stderr }: Call<typeof APP_SERVER_OPTIONS>): Promise<number> {
  if (operands[0] !== undefined) throw new UsageError(`\`app-server ${operands[0]}\` is not supported`);
  const { values, file } = await settings();
  const options = serverOptions(values, file, env);
  const address = listenAddress(values.listen, options.dataDir);
  const running = startHost(options);
  applyOverrides(running, values);
  try {
    if (address === "stdio") await serveStreams(running);
    else if (address === "off") await running.stopped;
    else {
      // Standard streams need no WebSocket code; a start should not wait for it.
      const { listen } = await import("../../rpc/listen.ts");
      let listener: Listener;
      try {
        listener = await listen(address, { connect: (transport) => running.host.connect(transport), token: options.token });
      } catch (error) {
        return refused(error, stderr);
      }
      stderr.write(`foldcast app-server\n  listening on: ${listener.url}\n`);
      await running.stopped;
      await listener.close();
    }
  } finally {
    await stopHost(running);
  }
  return 0;
}

/** Until the client closes its end, or a signal. */
async function serveStreams(running: RunningHost): Promise<void> {
  const connection = serveStdio(process.stdin, openStandardOutput(), (transport) => running.host.connect(transport), () => running.log.warn("skipped a line over the limit"));
  await Promise.race([connection.closed, running.stopped]);
}

function listenAddress(url: string, dataDir: string): ListenAddress | "stdio" | "off" {
  if (url === "stdio://" || url === "stdio") return "stdio";
  if (url === "off") return "off";
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

function applyOverrides({ host }: RunningHost, { config, enable, disable }: Values<typeof APP_SERVER_OPTIONS>): void {
  for (const override of config) {
    const equals = override.indexOf("=");
    if (equals === -1) throw new UsageError(`-c takes KEY=VALUE; got \`${override}\``);
    host.config.write(override.slice(0, equals).trim(), parseValue(override.slice(equals + 1).trim()), "replace");
  }
  for (const feature of enable) host.config.write(`features.${feature}`, true, "replace");
  for (const feature of disable) host.config.write(`features.${feature}`, false, "replace");
}

/** Codex reads the value as TOML; what JSON and TOML have in common is enough here, the rest is a plain text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
