/** One outgoing frame. The same object goes to every connection it is for, so that it is serialised and encoded once. */
export class Frame {
  readonly text: string;
  #bytes: Buffer | null = null;

  constructor(text: string) {
    this.text = text;
  }

  /** UTF-8, made on first use. */
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(this.text));
  }
}

/** `{"method","params","emittedAtMs"}`, as Codex 0.171 sends notifications. */
export function notificationFrame(method: string, params: object, now: number): Frame {
  return new Frame(JSON.stringify({ method, params, emittedAtMs: now }));
}
