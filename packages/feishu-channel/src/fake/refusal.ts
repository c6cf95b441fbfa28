/** Feishu's no: answered as HTTP `status` with `{code, msg}`. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, msg: string, status = 400, headers: Readonly<Record<string, string>> = {}) {
    super(msg);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a JSON text that must be an object. */
export function parseObject(text: unknown, refuse: () => Refused): Json {
  const value = parseJson(text, refuse);
  if (!isJson(value)) throw refuse();
  return value;
}

export function parseJson(text: unknown, refuse: () => Refused): unknown {
  if (typeof text !== "string") throw refuse();
  try {
    return JSON.parse(text);
  } catch {
    throw refuse();
  }
}
