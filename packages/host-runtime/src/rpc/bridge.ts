import { connect, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { readFirstLine, Welcome, type Greeting } from "./local-door.ts";

const WELCOME_MS = 5_000;
/** A command line of Codex may hold whole tables. */
const MAX_WELCOME_BYTES = 256 * 1024;

/** A connection to the instance that owns the store; bytes go both ways as they are. */
export interface Joined {
  socket: Socket;
  /** Of the owner. */
  pid: number;
  /** The words that its Codex was started with; null where none is behind it. */
  codexWords: readonly string[] | null;
}

/** Joins the owner that listens on `path`; null when nobody does, or an owner that is just ending. */
export async function joinOwner(path: string, greeting: Greeting): Promise<Joined | null> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => socket.destroy());
  socket.setTimeout(WELCOME_MS, () => socket.destroy());
  socket.write(`${JSON.stringify(greeting)}\n`);
  const welcome = await new Promise<unknown>((resolve) => {
    socket.once("close", () => resolve(undefined));
    readFirstLine(socket, MAX_WELCOME_BYTES, resolve);
  });
  const parsed = Welcome.safeParse(welcome);
  if (!parsed.success) {
    socket.destroy();
    return null;
  }
  socket.setTimeout(0);
  // An owner that says no more listens no more; by then all that it said has been read.
  socket.once("end", () => socket.destroy());
  return { socket, pid: parsed.data.pid, codexWords: parsed.data.codexWords ?? null };
}

/**
 * Carries a client's streams to the owner and back until one of them ends. An end of the client's input goes on to the
 * owner, whose last answers still come. Resolves with who ended it.
 */
export async function bridge({ socket }: Joined, input: Readable, output: Writable): Promise<"client" | "owner"> {
  let endedBy: "client" | "owner" = "owner";
  const leave = (): void => {
    endedBy = "client";
    socket.destroy();
  };
  input.once("end", () => (endedBy = "client"));
  input.once("error", leave);
  output.once("error", leave);
  output.once("close", leave);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  input.pipe(socket);
  socket.pipe(output, { end: false });
  await closed;
  if (output.writable) await new Promise<void>((resolve) => output.write("", () => resolve()));
  return endedBy;
}
