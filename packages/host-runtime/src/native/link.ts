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

/** A link over the socket, as soon as there is one. `left` is called once it is over, whoever ended it; perhaps twice. */
export function openLink(socketPath: Promise<string>, events: LinkEvents, left: () => void = () => undefined): Link {
  let socket: FrameSocket | null = null;
  let over = false;
  const closed = (reason: string): void => {
    left();
    events.closed(reason);
  };
  socketPath.then(
    (path) => {
      if (over) left();
      else socket = new FrameSocket(path, MAX_FRAME_BYTES * 4, { ...events, closed });
    },
    (error: unknown) => {
      if (!over) closed(error instanceof Error ? error.message : String(error));
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
      left();
    },
  };
}

/** What stands at the path of a unix socket: somebody who listens, nobody, or what cannot be said of one who is busy. */
export type Door = "open" | "gone" | "unclear";

export function lookAt(path: string): Promise<Door> {
  return new Promise((resolve) => {
    const probe = connectSocket(path);
    probe.once("connect", () => (probe.destroy(), resolve("open")));
    // With a full queue of connections there is another error.
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ENOENT" || error.code === "ECONNREFUSED" ? "gone" : "unclear"));
  });
}
