import { spawn, type ChildProcess } from "node:child_process";
import { connect, type Socket } from "node:net";
import { randomBytes } from "node:crypto";

/** Frames of this method are counted, not read: `params.delta` of each is one piece of the model's text. */
const DELTA = Buffer.from('{"method":"item/agentMessage/delta"');

interface Frame {
  id?: number;
  method?: string;
  params?: { threadId: string; turn?: { status: string } };
  result?: unknown;
  error?: { message: string };
}

/**
 * A client that costs next to nothing, so that what is measured is the server: the deltas of a stream are counted frame
 * by frame without being parsed, everything else is.
 */
export class CountingClient {
  /** Frames with a delta since the start. */
  deltas = 0;
  /** Their bytes, without framing. */
  deltaBytes = 0;
  readonly #write: (text: string) => void;
  readonly #end: () => void;
  readonly #answers = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  readonly #turns: { threadId: string; status: string }[] = [];
  #onTurn: (() => void) | null = null;
  #nextId = 0;
  #broken: Error | null = null;

  constructor(write: (text: string) => void, end: () => void) {
    this.#write = write;
    this.#end = end;
  }

  /** One frame, as bytes from `start` up to `end`. */
  frame(bytes: Buffer, start: number, end: number): void {
    if (end - start >= DELTA.length && bytes.compare(DELTA, 0, DELTA.length, start, start + DELTA.length) === 0) {
      this.deltas += 1;
      this.deltaBytes += end - start;
      return;
    }
    const frame = JSON.parse(bytes.toString("utf8", start, end)) as Frame;
    if (frame.method === "turn/completed") {
      this.#turns.push({ threadId: frame.params?.threadId ?? "", status: frame.params?.turn?.status ?? "" });
      this.#onTurn?.();
    }
    if (frame.id === undefined || frame.method !== undefined) return;
    const waiting = this.#answers.get(frame.id);
    this.#answers.delete(frame.id);
    if (frame.error === undefined) waiting?.resolve(frame.result);
    else waiting?.reject(new Error(frame.error.message));
  }

  broken(error: Error): void {
    this.#broken = error;
    for (const { reject } of this.#answers.values()) reject(error);
    this.#onTurn?.();
  }

  async request<T>(method: string, params: unknown): Promise<T> {
    const id = (this.#nextId += 1);
    const answer = new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
    this.#write(JSON.stringify({ id, method, params }));
    return (await answer) as T;
  }

  async initialize(): Promise<this> {
    await this.request("initialize", { clientInfo: { name: "bench", title: null, version: "1" }, capabilities: { experimentalApi: true } });
    this.#write(JSON.stringify({ method: "initialized" }));
    return this;
  }

  /** Resolves when `count` turns have ended since the last call; throws for one that was not completed. */
  async turns(count: number): Promise<void> {
    while (this.#turns.length < count) {
      if (this.#broken !== null) throw this.#broken;
      await new Promise<void>((resolve) => (this.#onTurn = resolve));
    }
    const bad = this.#turns.splice(0, count).find(({ status }) => status !== "completed");
    if (bad !== undefined) throw new Error(`a turn ended as ${bad.status}`);
  }

  close(): void {
    this.#end();
  }
}

/** On a WebSocket, read by hand: frames of a server are never masked, and no extension is asked for. */
export async function countOnWebSocket(url: string): Promise<CountingClient> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`);
  const client = new CountingClient((text) => socket.write(masked(0x1, Buffer.from(text))), () => socket.destroy());
  socket.on("error", (error) => client.broken(error));
  socket.on("close", () => client.broken(new Error("the server ended the connection")));
  readWebSocket(socket, client);
  return client.initialize();
}

function readWebSocket(socket: Socket, client: CountingClient): void {
  let rest: Buffer = Buffer.alloc(0);
  let upgraded = false;
  socket.on("data", (chunk: Buffer) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!upgraded) {
      const end = bytes.indexOf("\r\n\r\n");
      if (end === -1) return void (rest = bytes);
      if (!bytes.toString("latin1", 0, 12).endsWith("101")) return void socket.destroy(new Error(bytes.toString("latin1", 0, end)));
      upgraded = true;
      bytes = bytes.subarray(end + 4);
    }
    let at = 0;
    while (bytes.length - at >= 2) {
      const opcode = bytes[at]! & 0x0f;
      let length = bytes[at + 1]!;
      let start = at + 2;
      if (length >= 126) {
        start += length === 126 ? 2 : 8;
        if (bytes.length < start) break;
        length = length === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
      }
      if (bytes.length < start + length) break;
      if (opcode === 0x1) client.frame(bytes, start, start + length);
      else if (opcode === 0x9) socket.write(masked(0xa, bytes.subarray(start, start + length)));
      at = start + length;
    }
    rest = bytes.subarray(at);
  });
}

/** A frame as a client must send it. A mask of zeros is one, too. */
function masked(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const head = Buffer.alloc(6 + extended);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  else if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** On the standard streams of a child: one frame a line. */
export async function countOnStdio(command: readonly [string, ...string[]], env: NodeJS.ProcessEnv, cwd: string): Promise<CountingClient & { child: ChildProcess }> {
  const [program, ...args] = command;
  const child = spawn(program, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const client = new CountingClient((text) => child.stdin.write(`${text}\n`), () => child.stdin.end());
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-4_000)));
  child.once("error", (error) => client.broken(error));
  child.once("close", (code) => client.broken(new Error(`the server ended with ${String(code)}\n${log}`)));
  let rest: Buffer = Buffer.alloc(0);
  child.stdout.on("data", (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, at)) {
      client.frame(bytes, at, end);
      at = end + 1;
    }
    rest = bytes.subarray(at);
  });
  await client.initialize();
  return Object.assign(client, { child });
}
