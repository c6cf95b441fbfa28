import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { listen } from "../../rpc/listen.ts";
import type { Listener } from "../../rpc/listen.ts";
import { VERSION } from "../../version.ts";
import { embeddedTransport } from "../../chat/transports.ts";
import type { Call } from "../command.ts";
import { runBeside, type Beside } from "../feishu/beside.ts";
import { feishuFromFile } from "../feishu/from-file.ts";
import type { ConfigFile } from "../options/config-file.ts";
import { refused } from "../refused.ts";
import { appLocks, serverOptions } from "../server-options.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import type { SERVE_OPTIONS } from "../table/options.ts";

export async function run({ settings, env, stdout, stderr }: Call<typeof SERVE_OPTIONS>): Promise<number> {
  const { values, file } = await settings();
  const options = serverOptions(values, file, env);
  const running = startHost(options);
  let listener: Listener;
  try {
    listener = await listen({ kind: "tcp", host: values.host, port: values.port }, { connect: (transport) => running.host.connect(transport), token: options.token });
  } catch (error) {
    return refused(error, stderr);
  }
  running.store.announce(listener.url);
  stdout.write(`${JSON.stringify({ event: "listening", url: listener.url, pid: process.pid, version: VERSION, protocol: PROTOCOL_VERSION })}\n`);
  await introduce(running, listener.url, options.token === null ? null : values["ws-token-file"], stderr);
  const feishu = values.feishu ? beside({ running, file, env, dataDir: options.dataDir, stderr }) : null;
  await running.stopped;
  await feishu?.close();
  await Promise.all([listener.close(), stopHost(running)]);
  return 0;
}

interface BesideCall {
  readonly running: RunningHost;
  readonly file: ConfigFile | null;
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  readonly stderr: NodeJS.WritableStream;
}

/** The Feishu channel as one more client of this server; its code is loaded when it is wanted. */
function beside({ running, file, env, dataDir, stderr }: BesideCall): Beside {
  const { env: filled, given } = feishuFromFile(file, env);
  return runBeside({
    say: (line) => void stderr.write(`foldcast feishu: ${line}\n`),
    start: async () => {
      const { startChannel } = await import("../feishu/channel.ts");
      return startChannel({
        env: filled, given, dataDir, locks: appLocks(env), connect: () => Promise.resolve(embeddedTransport(running.host)),
        log: (message, fields) => running.log.warn(`Feishu: ${message}`, fields),
      });
    },
  });
}

/** Tells a person how to go on. */
async function introduce({ host, store }: RunningHost, url: string, tokenFile: string | null, stderr: NodeJS.WritableStream): Promise<void> {
  const models = await host.catalogue.models();
  const ready = models.filter((model) => model.ready);
  const connect = `codex --remote ${url}`;
  const lines = [`connect   ${tokenFile === null ? connect : `TOKEN=$(cat ${tokenFile}) ${connect} --remote-auth-token-env TOKEN`}`];
  if (ready.length > 0) lines.push(`models    ${ready.map((model) => model.id).join(", ")}`);
  else lines.push("models    none is ready; foldcast doctor says what each harness lacks");
  // With something to run, what cannot run is no news. What runs and still has something to say does.
  const speaking = ready.length === 0 ? models : ready.filter((model) => model.reason !== null);
  lines.push(...new Set(speaking.map((model) => `note      ${model.harness}: ${model.reason ?? "not ready"}`)));
  if (store.memoryReason !== null) lines.push(`note      threads are forgotten when this server ends: ${store.memoryReason}`);
  lines.push("stop      Ctrl+C");
  stderr.write(`foldcast ${VERSION} speaks the Codex app-server protocol ${PROTOCOL_VERSION}\n\n${lines.map((line) => `  ${line}\n`).join("")}\n`);
}
