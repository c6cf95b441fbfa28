import { connect as connectSocket } from "node:net";
import { WebSocket } from "ws";
import { MAX_FRAME_BYTES } from "../rpc/stdio.ts";
import { overUnixSocket } from "../rpc/unix-websocket.ts";

export interface LinkEvents {
  /** It takes frames now. */
  opened(): void;
  /** One frame, as it came. */
  frame(bytes: Buffer): void;
  /** The link is over, or never came about. Once. */
  closed(reason: string): void;
}

/** One connection to the real Codex. No method throws. */
export interface Link {
  /** In order, once it is open; `sent` is called when the system has taken it, or never will. */
  send(bytes: Buffer, sent?: () => void): void;
  /** Bytes that wait to be sent. */
  readonly waiting: number;
  /** Reads no more until `resume`: what comes stays with the sender. */
  pause(): void;
  resume(): void;
  /** Ends it at once; `closed` does not come any more. */
  close(): void;
}

/** A link over the socket, as soon as there is one. */
export function openLink(socketPath: Promise<string>, events: LinkEvents): Link {
  let socket: WebSocket | null = null;
  let over = false;
  const end = (reason: string): void => {
    if (over) return;
    over = true;
    events.closed(reason);
  };
  socketPath.then(
    (path) => {
      if (over) return;
      // Text frames are valid UTF-8 by themselves; the real server's own check is enough.
      socket = new WebSocket("ws://localhost/rpc", { ...overUnixSocket(path), perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES * 4, skipUTF8Validation: true });
      socket.binaryType = "nodebuffer";
      socket.on("open", () => {
        if (!over) events.opened();
      });
      socket.on("message", (data, isBinary) => {
        if (!over && !isBinary) events.frame(data as Buffer);
      });
      socket.on("error", (error) => end(error.message));
      socket.on("close", () => end("the Codex app-server has closed the connection"));
    },
    (error: unknown) => end(error instanceof Error ? error.message : String(error)),
  );
  return {
    get waiting() {
      return socket?.bufferedAmount ?? 0;
    },
    send(bytes, sent) {
      if (over || socket?.readyState !== WebSocket.OPEN) {
        sent?.();
        return;
      }
      socket.send(bytes, { binary: false }, () => sent?.());
    },
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
    close() {
      over = true;
      // Terminated while it still connects, it reports that as an error.
      socket?.terminate();
    },
  };
}

/** Whether somebody listens on a unix socket. */
export function takesConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connectSocket(path);
    probe.once("connect", () => (probe.destroy(), resolve(true)));
    probe.once("error", () => resolve(false));
  });
}
