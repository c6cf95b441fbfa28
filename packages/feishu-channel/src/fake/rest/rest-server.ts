import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { App } from "../chat/chat-store.ts";
import type { VirtualClock } from "../clock.ts";
import type { Fault, FaultPlan } from "../faults.ts";
import { isJson, Refused, type Json } from "../refusal.ts";
import type { LongConnection } from "../socket/long-connection.ts";
import { readForm } from "./multipart.ts";
import { rateLimited } from "./rate-rules.ts";
import { asBody, findRoute, type RouteAnswer, type Services } from "./routes.ts";

const maxBody = 64 * 1024 * 1024;
const tokenMs = 7_200_000;

/** One call as the server saw it. `code` is null where the client got no answer. */
export interface CallRecord {
  readonly api: string;
  readonly appId: string | null;
  readonly atMs: number;
  readonly bytes: number;
  readonly code: number | null;
  readonly status: number | null;
  /** What the call was about: a card, message or chat id. */
  readonly target: string | null;
  readonly fault: Fault["kind"] | null;
}

export interface RestParts {
  readonly services: Services;
  readonly clock: VirtualClock;
  readonly connection: LongConnection;
  readonly faults: FaultPlan;
  /** Every path outside Feishu's own: control and the demo page. True when it was answered. */
  readonly other: (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<boolean>;
  /** Discovery answers with this code instead of an address; null for none. */
  readonly discoveryCode: () => number | null;
  readonly onCall: (call: CallRecord) => void;
}

/** The HTTP side: tokens, discovery, the REST calls, and the faults that are planned for them. */
export class RestServer {
  readonly http: Server;
  readonly #parts: RestParts;
  readonly #tokens = new Map<string, { readonly appId: string; readonly until: number }>();
  #count = 0;

