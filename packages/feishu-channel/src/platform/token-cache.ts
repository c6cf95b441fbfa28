import type { Redactor } from "./redact.ts";
import type { SdkTokenCache } from "./sdk.ts";

/**
 * The tenant token of one client. The SDK's own cache belongs to the whole process and cannot be emptied; a token that
 * Feishu no longer takes must go. Tokens are made known to the redactor the moment they come.
 */
export class TokenCache implements SdkTokenCache {
  readonly #values = new Map<string, { readonly value: unknown; readonly expiresAtMs: number }>();
  readonly #redactor: Redactor;
  #waiting: (() => void)[] = [];

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  get(key: symbol | string, options?: { readonly namespace?: string }): Promise<unknown> {
    const entry = this.#values.get(keyOf(key, options));
    return Promise.resolve(entry !== undefined && entry.expiresAtMs > Date.now() ? entry.value : undefined);
  }

  set(key: symbol | string, value: unknown, expiresAtMs = Infinity, options?: { readonly namespace?: string }): Promise<boolean> {
    if (typeof value === "string") this.#redactor.add(value);
    this.#values.set(keyOf(key, options), { value, expiresAtMs: usableUntil(expiresAtMs) });
    this.#wake();
    return Promise.resolve(true);
  }

  clear(): void {
    this.#values.clear();
  }

  get fresh(): boolean {
    const now = Date.now();
    return [...this.#values.values()].some((entry) => entry.expiresAtMs > now);
  }

  /** Resolves when a token has come, or when the call that went to fetch it has `failed`. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  failed(): void {
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The SDK (1.74.0) takes three minutes off a token's life. Of a short one it leaves nothing, and each call would wait for a token of its own. */
const SDK_MARGIN_MS = 180_000;

function usableUntil(expiresAtMs: number): number {
  const life = expiresAtMs + SDK_MARGIN_MS - Date.now();
  return life > 0 && life < 2 * SDK_MARGIN_MS ? expiresAtMs + SDK_MARGIN_MS - life / 2 : expiresAtMs;
}

function keyOf(key: symbol | string, options?: { readonly namespace?: string }): string {
  return `${options?.namespace ?? ""}/${key.toString()}`;
}
