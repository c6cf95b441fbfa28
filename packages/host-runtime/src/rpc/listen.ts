import { chmod } from "node:fs/promises";
import type { AddressInfo, ListenOptions } from "node:net";
import { ListenError } from "./listen-error.ts";
import { prepareSocketPath } from "./socket-path.ts";
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
