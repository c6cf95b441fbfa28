import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { VERSION } from "../../version.ts";
import { embeddedTransport } from "../../chat/transports.ts";
import type { Call } from "../command.ts";
import { runBeside, type Beside } from "../feishu/beside.ts";
import { feishuFromFile } from "../feishu/from-file.ts";
import type { ConfigFile } from "../options/config-file.ts";
import { nativeProgram } from "../native.ts";
import { refused } from "../refused.ts";
import { appLocks, serverOptions } from "../server-options.ts";
import { serveShared } from "../serve-shared.ts";
import { startHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import type { SERVE_OPTIONS } from "../table/options.ts";

export async function run({ settings, env, stdout, stderr }: Call<typeof SERVE_OPTIONS>): Promise<number> {
  const { values, file } = await settings();
  const options = { ...serverOptions(values, file, env), native: await nativeProgram(values, env) };
  const tokenFile = options.token === null ? null : values["ws-token-file"];
  try {
    return await serveShared({
      address: { kind: "tcp", host: values.host, port: values.port },
      options,
      start: () => startHost(options),
      model: null,
      onListening: (url, owner) => {
        stdout.write(`${JSON.stringify({ event: "listening", url, pid: process.pid, version: VERSION, protocol: PROTOCOL_VERSION })}\n`);
        const note = owner === null ? [] : [`note      process ${owner} has the threads of ${options.dataDir}: clients are passed on to it`];
        stderr.write(`foldcast ${VERSION} speaks the Codex app-server protocol ${PROTOCOL_VERSION}\n\n${shown([connectLine(url, tokenFile), "stop      Ctrl+C", ...note])}`);
      },
      onOwner: (running) => {
        const over = new AbortController();
        void sayOffer(running, stderr, over.signal);
        const feishu = values.feishu ? beside({ running, file, env, dataDir: options.dataDir, stderr }) : null;
        return Promise.resolve(async () => {
          over.abort();
          await feishu?.close();
        });
      },
    });
  } catch (error) {
    return refused(error, stderr);
  }
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

/** Tells a person what there is, once each harness has been looked at: one that hangs takes its time, and nobody waits for it. */
async function sayOffer({ host, store }: RunningHost, stderr: NodeJS.WritableStream, over: AbortSignal): Promise<void> {
  const models = await host.catalogue.models();
  if (over.aborted) return;
  const ready = models.filter((model) => model.ready);
  const lines: string[] = [];
  if (ready.length > 0) lines.push(`models    ${ready.map((model) => model.id).join(", ")}`);
  else lines.push("models    none is ready; foldcast doctor says what each harness lacks");
  // With something to run, what cannot run is no news. What runs and still has something to say does.
  const speaking = ready.length === 0 ? models : ready.filter((model) => model.reason !== null);
  lines.push(...new Set(speaking.map((model) => `note      ${model.harness}: ${model.reason ?? "not ready"}`)));
  if (store.memoryReason !== null) lines.push(`note      threads are forgotten when this server ends: ${store.memoryReason}`);
  stderr.write(`${shown(lines)}\n`);
}

function connectLine(url: string, tokenFile: string | null): string {
  const connect = `codex --remote ${url}`;
  return `connect   ${tokenFile === null ? connect : `TOKEN=$(cat ${tokenFile}) ${connect} --remote-auth-token-env TOKEN`}`;
}

const shown = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join("");
