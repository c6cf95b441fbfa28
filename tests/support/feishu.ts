import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFeishuPort, Documents, FeishuChannel, FeishuSettings, type SqlDatabase } from "@foldcast/feishu-channel";
import { startFakeFeishu, type FakeFeishu, type ReaderMessage } from "@foldcast/feishu-channel/fake";
import type { ClientTransport } from "@foldcast/protocol-core/client";
import { WebSocket } from "ws";

const Database = createRequire(import.meta.url)("better-sqlite3") as new (file: string) => SqlDatabase;

/** A link as any client of the server has it. */
export async function linkTo(url: string): Promise<ClientTransport> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const early: string[] = [];
  let receive = (text: string): void => void early.push(text);
  socket.on("message", (data) => receive((data as Buffer).toString("utf8")));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  return {
    send: (text) => {
      if (process.env["FEISHU_WIRE"] !== undefined) console.log(">", Date.now() % 100000, text.slice(0, 300));
      socket.send(text);
    },
    listen(onText, closed) {
      receive = (text) => {
        if (process.env["FEISHU_WIRE"] !== undefined) console.log("<", Date.now() % 100000, text.slice(0, 300));
        onText(text);
      };
      for (const text of early.splice(0)) onText(text);
      socket.on("close", () => closed("the socket was closed"));
    },
    close: () => socket.close(),
  };
}

export interface FeishuWorld extends AsyncDisposable {
  readonly fake: FakeFeishu;
  readonly chatId: string;
  readonly ada: string;
  readonly ben: string;
  /** Ada writes to the bot in the group. */
  say(text: string, from?: string): { readonly messageId: string };
  /** What the chat shows from the bot, oldest first. */
  said(): readonly ReaderMessage[];
  /** Ends the channel and starts it again with the same ledger, on another server where one is named. */
  restart(url?: string): Promise<void>;
}

/** A group with Ada and Ben, the bot, and the channel between it and a running server. */
export async function startFeishu(serverUrl: string, settings: Partial<FeishuSettings> = {}): Promise<FeishuWorld> {
  const fake = await startFakeFeishu();
  const [ada, ben] = [fake.addPerson({ name: "Ada" }).openId, fake.addPerson({ name: "Ben" }).openId];
  const { chatId } = fake.addChat({ name: "team", people: [ada, ben] });
  const dataDir = mkdtempSync(join(tmpdir(), "feishu-"));
  const open = async (url: string): Promise<{ channel: FeishuChannel; database: SqlDatabase }> => {
    const database = new Database(join(dataDir, "feishu.sqlite"));
    const port = createFeishuPort({ appId: fake.app.appId, appSecret: fake.app.appSecret, baseUrl: fake.baseUrl });
    const clock = { now: () => fake.now(), sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref()) };
    const channel = new FeishuChannel({
      port, clock, dataDir, version: "0", connect: () => linkTo(url), documents: new Documents(database, clock.now),
      log: (message, fields) => {
        if (process.env["FEISHU_LOG"] !== undefined) console.log(message, JSON.stringify(fields));
      },
      settings: FeishuSettings.parse({ appId: fake.app.appId, appSecret: "x", cwd: "/w", locale: "en", allowUsers: [ada], allowChats: [chatId], writeIntervalMs: 120, retryMs: 500, idleMs: 1_000, ...settings }),
    });
    await channel.start();
    return { channel, database };
  };
  let running = await open(serverUrl);
  const stop = async (): Promise<void> => {
    await running.channel.close();
    running.database.close();
  };
  return {
    fake, chatId, ada, ben,
    say: (text, from = ada) => fake.say({ chatId, from, text, mention: true }),
    said: () => fake.chat({ chatId }).messages.filter((message) => message.sender.kind === "app"),
    restart: async (url = serverUrl) => {
      await stop();
      running = await open(url);
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await fake.close();
    },
  };
}
