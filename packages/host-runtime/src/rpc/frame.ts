const ESCAPES = /\\(?:\\|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2})/gi;

/**
 * JSON without halves of characters, which the readers of stock clients take for no JSON at all: the whole frame would be
 * lost. `JSON.stringify` writes them as escapes; each becomes the replacement character.
 */
export function readableJson(json: string): string {
  if (!json.includes("\\ud") && !json.includes("\\uD")) return json;
  return json.replace(ESCAPES, (escape) => (escape.length === 6 ? "\ufffd" : escape));
}

/** A value as the JSON that clients get, in UTF-8. */
export function jsonBytes(value: object | string): Buffer {
  return Buffer.from(readableJson(JSON.stringify(value)));
}

/** One outgoing frame. The same object goes to every connection it is for, so that it is serialised and encoded once. */
export class Frame {
  #text: string | null;
  #bytes: Buffer | null;

  /** JSON: a text, or its UTF-8, which is sent as it is. */
  constructor(content: string | Buffer) {
    this.#text = typeof content === "string" ? readableJson(content) : null;
    this.#bytes = typeof content === "string" ? null : content;
  }

  get text(): string {
    return (this.#text ??= this.#bytes!.toString("utf8"));
  }

  /** UTF-8, made on first use. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(this.#text!));
  }

  /** True when its bytes are there already. */
  get isEncoded(): boolean {
    return this.#bytes !== null;
  }

  /** About its bytes: what it is made of is counted as it is. */
  get size(): number {
    return this.#bytes?.length ?? this.#text!.length;
  }
}

/** `{"method","params","emittedAtMs"}`, as Codex 0.171 sends notifications. */
export function notificationFrame(method: string, params: object, now: number): Frame {
  return new Frame(JSON.stringify({ method, params, emittedAtMs: now }));
}
