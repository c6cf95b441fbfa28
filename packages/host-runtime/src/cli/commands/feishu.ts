import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { embeddedTransport, webSocketTransport } from "../../chat/transports.ts";
import type { Call } from "../command.ts";
import { connect } from "../connect.ts";
import { startChannel } from "../feishu/channel.ts";
import { feishuFromFile } from "../feishu/from-file.ts";
import { setUp } from "../feishu/setup.ts";
import { runSmoke } from "../feishu/smoke.ts";
import { appLocks, readToken, serverOptions } from "../server-options.ts";
import { startHost, stopHost } from "../start-host.ts";
import type { RunningHost } from "../start-host.ts";
import type { FEISHU_OPTIONS } from "../table/options.ts";
import { UsageError } from "../usage-error.ts";

export async function run(call: Call<typeof FEISHU_OPTIONS>): Promise<number> {
  const { operands, stdout, stderr } = call;
  const [verb] = operands;
  if (operands.length > 1) throw new UsageError(`\`${operands[1]!}\` is one word too many`);
  const { values, file } = await call.settings();
  const { env, given: configured } = feishuFromFile(file, call.env);
  if (verb === "setup") return setUp({ env, file, stdout });
  const log = (message: string, fields: Readonly<Record<string, unknown>>): void => void stderr.write(`foldcast feishu: ${message}${Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`}\n`);
  if (verb === "smoke") {
    if (values["app-env"] === null) throw new UsageError("smoke wants --app-env FILE, with lines such as FOLDCAST_FEISHU_APP_ID=cli_…");
    const app = readAppEnv(values["app-env"]);
    const running = startHost({ ...serverOptions(values, file, env), dataDir: mkdtempSync(join(tmpdir(), "foldcast-smoke-")) });
    return runSmoke({ running, env: { ...env, ...app }, log, out: (text) => void stdout.write(text) });
  }
  if (verb !== undefined) throw new UsageError(`feishu knows setup and smoke, not \`${verb}\``);
  const demo = values.demo ? await startDemo(values["demo-port"]) : null;
  // Tried out, it leaves nothing behind and has nothing to do with the person's own threads and server.
  const demoFolder = demo === null ? null : mkdtempSync(join(tmpdir(), "foldcast-feishu-demo-"));
  const source = await serverLink(call, demoFolder === null ? values : { ...values, "data-dir": join(demoFolder, "server") }, file);
  const dataDir = demoFolder === null ? serverOptions(values, file, env).dataDir : join(demoFolder, "channel");
  const given = demo === null ? configured : { appId: demo.appId, appSecret: demo.appSecret, baseUrl: demo.url, allowUsers: [demo.person.openId, demo.colleague.openId], approvers: [] };
  try {
    const running = await startChannel({ env, dataDir, connect: source.connect, given, locks: demo === null ? appLocks(env) : null, log });
    stdout.write(`${JSON.stringify({ event: "feishu-ready", appId: running.appId })}\n`);
    if (demo === null) stderr.write(`\n  talks     for ${running.appId}: write to the bot; /help lists its commands\n  stop      Ctrl+C\n\n`);
    else stderr.write(`\n  open      ${demo.url}\n  write     a message to the bot; /help lists its commands\n  stop      Ctrl+C\n\n`);
    await source.stopped;
    await source.drain();
    await running.channel.settle(SETTLE_MS);
    await running.close();
  } finally {
    await source.close();
    await demo?.close();
    if (demoFolder !== null) rmSync(demoFolder, { recursive: true, force: true });
  }
  return 0;
}

function readAppEnv(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`cannot read the file of --app-env: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function startDemo(port: number): Promise<Awaited<ReturnType<typeof import("@foldcast/feishu-channel/fake").startDemo>>> {
  const { startDemo: start } = await import("@foldcast/feishu-channel/fake");
  try {
    return await start({ port });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    throw Object.assign(new Error(`127.0.0.1:${port} is already in use; choose another with --demo-port N, or 0 for any free one`, { cause: error }), { exitCode: 3 });
  }
}

/** Answers that are on their way when the process is told to end. */
const SETTLE_MS = 5_000;

interface ServerLink {
  readonly connect: () => Promise<ClientTransport>;
  readonly stopped: Promise<unknown>;
  /** Ends the turns of a server in this process, while the channel can still tell it. */
  readonly drain: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The server that is named, or that has the data folder, or one of this process. */
async function serverLink({ env, stderr }: Call<typeof FEISHU_OPTIONS>, values: Parameters<typeof connect>[0]["values"], file: Parameters<typeof connect>[0]["file"]): Promise<ServerLink> {
  const { server } = values;
  if (server !== null) {
    const token = values["token-file"] === null ? null : readToken(values["token-file"], "server's");
    return { connect: () => webSocketTransport(server, token), stopped: signalled(), drain: () => Promise.resolve(), close: () => Promise.resolve() };
  }
  let running: RunningHost | null = null;
  const open = async (): Promise<ClientTransport> => {
    if (running !== null) return embeddedTransport(running.host);
    const link = await connect({ values, file, env, stderr });
    ({ running } = link);
    return link.transport;
  };
  let first: ClientTransport | null = await open();
  return {
    // The first link is made here, so that its faults end the command; later ones are retried by the channel.
    connect: async () => {
      const transport = first ?? (await open());
      first = null;
      return transport;
    },
    stopped: signalled(),
    drain: async () => running?.host.drain(),
    close: async () => {
      if (running !== null) await stopHost(running);
    },
  };
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
