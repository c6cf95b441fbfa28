import { z } from "zod";
import type { Outcome } from "./outcome.ts";
import { PaceAbortedError, type Pacer } from "./pacer.ts";
import type { ApiName, CallOptions, PaceTarget } from "./port.ts";
import type { Redactor } from "./redact.ts";
import { isStaleToken, localRefusal, readRefusal } from "./refusal.ts";
import type { SdkClient, SdkRequest } from "./sdk.ts";
import type { TokenCache } from "./token-cache.ts";

/** One call of a REST method; `path` starts with `/open-apis/`. */
export interface ApiRequest<T> {
  readonly api: ApiName;
  readonly method: SdkRequest["method"];
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly data?: object;
  readonly form?: FormData;
  readonly target?: PaceTarget;
  readonly timeoutMs?: number;
  /** What the answer must hold for the call to count as done. An answer with code 0 that lacks it is uncertain. */
  readonly answer: z.ZodType<T>;
}

export interface BinaryRequest {
  readonly api: ApiName;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface BinaryAnswer {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Axios gives the headers of a failure as an object of its own class. */
const headersShape = z.custom<object>((value) => typeof value === "object" && value !== null).transform((headers): Readonly<Record<string, unknown>> => ({ ...headers }));
const answerShape = z.object({ status: z.number(), headers: headersShape, data: z.unknown() });
const envelopeShape = z.object({ code: z.number(), msg: z.string().optional() });
const failureShape = z.object({
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  message: z.string().catch(""),
  config: z.object({ url: z.string().optional() }).optional().catch(undefined),
  response: answerShape.optional().catch(undefined),
});

/** The request never left this machine, or was not taken by anyone. */
const neverSent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ERR_PROXY", "ERR_INVALID_URL"]);
const timedOut = new Set(["ECONNABORTED", "ETIMEDOUT", "ERR_CANCELED", "ESOCKETTIMEDOUT"]);
/** Room for Feishu's JSON where a download is refused. */
const refusalBytes = 16 * 1024;
const tokenPath = "tenant_access_token";

/** Makes calls through the SDK's raw client and turns everything that can happen into an outcome. Never throws. */
export class ApiClient {
  readonly #client: SdkClient;
  readonly #tokens: TokenCache;
  readonly #pacer: Pacer;
  readonly #redactor: Redactor;
  readonly #timeoutMs: number;
  #fetchingToken = false;

  constructor(parts: { readonly client: SdkClient; readonly tokens: TokenCache; readonly pacer: Pacer; readonly redactor: Redactor; readonly timeoutMs: number }) {
    this.#client = parts.client;
    this.#tokens = parts.tokens;
    this.#pacer = parts.pacer;
    this.#redactor = parts.redactor;
    this.#timeoutMs = parts.timeoutMs;
  }

  async call<T>(request: ApiRequest<T>, options: CallOptions = {}): Promise<Outcome<T>> {
    const { method, path, params, data, form, timeoutMs = this.#timeoutMs } = request;
    const send = (): Promise<Outcome<T>> =>
      this.#send(timeoutMs, (signal) => ({
        method, url: path, timeout: timeoutMs, signal, $return_headers: true,
        ...(params && { params }), ...(data && { data: this.#redactor.withoutKnown(data) }), ...(form && { transformRequest: [() => form] }),
      }), (answer) => readAnswer(answer, request.answer));
    return this.#paced(request.api, request.target ?? {}, options, send);
  }

  /** A download: the body as it is, or Feishu's JSON when it says no. */
  async download(request: BinaryRequest, options: CallOptions = {}): Promise<Outcome<BinaryAnswer>> {
    const { path, params, timeoutMs, maxBytes } = request;
    const build = (signal: AbortSignal): SdkRequest => ({
      method: "GET", url: path, params, timeout: timeoutMs, signal, responseType: "arraybuffer", maxContentLength: Math.max(maxBytes, refusalBytes), $return_headers: true,
    });
    const send = (): Promise<Outcome<BinaryAnswer>> =>
      this.#send<BinaryAnswer>(timeoutMs, build, (answer) => {
        if (isJsonAnswer(answer.headers["content-type"])) {
          const envelope = envelopeShape.safeParse(parseBody(answer.data));
          if (envelope.success && envelope.data.code !== 0) return refusalOf(answer);
        }
        const bytes = new Uint8Array(answer.data as Buffer);
        return bytes.length > maxBytes ? localRefusal("tooLarge", `${bytes.length} bytes, at most ${maxBytes} are wanted`) : { kind: "ok", value: { bytes, headers: answer.headers } };
      });
    return this.#paced(request.api, {}, options, send);
  }

