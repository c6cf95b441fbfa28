import { connect, type Socket } from "node:net";
import { until } from "./wait.ts";

/** A client that reads no more once it has joined the thread, answers no ping and is never closed: as if its cable were pulled. */
export async function stalledClient(url: string, threadId: string | null): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.from("0123456789abcdef").toString("base64")}\r\n\r\n`);
  const send = (frame: object): void => {
    const payload = Buffer.from(JSON.stringify(frame));
    const head = Buffer.alloc(8);
    head[0] = 0x81;
    head[1] = 0x80 | 126;
    head.writeUInt16BE(payload.length, 2);
    socket.write(Buffer.concat([head, payload]));
  };
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "a client that stalls, in a test of it", version: "1.0.0" } } });
  send({ id: 2, method: threadId === null ? "thread/loaded/list" : "thread/resume", params: threadId === null ? { limit: 10, padding: "x".repeat(100) } : { threadId, excludeTurns: true, padding: "x".repeat(50) } });
  let seen = "";
  socket.on("data", (chunk: Buffer) => (seen = (seen + chunk.toString("latin1")).slice(-20_000)));
  await until("the answer", () => (seen.includes('{"id":2,') ? true : undefined));
  socket.pause();
  return socket;
}
