import type { Socket } from "node:net";
import type { Joined } from "../rpc/bridge.ts";
import { frontPeer } from "../rpc/front.ts";
import { listen } from "../rpc/listen.ts";
import type { ListenAddress } from "../rpc/listen.ts";
import type { WebSocketOptions } from "../rpc/websocket.ts";
import type { ServerOptions } from "./server-options.ts";
import { admit, modelIn, OpenDoors, ownOrJoin } from "./share.ts";
import { firstSignal, stopHost } from "./start-host.ts";
import type { RunningHost } from "./start-host.ts";

export interface SharedServer {
  /** Null = only the doors for this user alone. */
  address: ListenAddress | null;
  options: Pick<ServerOptions, "dataDir" | "token">;
  start: () => RunningHost;
  /** The default model of clients that name none in their address. */
  model: string | null;
  /** Each time that another process serves the clients of this one. */
  onJoined?: (joined: Joined) => void;
  /** Once, when clients can come to the address; with the process that owns the store where that is another one. */
  onListening?: (url: string, owner: number | null) => void;
  /** Each time that this process becomes the owner; what it gives is awaited before the end. */
  onOwner?: (running: RunningHost) => Promise<() => Promise<void>>;
}

/**
 * Serves until a signal. The clients are served here where this process owns the store, and else by the
 * owner; when that ends, they are let go, and this process takes its place. Throws a `ListenError` or, when the owner
 * lets nobody in, its `StoreLockedError`. Resolves the exit code.
 */
export async function serveShared({ address, options, start, model, onJoined, onListening, onOwner }: SharedServer): Promise<number> {
  let share = await ownOrJoin(start, model);
  const connect: WebSocketOptions["connect"] = (transport, url) => {
    const wanted = modelIn(url) ?? model;
    return share.role === "owner" ? admit(share.running, transport, wanted) : frontPeer(share.lines, wanted, transport);
  };
  const listener = address === null ? null : await listen(address, { connect, token: options.token }).catch(async (error: unknown) => {
    if (share.role === "owner") await stopHost(share.running);
    throw error;
  });
  const own = async (running: RunningHost): Promise<OpenDoors> => {
    running.store.announce({ url: listener?.url ?? null });
    return await OpenDoors.open(running, options.dataDir);
  };
  // What others look for is there before anybody is told.
  let doors = share.role === "owner" ? await own(share.running) : null;
  if (listener !== null) onListening?.(listener.url, share.role === "owner" ? null : share.joined.pid);
  const stop = share.role === "owner" ? null : firstSignal();
  while (share.role === "guest") {
    onJoined?.(share.joined);
    if ((await Promise.race([gone(share.joined.socket), stop])) !== null) {
      share.joined.socket.destroy();
      await listener?.close();
      return 0;
    }
    share = await ownOrJoin(start, model);
    if (share.role === "owner") doors = await own(share.running);
  }
  const { running } = share;
  const leave = await onOwner?.(running);
  await running.stopped;
  await leave?.();
  await Promise.all([listener?.close(), doors?.close()]);
  await stopHost(running);
  return 0;
}

function gone(socket: Socket): Promise<null> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve(null);
    socket.resume();
    socket.once("close", () => resolve(null));
  });
}
