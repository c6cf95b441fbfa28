import { Socket } from "node:net";
import { fstatSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import type { Connection, Transport } from "./connection.ts";
import { writeFrames } from "./frame-writer.ts";
import type { Framing } from "./frame-writer.ts";
import type { Frame } from "./frame.ts";
import { LineSplitter } from "./line-splitter.ts";

/** The longest line that is read; measured: the real server answers frames of 8 MiB. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

const LINES: Framing = {
  size: () => 1,
  before: (_target, at) => at,
  behind: (target, at) => target.writeUInt8(0x0a, at),
};

class StdioTransport implements Transport {
  readonly #input: Readable;
  readonly #output: Writable;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  write(frames: readonly Frame[], taken: () => void): void {
    writeFrames(this.#output, frames, LINES, taken);
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  terminate(): void {
    this.#output.destroy();
  }
}

/**
 * Serves one client on a pair of streams, one JSON object a line. The connection closes when the input has ended and
 * its last requests are answered, or when the output breaks.
 */
export function serveStdio(input: Readable, output: Writable, connect: (transport: Transport) => Connection, onTooLong: () => void): Connection {
  const connection = connect(new StdioTransport(input, output));
  const lines = new LineSplitter({ maxBytes: MAX_FRAME_BYTES, onLine: (line) => connection.receive(line), onTooLong });
  const close = () => connection.handleClosed();
  input.on("data", (chunk: Buffer) => lines.push(chunk));
  input.on("end", () => {
    lines.end();
    connection.handleInputEnd();
  });
  input.on("error", close);
  output.on("error", close);
  output.on("close", close);
  return connection;
}

/**
 * Standard output without the blocking writes that Node gives it on a pipe: a client that does not read must not
 * stop the whole process.
 */
export function openStandardOutput(): Writable {
  const stats = fstatSync(1);
  return stats.isFIFO() || stats.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
}
