import { Agent, request, type AgentOptions, type ClientRequestArgs, type IncomingMessage } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { connect as tlsConnect } from "node:tls";
import type { Duplex } from "node:stream";
import { FeishuConfigError } from "./base-url.ts";

/** `environment`: HTTPS_PROXY, HTTP_PROXY and NO_PROXY as programs usually read them; `none`; or the URL of an http proxy. */
export type ProxyChoice = "environment" | "none" | (string & {});

export interface Agents {
  readonly http: Agent;
  readonly https: SecureAgent;
  /** Where calls go through, for the log, without credentials; null for direct connections. */
  readonly via: string | null;
}

/**
 * The agents for REST calls and for the long connection alike: the SDK's HTTP client reads proxies from the environment
 * even for this machine, its WebSocket client never does; so both are given theirs. Loopback addresses always go direct.
 */
export function makeAgents(baseUrl: string, choice: ProxyChoice, environment: Readonly<Record<string, string | undefined>>): Agents {
  const options: AgentOptions = { keepAlive: true, maxSockets: 64 };
  const proxy = chooseProxy(new URL(baseUrl), choice, environment);
  if (proxy === null) return { http: new Agent(options), https: new SecureAgent(options), via: null };
  return { http: new TunnelAgent(proxy, options), https: new SecureTunnelAgent(proxy, options), via: proxy.origin };
}

/** The proxy for this target, or null. */
export function chooseProxy(target: URL, choice: ProxyChoice, environment: Readonly<Record<string, string | undefined>>): URL | null {
  if (choice === "none" || isLoopback(target.hostname)) return null;
  const read = (name: string): string => (environment[name.toLowerCase()] ?? environment[name.toUpperCase()] ?? "").trim();
  let address: string = choice;
  if (choice === "environment") {
    if (isExempt(target.hostname, read("no_proxy"))) return null;
    address = (target.protocol === "https:" ? read("https_proxy") : "") || read("http_proxy") || read("all_proxy");
    if (address === "") return null;
  }
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== "http:") throw new FeishuConfigError("the proxy for Feishu must be an http:// URL");
  return url;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function isExempt(host: string, noProxy: string): boolean {
  const names = noProxy.split(/[\s,]+/).map((name) => name.toLowerCase().replace(/:\d+$/, "").replace(/^\*?\./, ""));
  return names.some((name) => name === "*" || (name !== "" && (host === name || host.endsWith(`.${name}`))));
}

type OnSocket = (error: Error | null, socket?: Duplex) => void;

class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: ClientRequestArgs, onSocket: OnSocket): undefined {
    openTunnel(this.#proxy, options, onSocket);
  }
}

class SecureTunnelAgent extends SecureAgent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: ClientRequestArgs, onSocket: OnSocket): undefined {
    openTunnel(this.#proxy, options, (error, socket) => {
      if (socket === undefined) return onSocket(error);
      const secure = tlsConnect({ ...(options as object), socket, servername: options.host ?? "" });
      secure.once("secureConnect", () => onSocket(null, secure));
      secure.once("error", (failure: Error) => onSocket(failure));
    });
  }
}

/** The failure of the proxy itself, before anything reached Feishu. */
class ProxyError extends Error {
  readonly code = "ERR_PROXY";
}

function openTunnel(proxy: URL, target: ClientRequestArgs, onSocket: OnSocket): void {
  const authority = `${target.host ?? "localhost"}:${target.port ?? 443}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = credentials === ":" ? {} : { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
  const ask = request({ host: proxy.hostname, port: proxy.port || 80, method: "CONNECT", path: authority, headers: { host: authority, ...authorization }, agent: false, timeout: 15_000 });
  ask.once("connect", (answer: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (answer.statusCode !== 200) {
      socket.destroy();
      return onSocket(new ProxyError(`the proxy answered ${answer.statusCode ?? 0}`));
    }
    if (head.length > 0) socket.unshift(head);
    onSocket(null, socket);
  });
  ask.once("timeout", () => ask.destroy(new ProxyError("the proxy does not answer")));
  ask.once("error", (error) => onSocket(error instanceof ProxyError ? error : new ProxyError(`the proxy cannot be reached: ${error.message}`)));
  ask.end();
}