  async #paced<T>(api: ApiName, target: PaceTarget, options: CallOptions, send: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    if (options.permit?.api !== api) {
      try {
        await this.#pacer.pace(api, target, options);
      } catch (error) {
        if (error instanceof PaceAbortedError) return localRefusal("unreachable", error.message);
        throw error;
      }
    }
    let outcome = await send();
    if (isStaleToken(outcome)) {
      this.#tokens.clear();
      outcome = await send();
    }
    // 230020 is the limit of one chat or message; the gateway's own limit is that of the API.
    if (outcome.kind === "refused" && outcome.refusal.kind === "rateLimited") this.#pacer.hold(api, outcome.refusal.code === 230020 ? target : null, outcome.refusal.retryAfterMs ?? 0);
    return outcome;
  }

  async #send<T>(timeoutMs: number, build: (signal: AbortSignal) => SdkRequest, read: (answer: z.infer<typeof answerShape>) => Outcome<T>): Promise<Outcome<T>> {
    const release = await this.#waitForToken();
    try {
      // Axios counts its time-out from the last byte, so a dripping answer would hold a card's only place for ever.
      const answer = await this.#client.request(build(AbortSignal.timeout(timeoutMs)));
      return this.#withoutSecrets(read(answerShape.parse(answer)));
    } catch (error) {
      return this.#withoutSecrets(this.#failure(error));
    } finally {
      release();
    }
  }

  /** The SDK fetches a token for each call that finds none; here the first one goes ahead and the others wait for its token. */
  async #waitForToken(): Promise<() => void> {
    while (!this.#tokens.fresh && this.#fetchingToken) await this.#tokens.next();
    if (this.#tokens.fresh) return () => undefined;
    this.#fetchingToken = true;
    return () => {
      this.#fetchingToken = false;
      this.#tokens.failed();
    };
  }

  /** Feishu, or what stands before it, may repeat in its words what it was sent. */
  #withoutSecrets<T>(outcome: Outcome<T>): Outcome<T> {
    switch (outcome.kind) {
      case "ok":
        return outcome;
      case "refused":
        return { kind: "refused", refusal: { ...outcome.refusal, msg: this.#redactor.line(outcome.refusal.msg) } };
      case "uncertain":
        return { kind: "uncertain", uncertainty: { ...outcome.uncertainty, detail: this.#redactor.line(outcome.uncertainty.detail) } };
    }
  }

  #failure(error: unknown): Outcome<never> {
    const parsed = failureShape.safeParse(error);
    const { code, message, config, response } = parsed.success ? parsed.data : { code: undefined, message: String(error), config: undefined, response: undefined };
    const detail = this.#redactor.line(message);
    const tokenCode = /failed to get tenant_access_token(?:, code: (\d+))?/.exec(message);
    const outcome =
      tokenCode?.[1] !== undefined ? readRefusal({ httpStatus: 200, code: Number(tokenCode[1]), msg: detail, rateLimitResetSeconds: null, logId: null })
      : response !== undefined ? refusalOf(response)
      : this.#failureWithoutAnswer(code, detail);
    // Without a token the request itself was never sent, however the token's own request ended.
    const noToken = tokenCode !== null || config?.url?.includes(tokenPath) === true;
    return noToken && outcome.kind === "uncertain" ? localRefusal("unreachable", `no tenant token: ${outcome.uncertainty.detail}`) : outcome;
  }

  #failureWithoutAnswer(code: string | number | undefined, detail: string): Outcome<never> {
    if (typeof code === "string" && neverSent.has(code)) return localRefusal("unreachable", detail);
    if (/maxContentLength/.test(detail)) return localRefusal("tooLarge", detail);
    const reason = typeof code === "string" && timedOut.has(code) ? "timeout" : "connection";
    return { kind: "uncertain", uncertainty: { reason, httpStatus: null, code: null, detail } };
  }
}

function readAnswer<T>(answer: z.infer<typeof answerShape>, shape: z.ZodType<T>): Outcome<T> {
  const envelope = envelopeShape.safeParse(answer.data);
  if (!envelope.success) return unreadable(answer.status, "the answer is not Feishu's JSON");
  if (envelope.data.code !== 0) return refusalOf(answer);
  const value = shape.safeParse(answer.data);
  return value.success ? { kind: "ok", value: value.data } : unreadable(answer.status, `code 0, but ${value.error.issues[0]?.path.join(".") ?? "the answer"} is missing or wrong`);
}

/** An answer that says no: by its HTTP status, its code, or both. */
function refusalOf(answer: z.infer<typeof answerShape>): Outcome<never> {
  const envelope = envelopeShape.safeParse(parseBody(answer.data));
  const meansItself = answer.status >= 500 || answer.status === 408 || answer.status === 429;
  if (!envelope.success && !meansItself) return localRefusal("unknown", `HTTP ${answer.status} without Feishu's JSON`, answer.status);
  const reset = Number(answer.headers["x-ogw-ratelimit-reset"] ?? NaN);
  const logId = answer.headers["x-tt-logid"];
  return readRefusal({
    httpStatus: answer.status,
    code: envelope.success ? envelope.data.code : 0,
    msg: envelope.success ? (envelope.data.msg ?? "") : "",
    rateLimitResetSeconds: Number.isFinite(reset) && reset >= 0 ? reset : null,
    logId: typeof logId === "string" ? logId : null,
  });
}

function isJsonAnswer(contentType: unknown): boolean {
  return typeof contentType === "string" && contentType.includes("application/json");
}

function parseBody(data: unknown): unknown {
  if (!(data instanceof Uint8Array)) return data;
  try {
    return JSON.parse(Buffer.from(data).toString("utf8"));
  } catch {
    return null;
  }
}

function unreadable(httpStatus: number, detail: string): Outcome<never> {
  return { kind: "uncertain", uncertainty: { reason: "unreadable", httpStatus, code: null, detail } };
}
