import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";

/** A client that asks one thing after the other and does nothing else. */
export class RoundTrips {
  readonly #socket: WebSocket;
  #answered: () => void = () => undefined;
  #id = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      // Only an answer begins so; what else a server says is no news here.
      if ((data as Buffer).toString("latin1", 0, 5) === '{"id"') this.#answered();
    });
  }

  /** Connected and introduced. */
  static async connect(url: string): Promise<RoundTrips> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const client = new RoundTrips(socket);
    await client.#ask("initialize", { clientInfo: { name: "bench", title: null, version: "1" }, capabilities: { experimentalApi: true } });
    return client;
  }

  /** Milliseconds of a request, the median of so many. */
  async median(requests: number): Promise<number> {
    const times: number[] = [];
    for (let count = 0; count < requests; count++) {
      const began = performance.now();
      await this.#ask("fs/getMetadata", { path: "/home/user/project/src/index.ts" });
      times.push(performance.now() - began);
    }
    return times.sort((a, b) => a - b)[Math.floor(requests / 2)]!;
  }

  close(): void {
    this.#socket.terminate();
  }

  #ask(method: string, params: object): Promise<void> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.send(JSON.stringify({ method, id: ++this.#id, params }));
    });
  }
}

/** Looks until there is something. */
export async function repeatedly<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await delay(10);
  }
}
