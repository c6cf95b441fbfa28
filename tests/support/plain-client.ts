import type { Thread, Turn } from "@foldcast/protocol-core/wire";
import { WireClient, type ReceivedNotification } from "./client.ts";
import { applyNotification, newTurn, turnFromWire, type DesktopTurn, type Dropped } from "./desktop-turns.ts";
import { webSocket } from "./transport.ts";
import { until } from "./wait.ts";

/**
 * A client of the default dialect that follows by state, as a program would: frames fill its turns, and the items that
 * `turn/completed` carries are the last word. It counts completions, of which there may be one an item.
 */
export class PlainClient implements AsyncDisposable {
  readonly wire: WireClient;
  readonly threads = new Map<string, DesktopTurn[]>();
  readonly dropped: Dropped = { completedWithoutStart: 0, deltaWithoutItem: 0, unknownTurn: 0, unknownThread: 0 };
  /** Item id → how often its completion came. */
  readonly completions = new Map<string, number>();
  /** Frames of a thread that is being joined wait here: they may come in one piece with the answer, and go on from it. */
  readonly #held = new Map<string, ReceivedNotification[]>();

  private constructor(wire: WireClient) {
    this.wire = wire;
    wire.on((frame) => {
      const threadId = frame.params["threadId"] as string;
      const held = this.#held.get(threadId);
      if (held !== undefined) held.push(frame);
      else this.#take(threadId, frame);
    });
  }

  static async connect(url: string, extensions?: object): Promise<PlainClient> {
    const client = new PlainClient(new WireClient(await webSocket(url), { label: "plain" }));
    await client.wire.request("initialize", {
      clientInfo: { name: "foldcast-tests", title: null, version: "0.0.0" },
      capabilities: { experimentalApi: true, ...(extensions === undefined ? {} : { extensions }) },
    });
    client.wire.notify("initialized");
    return client;
  }

  /** Until the server offers this model: its program is started once, for what it says of itself. */
  async offered(model: string): Promise<void> {
    await until(`the model ${model}`, async () => {
      const { data } = await this.wire.request<{ data: { id: string }[] }>("model/list", {});
      return data.some(({ id }) => id === model) || undefined;
    }, { timeoutMs: 200_000, everyMs: 200 });
  }

  /** Until some client has a thread open. */
  async threadLoaded(): Promise<void> {
    await until("a loaded thread", async () => (await this.wire.request<{ data: string[] }>("thread/loaded/list", {})).data.length > 0 || undefined, { timeoutMs: 100_000, everyMs: 50 });
  }

  async start(params: { model: string; cwd: string } & Record<string, unknown>): Promise<Thread> {
    const { thread } = await this.wire.request<{ thread: Thread }>("thread/start", params);
    this.threads.set(thread.id, []);
    return thread;
  }

  /** Follows a thread that somebody else started, from what its resume answers on. */
  async join(threadId: string): Promise<void> {
    const held: ReceivedNotification[] = [];
    this.#held.set(threadId, held);
    try {
      const { thread } = await this.wire.request<{ thread: Thread }>("thread/resume", { threadId });
      this.threads.set(threadId, thread.turns.map(turnFromWire));
    } finally {
      this.#held.delete(threadId);
      for (const frame of held) this.#take(threadId, frame);
    }
  }

  /** Resolves when the server took the prompt, with the turn's id. */
  async submit(threadId: string, text: string): Promise<string> {
    const { turn } = await this.wire.request<{ turn: Turn }>("turn/start", { threadId, input: [{ type: "text", text, text_elements: [] }] });
    return turn.id;
  }

  /** Resolves with the turn when it has ended. */
  async prompt(threadId: string, text: string): Promise<DesktopTurn> {
    return this.ended(threadId, await this.submit(threadId, text));
  }

  ended(threadId: string, turnId: string): Promise<DesktopTurn> {
    const turn = (): DesktopTurn | undefined => this.threads.get(threadId)?.find((one) => one.id === turnId);
    return until("the turn's end", () => (turn()?.status === "inProgress" ? undefined : turn()), {
      timeoutMs: 60_000,
      everyMs: 2,
      describe: () => JSON.stringify(turn()).slice(0, 2_000),
    });
  }

  /** The thread's turns as the server reads them from its history. */
  async read(threadId: string): Promise<{ thread: Thread; turns: DesktopTurn[] }> {
    const { thread } = await this.wire.request<{ thread: Thread }>("thread/read", { threadId, includeTurns: true });
    return { thread, turns: thread.turns.map(turnFromWire) };
  }

  close(): Promise<void> {
    return this.wire.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(threadId: string, { method, params }: ReceivedNotification): void {
    const turns = this.threads.get(threadId);
    if (turns === undefined) return;
    applyNotification(turns, { method, params }, this.dropped, "plain");
    if (method === "item/completed") this.#count((params["item"] as { id: string }).id);
    if (method === "turn/completed") takeLastWord(turns, params["turn"] as Turn);
  }

  #count(id: string): void {
    this.completions.set(id, (this.completions.get(id) ?? 0) + 1);
  }
}

function takeLastWord(turns: DesktopTurn[], wire: Turn): void {
  const turn = turns.find((one) => one.id === wire.id) ?? newTurn(wire.id);
  turn.startedAt = wire.startedAt;
  for (const item of wire.items) {
    const at = turn.items.findIndex((one) => one.id === item.id);
    if (at >= 0) turn.items[at] = structuredClone(item);
  }
}
