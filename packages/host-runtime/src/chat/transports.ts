import { WebSocket } from "ws";
import type { Host } from "../host.ts";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { overUnixSocket } from "../rpc/unix-websocket.ts";

/** A connection to a host in this process, without a socket between. */
export function embeddedTransport(host: Host): ClientTransport {
  let receive: (text: string) => void = () => undefined;
  let closed: (reason: string) => void = () => undefined;
  const connection = host.connect({
    write(frames, taken) {
      for (const frame of frames) receive(frame.text);
      taken();
    },
    terminate: () => closed("the server has ended"),
  });
  return {
    send: (text) => connection.receive(text),
    listen(onText, onClosed) {
      receive = onText;
      closed = onClosed;
    },
    close: () => connection.handleClosed(),
  };
}

/** A running server that cannot be reached, or refuses; the message says what to do. */
export class ConnectError extends Error {
  constructor(url: string, why: string) {
    super(`cannot connect to ${url}: ${why}`);
    this.name = "ConnectError";
  }
}

function unauthorized(token: string | null): string {
  return token === null ? "it wants a token; give the file that holds it with --token-file FILE" : "it refuses the token; give the file that its --ws-token-file names with --token-file FILE";
}

function wordsOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ECONNREFUSED":
      return "nobody listens there; start it with foldcast serve, or leave --server out";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "there is no such host";
    default:
      return error.message === "" ? "nobody answers" : error.message;
  }
}

/** A connection to a running server, `ws://…` or `unix://PATH`. Rejects with a `ConnectError` when it cannot be reached or refuses. */
export async function webSocketTransport(url: string, token: string | null): Promise<ClientTransport> {
  if (!/^(wss?:\/\/[^/]|unix:\/\/\/)/.test(url)) throw new ConnectError(url, "an address has the form ws://HOST:PORT");
  const path = url.startsWith("unix://") ? url.slice("unix://".length) : null;
  const socket = new WebSocket(path === null ? url : "ws://localhost/rpc", {
    ...(path === null ? {} : overUnixSocket(path)), perMessageDeflate: false, headers: token === null ? {} : { authorization: `Bearer ${token}` },
  });
  // From the start: frames may come with the upgrade, before anybody listens.
  const early: string[] = [];
  let receive = (text: string): void => void early.push(text);
  socket.on("message", (data, isBinary) => {
    if (!isBinary) receive((data as Buffer).toString("utf8"));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("unexpected-response", (_request, response) => {
      reject(new ConnectError(url, response.statusCode === 401 ? unauthorized(token) : `the server answers ${response.statusCode ?? "nothing"} ${response.statusMessage ?? ""}`.trimEnd()));
      socket.terminate();
    });
    socket.on("error", (error) => reject(new ConnectError(url, wordsOf(error))));
  });
  return {
    send: (text) => socket.send(text),
    listen(onText, onClosed) {
      receive = onText;
      for (const text of early.splice(0)) onText(text);
      socket.on("error", () => socket.terminate());
      socket.on("close", () => onClosed("the connection to the server was lost"));
    },
    close: () => socket.close(),
  };
}
