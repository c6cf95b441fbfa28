import { WebSocketServer, WebSocket, type RawData } from "ws";
import { FrameRecorder, type Direction } from "./recording.ts";

export interface TappedFrame {
  /** The connection that it passed on, counted from 0. */
  connection: number;
  dir: Direction;
  msg: Record<string, unknown>;
}

export interface Tap extends AsyncDisposable {
  /** Where the client is to connect. */
  url: string;
  /** Frames that passed, newest last. */
  frames: TappedFrame[];
}

/** A WebSocket in between a program that we did not write and the server, so that its frames are recorded and judged. */
export async function tap(serverUrl: string, label: string): Promise<Tap> {
  const frames: Tap["frames"] = [];
  const proxy = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  await new Promise((resolve) => proxy.once("listening", resolve));
  let connections = 0;
  proxy.on("connection", (client) => {
    const connection = connections++;
    const recorder = FrameRecorder.forTest(label);
    const server = new WebSocket(serverUrl, { perMessageDeflate: false });
    const waiting: string[] = [];
    const pass = (dir: Direction, data: RawData, send: (text: string) => void): void => {
      const text = (data as Buffer).toString("utf8");
      const msg = JSON.parse(text) as Record<string, unknown>;
      recorder.record(dir, msg);
      frames.push({ connection, dir, msg });
      send(text);
    };
    client.on("message", (data) => pass("c2s", data, (text) => (server.readyState === WebSocket.OPEN ? server.send(text) : waiting.push(text))));
    server.on("open", () => waiting.splice(0).forEach((text) => server.send(text)));
    server.on("message", (data) => pass("s2c", data, (text) => client.send(text)));
    const end = (): void => {
      recorder.flush();
      client.terminate();
      server.terminate();
    };
    for (const socket of [client, server]) socket.on("close", end).on("error", end);
  });
  const { port } = proxy.address() as { port: number };
  return {
    url: `ws://127.0.0.1:${port}`,
    frames,
    async [Symbol.asyncDispose]() {
      for (const client of proxy.clients) client.terminate();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
