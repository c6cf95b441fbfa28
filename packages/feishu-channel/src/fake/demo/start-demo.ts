import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { startFakeFeishu, type FakeFeishu, type FakeOptions } from "../fake-feishu.ts";

export interface Demo {
  readonly fake: FakeFeishu;
  /** The page, for a browser; also the base URL for the channel. */
  readonly url: string;
  readonly appId: string;
  readonly appSecret: string;
  /** Who writes in the page, and a second person in the group. */
  readonly person: { readonly openId: string };
  readonly colleague: { readonly openId: string };
  readonly directChatId: string;
  readonly groupChatId: string;
  close(): Promise<void>;
}

export interface DemoOptions {
  readonly host?: string;
  readonly port?: number;
  readonly fake?: Omit<FakeOptions, "host" | "port">;
}

const types: Readonly<Record<string, string>> = { html: "text/html; charset=utf-8", css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" };
const pages = new Set(["index.html", "style.css", "chat.js", "card.js", "elements.js", "markdown.js", "markdown-view.js"]);
/** The page uses nothing from elsewhere, and what models write must not make it. */
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The fake Feishu with two people, a direct chat with the bot and a group, and a page that shows the chats as their readers
 * see them, where one can write and press. Missed events are pushed when the channel connects.
 */
export async function startDemo(options: DemoOptions = {}): Promise<Demo> {
  const { host = "127.0.0.1", port = 0 } = options;
  const fake = await startFakeFeishu({ redeliverOnConnect: true, ...options.fake, host, port });
  fake.alsoServe((request, response) => Promise.resolve(servePage(fake, request.url ?? "/", request.method ?? "GET", response)));
  const person = fake.addPerson({ name: "我 (you)" });
  const colleague = fake.addPerson({ name: "同事 (colleague)" });
  const directChatId = fake.addChat({ mode: "p2p", name: fake.app.botName, people: [person.openId] }).chatId;
  const groupChatId = fake.addChat({ name: "团队 (team)", people: [person.openId, colleague.openId] }).chatId;
  return { fake, url: fake.baseUrl, appId: fake.app.appId, appSecret: fake.app.appSecret, person, colleague, directChatId, groupChatId, close: () => fake.close() };
}

function servePage(fake: FakeFeishu, url: string, method: string, response: ServerResponse): boolean {
  const path = new URL(url, "http://localhost").pathname;
  if (method !== "GET") return false;
  if (path.startsWith("/demo/file/")) {
    const file = fake.file({ key: decodeURIComponent(path.slice("/demo/file/".length)) });
    if (file === null) return send(response, 404, "text/plain", "no such file");
    // Only pictures are shown in place; anything else that somebody sent must not run here.
    const picture = file.contentType.startsWith("image/") || file.key.startsWith("img_");
    return send(response, 200, picture ? "image/png" : "application/octet-stream", Buffer.from(file.bytes));
  }
  const name = path === "/" ? "index.html" : path.replace(/^\/demo\//, "");
  if (!pages.has(name)) return false;
  return send(response, 200, types[name.split(".").at(-1) ?? ""] ?? "text/plain", readFileSync(new URL(`page/${name}`, import.meta.url)));
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): true {
  response.writeHead(status, { "content-type": type, "content-security-policy": policy, "x-content-type-options": "nosniff", "cache-control": "no-store" });
  response.end(body);
  return true;
}
