import { PROTOCOL_VERSION } from "@foldcast/protocol-core/wire";
import { listen } from "../../rpc/listen.ts";
import type { Listener } from "../../rpc/listen.ts";
import { VERSION } from "../../version.ts";
import type { CommandSpec } from "../command.ts";
import { environmentSettings, parseFlags, portNumber, SERVER_FLAGS, serverOptions } from "../options.ts";
import { refused } from "../refused.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import { UsageError } from "../usage-error.ts";

export const DEFAULT_PORT = 4610;

const HELP = `foldcast serve [OPTIONS]

Serves the Codex app-server protocol on a WebSocket. The first line on stdout is
  {"event":"listening","url":"ws://127.0.0.1:PORT","pid":N,"version":"…","protocol":"${PROTOCOL_VERSION}"}
and there is no other; logs go to stderr.

  --host ADDRESS        address to listen on (127.0.0.1); any other than loopback needs a token
  --port N              port (${DEFAULT_PORT}); 0 = any free one
  --ws-auth capability-token --ws-token-file FILE
                        clients must send \`Authorization: Bearer <token>\`
  --harness ID          only this harness; may be repeated
  --sessions DIR        list and open the saved sessions in this folder; may be repeated
  --scenario FILE|DIR   scenarios for the scripted harness; --scenario-speed X (0 = no delays),
                        --scenario-process (play them in a child process)
  --dialect NAME        auto (by client), default or desktop
  --interaction-expiry-ms N
                        deny what nobody answers after N milliseconds (30 minutes)
  --data-dir DIR        where threads are kept, and what harnesses keep of their own; one server at a time
  --no-native           serve no models of a Codex installation
  --log-level LEVEL     debug, info, warn or error (warn); --log-file FILE instead of stderr

Environment: FOLDCAST_PORT, FOLDCAST_DATA_DIR, FOLDCAST_WS_TOKEN_FILE; a flag goes before it.

Examples:
  foldcast serve                                  # then: codex --remote ws://127.0.0.1:${DEFAULT_PORT}
  foldcast serve --port 0 --sessions ~/old-logs   # saved sessions in the resume picker
`;

export const command: CommandSpec = {
  name: "serve",
  summary: "serve the Codex app-server protocol on a WebSocket",
  help: HELP,
  async run(argv, io) {
    const { values } = parseFlags({ args: argv, options: { ...SERVER_FLAGS, host: { type: "string" }, port: { type: "string" }, config: { type: "string" } } });
    const settings = environmentSettings(process.env);
    if ((values.config ?? settings.get("config")) != null) throw new UsageError("configuration files cannot be read yet; use flags or the environment");
    const options = serverOptions(values, settings, process.env);
    const port = portNumber(values.port ?? settings.get("port") ?? String(DEFAULT_PORT));
    const running = startHost(options);
    let listener: Listener;
    try {
      listener = await listen({ kind: "tcp", host: values.host ?? settings.get("host") ?? "127.0.0.1", port }, {
        connect: (transport) => running.host.connect(transport), token: options.token,
      });
    } catch (error) {
      return refused(error, io.stderr);
    }
    running.store.announce(listener.url);
    io.stdout.write(`${JSON.stringify({ event: "listening", url: listener.url, pid: process.pid, version: VERSION, protocol: PROTOCOL_VERSION })}\n`);
    await introduce(running, listener.url, options.token !== null, io.stderr);
    await running.stopped;
    await Promise.all([listener.close(), stopHost(running)]);
    return 0;
  },
};

/** Tells a person how to go on. */
async function introduce({ host, store }: RunningHost, url: string, withToken: boolean, stderr: NodeJS.WritableStream): Promise<void> {
  const models = await host.catalogue.models();
  const ready = models.filter((model) => model.ready).map((model) => model.id);
  const token = withToken ? " --remote-auth-token-env VARIABLE" : "";
  const lines = [`connect   codex --remote ${url}${token}`, `models    ${ready.length === 0 ? "none is ready" : ready.join(", ")}`];
  // With something to run, what cannot run is no news: `foldcast models` tells.
  if (ready.length === 0) lines.push(...new Set(models.map((model) => `          ${model.harness}: ${model.reason ?? "not ready"}`)));
  else lines.push(...[...new Set(models.flatMap(({ harness, ready, reason }) => (ready && reason !== null ? [`${harness}: ${reason}`] : [])))].map((each) => `note      ${each}`));
  if (store.memoryReason !== null) lines.push(`note      threads are forgotten when this server ends: ${store.memoryReason}`);
  lines.push("stop      Ctrl+C");
  stderr.write(`foldcast ${VERSION} speaks the Codex app-server protocol ${PROTOCOL_VERSION}\n\n${lines.map((line) => `  ${line}\n`).join("")}\n`);
}
