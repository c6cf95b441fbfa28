import { createRequire } from "node:module";
import type { Agent } from "node:http";
import type { SdkLogger } from "./redact.ts";

/*
 * The part of the official SDK that is used, by shape. Its own declarations are 17 MB, which every type check of the
 * project would have to read; and the package is optional, so that it must not be imported when a module is loaded.
 */

export interface SdkModule {
  readonly Client: new (options: SdkClientOptions) => SdkClient;
  readonly WSClient: new (options: SdkWsOptions) => SdkWsClient;
  /** The axios instance that the SDK uses by default; `create` makes a fresh one without its interceptors. */
  readonly defaultHttpInstance: { create(config: HttpDefaults): SdkHttp };
  readonly LoggerLevel: { readonly trace: number };
}

export interface SdkHttp {
  readonly interceptors: { readonly response: { use(onAnswer: (answer: HttpAnswer) => unknown): void } };
}

export interface HttpDefaults {
  readonly timeout: number;
  readonly proxy: false;
  readonly httpAgent: Agent;
  readonly httpsAgent: Agent;
  readonly maxRedirects: number;
  readonly maxContentLength: number;
  readonly maxBodyLength: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly data: unknown;
  readonly config: { readonly $return_headers?: boolean };
}

export interface SdkTokenCache {
  get(key: symbol | string, options?: { readonly namespace?: string }): Promise<unknown>;
  set(key: symbol | string, value: unknown, expiresAtMs?: number, options?: { readonly namespace?: string }): Promise<boolean>;
}

interface SdkCommonOptions {
  readonly appId: string;
  readonly appSecret: string;
  readonly domain: string;
  readonly httpInstance: SdkHttp;
  readonly logger: SdkLogger;
  readonly loggerLevel: number;
}

export interface SdkClientOptions extends SdkCommonOptions {
  readonly cache: SdkTokenCache;
}

export interface SdkWsOptions extends SdkCommonOptions {
  readonly agent?: Agent;
  readonly handshakeTimeoutMs: number;
  readonly wsConfig: { readonly pingTimeout: number };
  readonly onReady: () => void;
  readonly onError: (error: Error) => void;
  readonly onReconnecting: () => void;
  readonly onReconnected: () => void;
}

export interface SdkClient {
  request(request: SdkRequest): Promise<unknown>;
}

export interface SdkRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly data?: object;
  /** Gives the body in place of `data`, which the SDK copies into a plain object. */
  readonly transformRequest?: readonly (() => FormData)[];
  readonly responseType?: "arraybuffer";
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly maxContentLength?: number;
  readonly $return_headers: true;
}

export interface SdkWsClient {
  start(options: { readonly eventDispatcher: { invoke(body: unknown): Promise<unknown> } }): Promise<void>;
  close(options: { readonly force: boolean }): void;
  getConnectionStatus(): {
    readonly state: "idle" | "connecting" | "connected" | "reconnecting" | "failed";
    readonly nextConnectTime?: number;
  };
}

/** Thrown by `start` when the optional package is not there, or is one that this code does not know. */
export class FeishuSdkMissingError extends Error {
  override readonly name = "FeishuSdkMissingError";
}

const sdkName = "@larksuiteoapi/node-sdk";

/** Loads the SDK on first use (6 MB, about half a second). `load` stands in for the module system in tests. */
export function loadSdk(load: (name: string) => unknown = createRequire(import.meta.url)): SdkModule {
  let loaded: unknown;
  try {
    loaded = load(sdkName);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    throw new FeishuSdkMissingError(`The Feishu channel needs the optional package ${sdkName} 1.74.0 (npm install ${sdkName}@1.74.0): ${reason}`, { cause: error });
  }
  if (!isSdk(loaded)) throw new FeishuSdkMissingError(`${sdkName} is there but lacks Client, WSClient or defaultHttpInstance; version 1.74.0 is known to work`);
  return loaded;
}

function isSdk(loaded: unknown): loaded is SdkModule {
  const { Client, WSClient, defaultHttpInstance, LoggerLevel } = (loaded ?? {}) as Record<string, unknown>;
  return (
    typeof Client === "function" && typeof WSClient === "function" && typeof LoggerLevel === "object" &&
    typeof (defaultHttpInstance as { create?: unknown } | undefined)?.create === "function"
  );
}