  constructor(parts: RestParts) {
    this.#parts = parts;
    this.http = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (!response.headersSent) answer(response, 500, { code: 2200, msg: `internal error: ${String(error)}` });
        else response.destroy();
      });
    });
    this.http.on("upgrade", (request, stream, head) => parts.connection.upgrade(request, stream, head));
  }

  /** Tokens given so far are taken no more. */
  dropTokens(): void {
    this.#tokens.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const url = new URL(request.url ?? "/", "http://localhost");
    if (await this.#parts.other(request, response, body)) return;
    if (url.pathname.endsWith("/callback/ws/endpoint")) return this.#faulty("discovery", null, response, body, null, () => this.#discover(request, body));
    if (url.pathname.endsWith("/auth/v3/tenant_access_token/internal")) return this.#faulty("token", null, response, body, null, () => this.#token(body));
    const found = findRoute(request.method ?? "GET", url.pathname);
    if (found === undefined) return answer(response, 404, { code: 404, msg: `no such call: ${request.method ?? ""} ${url.pathname}` });
    const { route, path } = found;
    let app: App | null = null;
    await this.#faulty(route.api, () => app, response, body, path[0] ?? null, () => {
      app = this.#authorize(request, route.api);
      this.#parts.services.rates.call(app.appId, route.api);
      const form = readForm(request.headers["content-type"], body);
      return route.handle(this.#parts.services, { app, path, query: url.searchParams, body: form === null ? asBody(parse(body)) : {}, form });
    });
  }

  /** Carries a call out with the faults that fire on it, and notes it. */
  async #faulty(api: string, appOf: (() => App | null) | null, response: ServerResponse, body: Buffer, target: string | null, act: () => RouteAnswer): Promise<void> {
    const { faults, clock, connection, services, onCall } = this.#parts;
    const firing = faults.onCall(api);
    const fault = firing.find(({ kind }) => !["closeSocket", "silentSocket", "clockJump"].includes(kind)) ?? null;
    const note = (status: number | null, code: number | null): void =>
      onCall({ api, appId: appOf?.()?.appId ?? null, atMs: clock.now(), bytes: body.length, code, status, target, fault: fault?.kind ?? null });
    try {
      const dropped = (): void => {
        note(null, null);
        response.destroy();
      };
      const failed = (status: number): void => {
        note(status, null);
        answer(response, status, { code: 2200, msg: "internal error" });
      };
      if (fault?.kind === "cut") return dropped();
      if (fault?.kind === "slow" && fault.when === "before") await pause(fault.delayMs);
      if (fault?.kind === "serverError" && !fault.effect) return failed(fault.status);
      if (fault?.kind === "refuse") throw new Refused(fault.code, fault.msg, fault.status ?? 400);
      if (fault?.kind === "rateLimit") {
        services.rates.pause(api, fault.resetSeconds * 1_000);
        throw rateLimited(fault.resetSeconds);
      }
      const result = act();
      if (fault?.kind === "lostAnswer") return dropped();
      if (fault?.kind === "serverError") return failed(fault.status);
      if (fault?.kind === "slow") await pause(fault.delayMs);
      note(200, 0);
      if ("file" in result) answerFile(response, result.file);
      else answer(response, 200, { code: 0, msg: "success", ...("data" in result ? { data: result.data } : result.top) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      note(error.status, error.code);
      answer(response, error.status, { code: error.code, msg: error.message }, error.headers);
    } finally {
      for (const side of firing) {
        if (side.kind === "closeSocket") connection.closeAll();
        if (side.kind === "silentSocket") connection.silenceAll();
        if (side.kind === "clockJump") clock.advance(side.ms);
      }
    }
  }

  #authorize(request: IncomingMessage, api: string): App {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const { rules, store } = this.#parts.services;
    if (token === undefined) {
      rules.note("token", api, "no token");
      throw new Refused(99991661, "missing access token for authorization");
    }
    const known = this.#tokens.get(token);
    const app = known === undefined || known.until <= this.#parts.clock.now() ? undefined : store.apps.get(known.appId);
    if (app === undefined) throw new Refused(99991663, "invalid access token for authorization");
    return app;
  }

  #token(body: Buffer): RouteAnswer {
    const { app_id: appId, app_secret: secret } = asBody(parse(body));
    const app = typeof appId === "string" ? this.#parts.services.store.apps.get(appId) : undefined;
    if (app === undefined) throw new Refused(10003, "invalid param", 200);
    if (app.appSecret !== secret) throw new Refused(10014, "app secret invalid", 200);
    this.#count += 1;
    const token = `t-g1${this.#count.toString().padStart(4, "0")}FAKETENANTTOKENOF${app.appId.slice(4)}`;
    this.#tokens.set(token, { appId: app.appId, until: this.#parts.clock.now() + tokenMs });
    return { top: { tenant_access_token: token, expire: tokenMs / 1_000 } };
  }

  #discover(request: IncomingMessage, body: Buffer): RouteAnswer {
    const { AppID: appId, AppSecret: secret } = asBody(parse(body));
    const app = typeof appId === "string" ? this.#parts.services.store.apps.get(appId) : undefined;
    // The SDK reads `data.URL` before it looks at the code, so `data` is always there.
    const no = (code: number, msg: string): RouteAnswer => ({ top: { code, msg, data: { URL: "", ClientConfig: null } } });
    const ordered = this.#parts.discoveryCode();
    if (ordered !== null) return no(ordered, "ordered by the test");
    if (app?.appSecret !== secret || app === undefined) return no(514, "auth failed");
    const address = this.#parts.connection.address(request.headers.host ?? "localhost", app.appId);
    if (address === null) return no(1000040350, "exceed connection limit");
    return { data: { URL: address, ClientConfig: this.#parts.connection.clientConfig } };
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBody) throw new Refused(10002, "body too large", 413);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parse(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString("utf8") || "{}");
    return isJson(value) ? value : {};
  } catch {
    return {};
  }
}

export function answer(response: ServerResponse, status: number, body: Json, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "x-tt-logid": "20250101000000FAKE", ...headers });
  response.end(JSON.stringify(body));
}

function answerFile(response: ServerResponse, file: { readonly bytes: Uint8Array; readonly contentType: string; readonly name: string | null }): void {
  const disposition = file.name === null ? {} : { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}` };
  response.writeHead(200, { "content-type": file.contentType, ...disposition });
  response.end(file.bytes);
}
