import type { Socket } from "node:net";
import { joinOwner } from "./bridge.ts";
import type { Peer, Transport } from "./connection.ts";
import { Frame } from "./frame.ts";
import { LineSplitter } from "./line-splitter.ts";
import { MAX_FRAME_BYTES } from "./stdio.ts";

/** So much may wait for an owner that does not read; more, and the client is let go. */
const MAX_WAITING_BYTES = MAX_FRAME_BYTES;

/** An answer may be longer than what a client may ask: whole threads are. */
const MAX_ANSWER_BYTES = 4 * MAX_FRAME_BYTES;

const NEWLINE = 0x0a;
const SPACE = 0x20;

/**
 * A client of this process as a client of the instance that owns the store: its frames go there and back as they are.
 * `lines` is the owner's door, `model` the client's default model. The client is let go with its link to the owner.
 */
export function frontPeer(lines: string, model: string | null, transport: Transport): Peer {
  let socket: Socket | null = null;
  let gone = false;
  const early: Buffer[] = [];
  let earlyLength = 0;
  const leave = (): void => {
    gone = true;
    socket?.destroy();
  };
  const drop = (): void => {
    if (gone) return;
    leave();
    transport.terminate();
  };
  const send = (line: Buffer): void => {
    const waiting = socket?.writableLength ?? (earlyLength += line.length);
    if (waiting > MAX_WAITING_BYTES) drop();
    else if (socket === null) early.push(line);
    else {
      socket.write(line);
      socket.write("\n");
    }
  };
  joinOwner(lines, { foldcast: "join", model }).then((joined) => {
    if (joined === null) return drop();
    socket = joined.socket;
    if (gone) return leave();
    carryBack(joined.socket, transport, drop);
    for (const line of early.splice(0)) send(line);
  }, drop);
  return { receive: (frame) => send(oneLine(frame)), handleClosed: leave };
}

/** A WebSocket message may have JSON on several lines. Within its texts they are escaped: what is left is white space. */
function oneLine(frame: string | Buffer): Buffer {
  const line = typeof frame === "string" ? Buffer.from(frame) : frame;
  for (let at = line.indexOf(NEWLINE); at !== -1; at = line.indexOf(NEWLINE, at + 1)) line[at] = SPACE;
  return line;
}

/** One chunk of the owner's at a time: the next one is read when the client has taken it. */
function carryBack(socket: Socket, transport: Transport, drop: () => void): void {
  let frames: Frame[] = [];
  const splitter = new LineSplitter({ maxBytes: MAX_ANSWER_BYTES, onLine: (line) => frames.push(new Frame(line)), onTooLong: drop });
  socket.on("data", (chunk: Buffer) => {
    splitter.push(chunk);
    if (frames.length === 0) return;
    const batch = frames;
    frames = [];
    socket.pause();
    transport.write(batch, () => socket.resume());
  });
  socket.on("close", drop);
  socket.resume();
}
