import { PassThrough } from "node:stream";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { WebSocket } from "ws";
import { Host } from "../host.ts";
import type { HostOptions } from "../host.ts";
import { silentLogger } from "../log/logger.ts";
import { serveStdio } from "../rpc/stdio.ts";
import { recordConnection } from "./record.ts";
import { FakeAdapter, fakeEntry } from "./fake-adapter.ts";

export type WireFrame = Readonly<Record<string, unknown>>;
/** Members that tests look at, whatever the type of the item. */
export interface ItemView {
  type: string;
  id: string;
  text?: string;
  phase?: string | null;
  clientId?: string | null;
}
export interface TurnView {
  id: string;
  status: string;
  items: ItemView[];
  itemsView: string;
}
interface ThreadView {
  id: string;
  name: string | null;
  model: string | null;
  status: { type: string };
  turns: TurnView[];
}
interface ReadStateView {
  firstUnread: unknown;
  revision: string;
}

/** A notification; of the members of its parameters it has those of its method. */
export interface Notice {
  method: string;
  params: {
    threadId: string;
    turnId: string;
    thread: ThreadView;
    turn: TurnView;
    item: ItemView;
    status: { type: string };
    delta: string;
    diff: string;
    threadName: string;
    readState: ReadStateView;
    tokenUsage: Record<"last" | "total", { totalTokens: number }>;
  };
}
/** A result; of these members it has those of its method. */
export interface Result {
  thread: ThreadView;
  turn: TurnView;
  model: string;
  userAgent: string;
  config: { model: string };
  data: (TurnView & { turnId: string; item: ItemView; isDefault: boolean })[];
  nextCursor: string | null;
  backwardsCursor: string | null;
  initialTurnsPage: { data: TurnView[] };
  turnsBackwardsCursor: string;
  itemsBackwardsCursor: string;
  readState: ReadStateView;
}
export interface Answer {
  result?: Result;
  error?: { code: number; message: string; data?: unknown };
}

/** A small client of the wire for the tests of the host: it keeps every frame in the order in which it came. */
export class TestClient {
  readonly frames: WireFrame[] = [];
  closed = false;
  readonly #write: (text: string) => void;
  readonly #waiters = new Set<() => void>();
  readonly #record = recordConnection();
  #nextId = 1;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  receive(text: string): void {
    const frame: unknown = JSON.parse(text);
    if (!isJsonObject(frame)) throw new Error(`not an object: ${text}`);
    this.frames.push(frame);
    this.#record("s2c", frame);
    this.#wake();
  }
  handleClosed(): void {
    this.closed = true;
    this.#wake();
  }

  sendRaw(text: string): void {
    try {
      this.#record("c2s", JSON.parse(text));
    } catch {
      // No frame, and no answer to it.
    }
    this.#write(text);
  }
  async request(method: string, params?: unknown, timeoutMs?: number): Promise<Answer> {
    const id = this.#nextId++;
    const frame = { id, method, ...(params === undefined ? {} : { params }) };
    this.#record("c2s", frame);
    this.#write(JSON.stringify(frame));
    return await this.until(`the answer to ${method}`, () => this.frames.find((each) => each["id"] === id && !("method" in each)), timeoutMs);
  }
  /** The result; throws the error's message where there is one. */
  async call(method: string, params?: unknown, timeoutMs?: number): Promise<Result> {
    const answer = await this.request(method, params, timeoutMs);
    if (answer.error !== undefined || answer.result === undefined) throw new Error(answer.error?.message ?? "no result");
    return answer.result;
  }
  async initialize(options: { name?: string; capabilities?: object } = {}): Promise<this> {
    await this.call("initialize", { clientInfo: { name: options.name ?? "test", version: "1" }, capabilities: { experimentalApi: true, ...options.capabilities } });
    return this;
  }

  get notices(): Notice[] {
    return this.frames.filter((frame) => "method" in frame) as unknown as Notice[];
  }
  of(method: string): Notice[] {
    return this.notices.filter((notice) => notice.method === method);
  }
  notice(method: string, matches: (notice: Notice) => boolean = () => true): Promise<Notice> {
    return this.until(method, () => this.of(method).find(matches));
  }
  /** Waits for the n-th end of a turn. */
  async turnsCompleted(count: number): Promise<void> {
    await this.until(`${count} completed turns`, () => (this.of("turn/completed").length >= count ? true : undefined));
  }

  async until<T>(what: string, look: () => T | undefined, timeoutMs = 15_000): Promise<T> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (Date.now() > end) throw new Error(`no ${what}; got ${JSON.stringify(this.frames).slice(-2_000)}`);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.#waiters.delete(done);
          resolve();
        };
        const timer = setTimeout(done, 50);
        this.#waiters.add(done);
      });
    }
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter();
  }
}

/** A client on JSON lines over a pair of streams. */
export function connectStdio(host: Host): TestClient {
  const input = new PassThrough();
  const output = new PassThrough();
  serveStdio(input, output, (transport) => host.connect(transport), () => undefined);
  const client = new TestClient((text) => input.write(`${text}\n`));
  let rest = "";
  output.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) client.receive(line);
  });
  output.on("close", () => client.handleClosed());
  return client;
}

export async function connectWebSocket(url: string, headers: Readonly<Record<string, string>> = {}): Promise<TestClient & { socket: WebSocket }> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const client = Object.assign(new TestClient((text) => socket.send(text)), { socket });
  socket.on("message", (data) => client.receive((data as Buffer).toString("utf8")));
  socket.on("close", () => client.handleClosed());
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return client;
}

export interface TestHost {
  host: Host;
  /** The fake harness; there after the first look at the catalogue, which this has done. */
  adapter: FakeAdapter;
}

/** A host with one fake harness. */
export async function startTestHost(options: Partial<HostOptions> = {}): Promise<TestHost> {
  let adapter: FakeAdapter | undefined;
  const host = new Host({
    harnesses: [fakeEntry((made) => (adapter = made))], dataDir: "/nonexistent", dialect: "auto", log: silentLogger, ...options,
  });
  await host.catalogue.models();
  return { host, adapter: adapter! };
}
