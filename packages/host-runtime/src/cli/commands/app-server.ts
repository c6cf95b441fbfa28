import { join } from "node:path";
import type { ListenAddress, Listener } from "../../rpc/listen.ts";
import { openStandardOutput, serveStdio } from "../../rpc/stdio.ts";
import type { CommandSpec } from "../command.ts";
import { environmentSettings, parseFlags, portNumber, SERVER_FLAGS, serverOptions } from "../options.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import { UsageError } from "../usage-error.ts";
import { refused } from "../refused.ts";

const HELP = `foldcast app-server [OPTIONS]

Stands in for \`codex app-server\`: one JSON object a line on standard streams, until stdin ends.

  --listen URL          stdio:// (default), ws://IP:PORT, unix://PATH, or off
  -c, --config KEY=VALUE, --enable FEATURE, --disable FEATURE
                        kept as clients read them with config/read
  --analytics-default-enabled and other flags of Codex are accepted and do nothing

The flags of \`foldcast serve\` for harnesses, scenarios, sessions, tokens and logs work here too.

Examples:
  foldcast app-server
  CODEX_CLI_PATH=$(which foldcast) …             # a client that starts its server itself
  foldcast app-server --listen unix:///tmp/foldcast.sock
`;

/** Flags of `codex app-server` that have a value and do nothing here. */
const IGNORED_WITH_VALUE = [
  "startup-client-info", "cloud-skills-snapshot", "code-mode-host", "ws-token-sha256", "ws-shared-secret-file", "ws-issuer", "ws-audience",
  "ws-max-clock-skew-seconds",
] as const;
const IGNORED = ["analytics-default-enabled", "startup-sign-out", "strict-config", "stdio"] as const;

export const command: CommandSpec = {
  name: "app-server",
  summary: "the same on standard streams, in the place of `codex app-server`",
  help: HELP,
  async run(argv, io) {
    const { values, positionals } = parseFlags({
      args: argv,
      // A newer Codex client may send flags that are not known here; refusing them would end it.
      strict: false,
      allowPositionals: true,
      options: {
        ...SERVER_FLAGS,
        listen: { type: "string" },
        config: { type: "string", short: "c", multiple: true },
        enable: { type: "string", multiple: true },
        disable: { type: "string", multiple: true },
        ...Object.fromEntries(IGNORED_WITH_VALUE.map((name) => [name, { type: "string" as const }])),
        ...Object.fromEntries(IGNORED.map((name) => [name, { type: "boolean" as const }])),
      },
    });
    if (positionals[0] !== undefined) throw new UsageError(`\`app-server ${positionals[0]}\` is not supported`);
    const options = serverOptions(values, environmentSettings(process.env), process.env);
    const address = listenAddress(typeof values.listen === "string" ? values.listen : "stdio://", options.dataDir);
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
          return refused(error, io.stderr);
        }
        io.stderr.write(`foldcast app-server\n  listening on: ${listener.url}\n`);
        await running.stopped;
        await listener.close();
      }
    } finally {
      await stopHost(running);
    }
    return 0;
  },
};

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
  return { kind: "tcp", host: tcp[1]!, port: portNumber(tcp[2]!) };
}

function applyOverrides({ host }: RunningHost, values: Readonly<Record<string, unknown>>): void {
  const list = (name: string): string[] => (Array.isArray(values[name]) ? values[name].map(String) : []);
  for (const override of list("config")) {
    const equals = override.indexOf("=");
    if (equals === -1) throw new UsageError(`-c takes KEY=VALUE; got \`${override}\``);
    host.config.write(override.slice(0, equals).trim(), parseValue(override.slice(equals + 1).trim()), "replace");
  }
  for (const feature of list("enable")) host.config.write(`features.${feature}`, true, "replace");
  for (const feature of list("disable")) host.config.write(`features.${feature}`, false, "replace");
}

/** Codex reads the value as TOML; what JSON and TOML have in common is enough here, the rest is a plain text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
