import { connect } from "node:net";
import type { ClientOptions } from "ws";

/**
 * A WebSocket to `ws://localhost/…` over a unix socket. In an address of the `ws+unix` form a path with a space, a colon
 * or a letter beyond ASCII would be another path.
 */
export function overUnixSocket(path: string): Pick<ClientOptions, "createConnection"> {
  return { createConnection: () => connect(path) };
}
