/** One outgoing frame. The same object goes to every connection it is for, so that it is serialised and encoded once. */
export class Frame {
  #text: string | null;
  #bytes: Buffer | null;

  /** JSON: a text, or its UTF-8, which is sent as it is. */
  constructor(content: string | Buffer) {
    this.#text = typeof content === "string" ? content : null;
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
