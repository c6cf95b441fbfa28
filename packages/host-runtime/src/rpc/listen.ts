import { chmod, lstat, unlink } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import type { AddressInfo, ListenOptions } from "node:net";
import { dirname } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { ListenError } from "./listen-error.ts";
import { WebSocketHost } from "./websocket.ts";
import type { WebSocketOptions } from "./websocket.ts";

export type ListenAddress = { kind: "tcp"; host: string; port: number } | { kind: "unix"; path: string };

export interface Listener {
  /** `ws://host:port`, or `unix://path`. */
  url: string;
  close(): Promise<void>;
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** Starts to listen. Refuses an address that other machines can reach unless clients must show a token. */
export async function listen(address: ListenAddress, options: WebSocketOptions): Promise<Listener> {
  if (address.kind === "tcp" && options.token === null && !isLoopback(address.host)) {
    const shown = `${address.host}:${address.port}`;
    throw new ListenError("needsToken", `refusing to start non-loopback websocket listener ${shown} without auth; configure \`--ws-auth capability-token\` with \`--ws-token-file FILE\``);
  }
  if (address.kind === "unix") await prepareSocketPath(address.path);
  const host = new WebSocketHost(options);
  const target: ListenOptions = address.kind === "tcp" ? { host: address.host.replace(/^\[|\]$/g, ""), port: address.port } : { path: address.path };
  await new Promise<void>((resolve, reject) => {
    host.server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      const where = address.kind === "tcp" ? `${address.host}:${address.port}` : address.path;
      reject(new ListenError(taken ? "portTaken" : "failed", taken ? `${where} is already in use` : `cannot listen on ${where}: ${error.message}`));
    });
    host.server.listen(target, resolve);
  });
  if (address.kind === "unix") await chmod(address.path, 0o600);
  return { url: urlOf(address, host), close: () => host.close() };
}

function urlOf(address: ListenAddress, host: WebSocketHost): string {
  if (address.kind === "unix") return `unix://${address.path}`;
  const { port } = host.server.address() as AddressInfo;
  return `ws://${address.host.includes(":") && !address.host.startsWith("[") ? `[${address.host}]` : address.host}:${port}`;
}

/** Removes a socket file that nobody answers on; one that somebody answers on is taken. */
async function prepareSocketPath(path: string): Promise<void> {
  try {
    makeFolder(dirname(path), 0o700);
  } catch (error) {
    throw new ListenError("failed", `cannot listen on ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const answered = await new Promise<boolean>((resolve) => {
    const probe = connectSocket(path);
    probe.once("connect", () => (probe.destroy(), resolve(true)));
    probe.once("error", () => resolve(false));
  });
  if (answered) throw new ListenError("portTaken", `${path} is already in use`);
  const stale = await lstat(path).catch(() => null);
  if (stale === null) return;
  if (!stale.isSocket()) throw new ListenError("failed", `${path} exists and is no socket`);
  await unlink(path);
}
