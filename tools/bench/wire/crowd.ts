import type { CountingClient } from "./counting.ts";
import { promptFor, type StreamingServer } from "./servers.ts";

const AT_ONCE = 32;

/** Many threads that one client watches, each with a harness of its own. */
export class Crowd {
  readonly #client: CountingClient;
  readonly #threadIds: readonly string[];

  private constructor(client: CountingClient, threadIds: readonly string[]) {
    this.#client = client;
    this.#threadIds = threadIds;
  }

  /** New threads; each has played a turn of `warmUp` deltas. */
  static async start(server: StreamingServer, threads: number, warmUp: number): Promise<Crowd> {
    const client = await server.client();
    const ids: string[] = [];
    while (ids.length < threads) ids.push((await client.request<{ thread: { id: string } }>("thread/start", { model: server.model })).thread.id);
    const crowd = new Crowd(client, ids);
    await crowd.stream(warmUp);
    return crowd;
  }

  /** A turn of `deltas` deltas on every thread at the same time; milliseconds until the last one has ended. */
  async stream(deltas: number): Promise<number> {
    const before = this.#client.deltas;
    const began = performance.now();
    const input = [{ type: "text", text: promptFor(deltas), text_elements: [] }];
    // The real server refuses too many requests at once.
    for (let at = 0; at < this.#threadIds.length; at += AT_ONCE) {
      await Promise.all(this.#threadIds.slice(at, at + AT_ONCE).map((threadId) => this.#client.request("turn/start", { threadId, input })));
    }
    await this.#client.turns(this.#threadIds.length);
    const ms = performance.now() - began;
    const got = this.#client.deltas - before;
    if (got !== deltas * this.#threadIds.length) throw new Error(`got ${String(got)} deltas of ${String(deltas * this.#threadIds.length)}`);
    return ms;
  }

  /** Archives the threads and lets their client go. */
  async end(): Promise<void> {
    for (const threadId of this.#threadIds) await this.#client.request("thread/archive", { threadId });
    this.#client.close();
  }
}
