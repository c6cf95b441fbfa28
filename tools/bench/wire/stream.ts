import type { CountingClient } from "./counting.ts";
import { promptFor, type StreamingServer } from "./servers.ts";

/** Several clients that watch one thread of a server. */
export class Watched {
  readonly #clients: readonly CountingClient[];
  readonly #threadId: string;

  private constructor(clients: readonly CountingClient[], threadId: string) {
    this.#clients = clients;
    this.#threadId = threadId;
  }

  /** A new thread, used once with `warmUp` deltas so that others can join it. */
  static async start(server: StreamingServer, clients: number, warmUp: number): Promise<Watched> {
    const first = await server.client();
    const { thread } = await first.request<{ thread: { id: string } }>("thread/start", { model: server.model });
    const watched = new Watched([first], thread.id);
    await watched.stream(warmUp);
    const all = [first];
    while (all.length < clients) {
      const client = await server.client();
      await client.request("thread/resume", { threadId: thread.id, excludeTurns: true });
      all.push(client);
    }
    return new Watched(all, thread.id);
  }

  /** Plays a turn of `deltas` deltas; milliseconds from the request until every client has all frames and the turn's end. */
  async stream(deltas: number): Promise<number> {
    const before = this.#clients.map((client) => client.deltas);
    const began = performance.now();
    await this.#clients[0]!.request("turn/start", { threadId: this.#threadId, input: [{ type: "text", text: promptFor(deltas), text_elements: [] }] });
    await Promise.all(this.#clients.map((client) => client.turns(1)));
    const ms = performance.now() - began;
    this.#clients.forEach((client, at) => {
      const got = client.deltas - before[at]!;
      if (got !== deltas) throw new Error(`client ${String(at + 1)} got ${String(got)} of ${String(deltas)} deltas`);
    });
    return ms;
  }
}
