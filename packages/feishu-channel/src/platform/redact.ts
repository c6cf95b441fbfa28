/** Where the platform writes its log; each line is one string without secrets and without anything that people wrote. */
export interface PlatformLog {
  error(line: string): void;
  warn(line: string): void;
  info(line: string): void;
  debug(line: string): void;
}

/** The logger shape of the SDK; it hands over strings, errors with whole requests, and arrays of both. */
export interface SdkLogger {
  error(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  debug(...parts: unknown[]): void;
  trace(...parts: unknown[]): void;
}

const maxLineLength = 600;
const hidden = "‹hidden›";
/** Characters from which on a secret is no ordinary word. */
const UNMISTAKABLE = 16;

/** Secrets by their look, for those that were never made known: bearer headers, tokens, members named like secrets, queries of URLs. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer)\s+[^\s"',;]+/gi, `$1 ${hidden}`],
  [/\b[tuac]-[A-Za-z0-9._-]{12,}/g, hidden],
  [/((?:app_?secret|tenant_access_token|app_access_token|user_access_token|encrypt_?key|access_key|ticket|token)["']?\s*[:=]\s*["']?)[^"'&\s,}]+/gi, `$1${hidden}`],
  [/\b((?:https?|wss?):\/\/[^\s"'?]+)\?[^\s"']*/gi, `$1?${hidden}`],
];

/** Events of people reach the SDK's debug log as `…; data: {whole body}`; everything from there on is dropped. */
const bodyStart = /\bdata:\s/i;

/**
 * Keeps secrets out of every log line. The SDK logs the app secret, tenant tokens, the ticket of its connection and the
 * body of each event by itself: objects are therefore never written but told by name, code, status and path only, and
 * strings lose known secrets, anything that looks like one, and event bodies.
 */
export class Redactor {
  readonly #known = new Set<string>();

  /** Makes a secret known by its value; short ones are not taken, they would hide ordinary words. */
  add(secret: string): void {
    if (secret.length >= 6) this.#known.add(secret);
    // Tokens change every two hours; what was replaced long ago is dead and need not be kept.
    if (this.#known.size > 50) this.#known.delete(this.#known.values().next().value!);
  }

  line(text: string): string {
    let safe = text;
    for (const secret of this.#known) safe = safe.replaceAll(secret, hidden);
    for (const [pattern, replacement] of patterns) safe = safe.replace(pattern, replacement);
    const body = bodyStart.exec(safe);
    if (body !== null) safe = `${safe.slice(0, body.index)}data: ${hidden}`;
    safe = safe.replaceAll(/\s+/g, " ").trim();
    return safe.length > maxLineLength ? `${safe.slice(0, maxLineLength)}…` : safe;
  }

  /** The same data without the app's own secrets in any text: an agent that reads them must not be able to tell them to a chat. */
  withoutKnown<T>(data: T): T {
    const secrets = [...this.#known].filter((secret) => secret.length >= UNMISTAKABLE);
    return hide(data, secrets) as T;
  }

  /** One line for whatever the SDK logs or throws. */
  describe(part: unknown): string {
    return this.line(describe(part, 0));
  }
}

/** A logger to hand to the SDK. Whatever it calls an error reaches the callers as an outcome, so all of it is for debugging only. */
export function redactingLogger(redactor: Redactor, log: PlatformLog): SdkLogger {
  const write = (...parts: unknown[]): void => log.debug(`sdk: ${parts.map((part) => redactor.describe(part)).join(" ")}`);
  return { error: write, warn: write, info: write, debug: write, trace: write };
}

function hide(data: unknown, secrets: readonly string[]): unknown {
  if (typeof data === "string") return secrets.reduce((safe, secret) => safe.replaceAll(secret, hidden), data);
  if (Array.isArray(data)) return data.map((inner) => hide(inner, secrets));
  return isObject(data) ? Object.fromEntries(Object.entries(data).map(([key, inner]) => [key, hide(inner, secrets)])) : data;
}

function describe(part: unknown, depth: number): string {
  if (typeof part === "string") return part;
  if (part === null || typeof part !== "object") return String(part);
  if (Array.isArray(part)) return depth > 2 ? "[…]" : part.slice(0, 8).map((inner) => describe(inner, depth + 1)).join(" ");
  const facts = requestFacts(part);
  if (part instanceof Error) return [part.name, part.message, ...facts].join(" ");
  return facts.length > 0 ? facts.join(" ") : `{${Object.keys(part).slice(0, 12).join(",")}}`;
}

/** Method, path, status and Feishu's code of an HTTP error; never its headers or bodies. */
function requestFacts(error: object): string[] {
  const { code, config, response } = error as { code?: unknown; config?: unknown; response?: unknown };
  const facts: string[] = [];
  if (typeof code === "string" || typeof code === "number") facts.push(`code=${code}`);
  if (isObject(config)) facts.push(`${typeof config["method"] === "string" ? config["method"] : "?"} ${pathOf(config["url"])}`);
  if (isObject(response)) {
    facts.push(`status=${String(response["status"])}`);
    const data = response["data"];
    if (isObject(data) && typeof data["code"] === "number") facts.push(`feishu=${data["code"]}`);
  }
  return facts;
}

function pathOf(url: unknown): string {
  return typeof url === "string" ? url.replace(/[?#].*$/, "") : "?";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
