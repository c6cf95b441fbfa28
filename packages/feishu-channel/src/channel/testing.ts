import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { emptyTurn, turnOfView } from "@foldcast/protocol-core/view";
import type { Turn } from "@foldcast/protocol-core/wire";
import { memoryDocuments } from "../delivery/testing.ts";
import type { ReaderMessage } from "../fake/index.ts";
import { createFeishuPort } from "../platform/feishu-port.ts";
import { type PortOnFake, startPortOnFake } from "../platform/testing.ts";
import { FeishuChannel } from "./channel.ts";
import { FeishuSettings } from "./config.ts";

type Params = Readonly<Record<string, unknown>>;

/** An answer that does not come. */
export const NEVER = Symbol("never");

/** A server that answers what it is told to. Everything it says comes in one piece, as from a fast server near by. */
class ScriptedServer {
  /** What it was asked, oldest first. */
  readonly asked: { readonly method: string; readonly params: Params }[] = [];
  /** What clients answered to its own requests. */
  readonly answered: Params[] = [];
  /** By method; what is missing here has an answer below. What is thrown is refused in its words. */
  readonly answers = new Map<string, (params: Params) => unknown>();
  /** Said behind the next answer to a method, in one piece with it. */
  readonly behind = new Map<string, readonly object[]>();
  #say: (frame: object) => void = () => undefined;
  #cut: (reason: string) => void = () => undefined;

  connect(): Promise<ClientTransport> {
    return Promise.resolve({
      listen: (receive, closed) => {
        this.#say = (frame) => receive(JSON.stringify(frame));
        this.#cut = closed;
      },
      send: (text) => this.#hear(JSON.parse(text) as Params),
      close: () => undefined,
    });
  }

  say(frame: object): void {
    this.#say(frame);
  }

  /** The connection breaks; the client comes again by itself. */
  cut(): void {
    this.#cut("cut");
  }

  #hear({ id, method, params, ...rest }: Params): void {
    if (typeof method !== "string") return void this.answered.push({ id, ...rest });
    if (id === undefined) return;
    const given = isJsonObject(params) ? params : {};
    this.asked.push({ method, params: given });
    const behind = this.behind.get(method) ?? (method === "turn/start" ? beginningOf(given) : []);
    this.behind.delete(method);
    void Promise.resolve().then(() => {
      const result = (this.answers.get(method) ?? usual(method))(given);
      if (result === NEVER) return;
      this.#say({ id, result });
      for (const frame of behind) this.#say(frame);
    }).catch((error: unknown) => this.#say({ id, error: { code: -32600, message: error instanceof Error ? error.message : String(error) } }));
  }
}

function usual(method: string): (params: Params) => unknown {
  return (params) => {
    switch (method) {
      case "thread/start":
        return { thread: threadOf("th", String(params["cwd"])), model: params["model"] ?? null };
      case "thread/resume":
      case "thread/read":
        return { thread: threadOf(String(params["threadId"]), "/w"), model: null };
      case "turn/start":
        return { turn: turnOf("turn") };
      case "foldcast/interaction/answer":
        return { status: "accepted", message: "", open: [], command: null };
      default:
        return { data: [] };
    }
  };
}

/** A turn begins with the message that was sent. */
function beginningOf({ threadId, clientUserMessageId: clientId, input: content }: Params): readonly object[] {
  return [
    { method: "turn/started", params: { threadId, turn: turnOf("turn") } },
    { method: "item/started", params: { threadId, turnId: "turn", startedAtMs: 0, item: { type: "userMessage", id: "u", clientId, content } } },
  ];
}

export function threadOf(id: string, cwd: string, turns: readonly Turn[] = []): object {
  return { id, name: null, preview: "", model: null, cwd, status: { type: "idle" }, turns };
}

export function turnOf(id: string, change: Partial<Turn> = {}): Turn {
  return { ...turnOfView(emptyTurn(id)), ...change };
}

/** A channel between a scripted server and the fake Feishu, whose clock is the channel's. */
export interface ChannelWorld {
  readonly feishu: PortOnFake;
  readonly server: ScriptedServer;
  readonly documents: ReturnType<typeof memoryDocuments>;
  /** What the bot said anywhere, oldest first. */
  readonly said: () => readonly ReaderMessage[];
  /** Ends the channel and starts it again on the same ledger. */
  readonly restart: (change?: { readonly settings?: Partial<FeishuSettings>; readonly before?: () => void }) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startChannelWorld(settings: Partial<FeishuSettings> = {}, shared: { readonly appId?: string; readonly documents?: ChannelWorld["documents"] } = {}): Promise<ChannelWorld> {
  const feishu = await startPortOnFake(shared.appId === undefined ? {} : { fake: { app: { appId: shared.appId } } });
  const { fake } = feishu;
  const server = new ScriptedServer();
  const documents = shared.documents ?? memoryDocuments(() => fake.now());
  const dataDir = mkdtempSync(join(tmpdir(), "feishu-channel-"));
  const open = async (change: Partial<FeishuSettings>): Promise<FeishuChannel> => {
    const { appId, appSecret } = fake.app;
    const channel = new FeishuChannel({
      port: createFeishuPort({ appId, appSecret, baseUrl: fake.baseUrl }), connect: () => server.connect(), documents, dataDir, version: "0", log: () => undefined,
      clock: { now: () => fake.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)).unref()) },
      settings: FeishuSettings.parse({ appId, appSecret, cwd: "/w", locale: "en", allowChats: [feishu.chatId], retryMs: 50, ...settings, ...change }),
    });
    await channel.start();
    return channel;
  };
  let running = await open({});
  return {
    feishu, server, documents,
    said: () => fake.chats().flatMap(({ messages }) => messages).filter(({ sender }) => sender.kind === "app"),
    restart: async ({ settings: change = {}, before } = {}) => {
      await running.close();
      before?.();
      running = await open(change);
    },
    close: async () => {
      await running.close();
      await feishu.close();
    },
  };
}
