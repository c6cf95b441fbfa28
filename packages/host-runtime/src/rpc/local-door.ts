import { createHash } from "node:crypto";
import { chmod } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { ListenError } from "./listen-error.ts";
import type { Listener } from "./listen.ts";
import type { Connection, Transport } from "./connection.ts";
import { prepareSocketPath } from "./socket-path.ts";
import { serveStdio } from "./stdio.ts";

/** What another instance says first on the lines door, as one JSON line; all after it are its client's own lines. */
export const Greeting = z.object({ foldcast: z.literal("join"), model: z.string().nullable() });
export type Greeting = z.infer<typeof Greeting>;
/** The owner's answer to it, as one line. */
export const Welcome = z.object({
  foldcast: z.literal("joined"),
  pid: z.number(),
  /** The words that the Codex behind it was started with; not there where none is. */
  codexWords: z.array(z.string()).optional(),
});
export type Welcome = z.infer<typeof Welcome>;

const MAX_GREETING_BYTES = 4096;
/** The shortest limit of the systems that have unix sockets is 104 bytes, with one for the end. */
const MAX_PATH_BYTES = 100;
/** Clients write such a path into an address, where other characters would be escaped and not found again. */
const PLAIN = /^[\w/.@+-]+$/;

const LINES = ".lines.sock";

/** Where the owner of a data folder listens for this user alone. */
export interface LocalDoors {
  /** WebSocket, for clients. */
  socket: string;
  /** Lines, for other instances of foldcast. */
  lines: string;
}

/**
 * In the data folder where its path can stand in an address, else in `~/.foldcast` under a name made from it. Null where
 * neither can, and on Windows, which has no unix sockets that clients could name.
 */
export function localDoors(dataDir: string, home: string, platform: string = process.platform): LocalDoors | null {
  const base = bases(dataDir, home, platform).find((each) => PLAIN.test(each));
  return base === undefined ? null : { socket: `${base}.sock`, lines: `${base}${LINES}` };
}

/** The door for other instances alone, which no client has to name: there also where the folders' names are no address. */
export function linesDoor(dataDir: string, home: string, platform: string = process.platform): string | null {
  const base = bases(dataDir, home, platform)[0];
  return localDoors(dataDir, home, platform)?.lines ?? (base === undefined ? null : `${base}${LINES}`);
}

function bases(dataDir: string, home: string, platform: string): string[] {
  if (platform === "win32") return [];
  const id = createHash("sha256").update(dataDir).digest("hex").slice(0, 12);
  return [join(dataDir, "host"), join(home, ".foldcast", id)].filter((base) => Buffer.byteLength(base) + LINES.length <= MAX_PATH_BYTES);
}

/**
 * Serves other instances of foldcast on a unix socket, one connection for each of their clients: the same lines as on
 * standard streams, and as there a client that sends no more still gets its last answers.
 */
export async function openLinesDoor(path: string, connect: (transport: Transport, greeting: Greeting) => Connection, onTooLong: () => void, codexWords?: readonly string[]): Promise<Listener> {
  await prepareSocketPath(path);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    readGreeting(socket, (greeting) => {
      socket.write(`${JSON.stringify({ foldcast: "joined", pid: process.pid, ...(codexWords === undefined ? {} : { codexWords: [...codexWords] }) } satisfies Welcome)}\n`);
      const connection = serveStdio(socket, socket, (transport) => connect(transport, greeting), onTooLong);
      socket.resume();
      void connection.closed.then(() => socket.end());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new ListenError("failed", `cannot listen on ${path}: ${error.message}`)));
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  return {
    url: `unix://${path}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Reads exactly the first line; what came with it is read again by whoever reads next. */
function readGreeting(socket: Socket, onGreeting: (greeting: Greeting) => void): void {
  readFirstLine(socket, MAX_GREETING_BYTES, (line) => {
    const greeting = Greeting.safeParse(line);
    if (greeting.success) onGreeting(greeting.data);
    else socket.destroy();
  });
}

/** The JSON value of a stream's first line, once; undefined for none, or one that is too long. The stream is paused then. */
export function readFirstLine(socket: Socket, maxBytes: number, onLine: (value: unknown) => void): void {
  let head = Buffer.alloc(0);
  const done = (value: unknown, rest?: Buffer): void => {
    socket.off("data", onData);
    socket.off("end", onEnd);
    socket.pause();
    // Only now: a stream that flows would hand it to us again.
    if (rest !== undefined && rest.length > 0) socket.unshift(rest);
    onLine(value);
  };
  const onEnd = (): void => done(undefined);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\n");
    if (end === -1) {
      if (head.length > maxBytes) done(undefined);
      return;
    }
    done(jsonOf(head.toString("utf8", 0, end)), head.subarray(end + 1));
  };
  socket.on("data", onData);
  socket.on("end", onEnd);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
