import { WebSocket } from "ws";
import type { Host } from "../host.ts";
import type { ClientTransport } from "./rpc-client.ts";

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

/** A connection to a running server. Rejects with a readable message when it cannot be reached or refuses. */
export async function webSocketTransport(url: string, token: string | null): Promise<ClientTransport> {
  const socket = new WebSocket(url, { perMessageDeflate: false, headers: token === null ? {} : { authorization: `Bearer ${token}` } });
  // From the start: frames may come with the upgrade, before anybody listens.
  const early: string[] = [];
  let receive = (text: string): void => void early.push(text);
  socket.on("message", (data, isBinary) => {
    if (!isBinary) receive((data as Buffer).toString("utf8"));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", (error) => reject(new Error(`cannot connect to ${url}: ${error.message === "" ? "nobody answers" : error.message}`)));
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
