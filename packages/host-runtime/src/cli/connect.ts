import type { ClientTransport } from "@foldcast/protocol-core/client";
import { embeddedTransport, webSocketTransport } from "../chat/transports.ts";
import { StoreLockedError } from "../store/lock.ts";
import { nativeProgram } from "./native.ts";
import type { ConfigFile } from "./options/config-file.ts";
import type { Values } from "./options/option.ts";
import { readToken, serverOptions } from "./server-options.ts";
import { startHost } from "./start-host.ts";
import type { RunningHost } from "./start-host.ts";
import type { CLIENT_OPTIONS, SERVER_OPTIONS } from "./table/options.ts";

export interface Link {
  transport: ClientTransport;
  /** The server of this process; null = it is another one. */
  running: RunningHost | null;
}

export interface ConnectOptions {
  values: Values<typeof SERVER_OPTIONS & typeof CLIENT_OPTIONS>;
  file: ConfigFile | null;
  env: NodeJS.ProcessEnv;
  stderr: NodeJS.WritableStream;
  /** A server in this process has the real Codex behind it, as one of `foldcast serve`: its threads have the ids then that its own clients know. */
  withCodex?: boolean;
  /** The lists of a server in this process wait for all saved sessions, however many are looked at for the first time. */
  wholeLists?: boolean;
}

/** The longest that a timer takes. */
const NO_END_MS = 2_147_483_647;

/**
 * A connection to the server that `--server` names, else to the one that has the data folder, else to one in this
 * process. Throws a `StoreLockedError` when the folder's owner does not answer.
 */
export async function connect({ values, file, env, stderr, withCodex = false, wholeLists = false }: ConnectOptions): Promise<Link> {
  const given = values["token-file"] === null ? null : readToken(values["token-file"], "server's");
  // The token of the local server is nobody else's business.
  if (values.server !== null) return { transport: await webSocketTransport(values.server, given), running: null };
  const settings = serverOptions(values, file, env);
  const discovery = wholeLists ? { ...settings.discovery, firstPatienceMs: NO_END_MS } : settings.discovery;
  const options = { ...settings, discovery, native: withCodex ? await nativeProgram(values, env) : null };
  let running: RunningHost;
  try {
    // Ctrl+C is the client's own.
    running = startHost(options, undefined, ["SIGTERM", "SIGHUP"]);
  } catch (error) {
    if (!(error instanceof StoreLockedError)) throw error;
    const { url = null, socket = null } = error.owner ?? {};
    const address = socket === null ? url : `unix://${socket}`;
    if (address === null) throw error;
    try {
      return { transport: await webSocketTransport(address, given ?? options.token), running: null };
    } catch (cause) {
      // The lock alone would not say that the owner wants a token.
      stderr.write(`foldcast: ${cause instanceof Error ? cause.message : String(cause)}\n`);
      throw error;
    }
  }
  return { transport: embeddedTransport(running.host), running };
}
