import { connect as connectSocket } from "node:net";
import { MAX_FRAME_BYTES } from "../rpc/stdio.ts";
import { FrameSocket } from "./frame-socket.ts";

export interface LinkEvents {
  /** It takes frames now. */
  opened(): void;
  /** One frame, as it came. */
  frame(bytes: Buffer): void;
  /** The link is over, or never came about. Once. */
  closed(reason: string): void;
  /** Whether nobody waits for what comes next: of a burst, a millisecond's frames come at once then. */
  mayRest(): boolean;
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
  let socket: FrameSocket | null = null;
  let over = false;
  socketPath.then(
    (path) => {
      if (!over) socket = new FrameSocket(path, MAX_FRAME_BYTES * 4, events);
    },
    (error: unknown) => {
      if (!over) events.closed(error instanceof Error ? error.message : String(error));
    },
  );
  return {
    get waiting() {
      return socket?.waiting ?? 0;
    },
    send(bytes, sent = () => undefined) {
      if (socket?.isOpen === true) socket.send(bytes, sent);
      else sent();
    },
    pause: () => socket?.pause(),
    resume: () => socket?.resume(),
    close() {
      over = true;
      socket?.close();
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
