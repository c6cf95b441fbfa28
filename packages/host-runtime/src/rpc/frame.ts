import { isLong, readableJson, wireJson } from "./wire-json.ts";
import type { Written } from "./wire-json.ts";

/** A value as the JSON that clients get, in UTF-8. */
export function jsonBytes(value: object | string): Buffer {
  const json = wireJson(value);
  return typeof json === "string" ? Buffer.from(json) : Buffer.concat(json);
}

/**
 * One outgoing frame. The same object goes to every connection it is for, so that it is serialised once; it is kept as
 * text or as bytes, never as both.
 */
export class Frame {
  #text: string | null;
  #parts: readonly Buffer[];
  #length = -1;
  #isCopied = false;

  /** JSON: a text, or its UTF-8 in one piece or several, which is sent as it is. */
  constructor(content: string | Buffer | readonly Buffer[]) {
    this.#text = typeof content === "string" ? readableJson(content) : null;
    this.#parts = typeof content === "string" ? [] : Buffer.isBuffer(content) ? [content] : content;
  }

  get text(): string {
    return this.#text ?? Buffer.concat(this.#parts).toString("utf8");
  }

  /** Its size in UTF-8. */
  get length(): number {
    if (this.#length === -1) this.#length = this.#text === null ? this.#parts.reduce((sum, part) => sum + part.length, 0) : Buffer.byteLength(this.#text);
    return this.#length;
  }

  /** Its UTF-8 in pieces, made on first use; whoever sends it shares them. */
  get parts(): readonly Buffer[] {
    if (this.#text !== null) {
      this.#parts = [Buffer.from(this.#text)];
      this.#text = null;
    }
    return this.#parts;
  }

  /** Writes its UTF-8 into a buffer with room for it; gives where it ends there. */
  copyTo(target: Buffer, at: number): number {
    if (this.#text !== null && !this.#isCopied) {
      this.#isCopied = true;
      return at + target.write(this.#text, at);
    }
    // Several send it: from here on its bytes are copied, which is quicker than to encode it each time.
    let end = at;
    for (const part of this.parts) end += part.copy(target, end);
    return end;
  }
}

/** `{"method","params","emittedAtMs"}`, as Codex 0.171 sends notifications. */
export function notificationFrame(method: string, params: object, now: number, written?: Written): Frame {
  return new Frame(wireJson({ method, params, emittedAtMs: now }, written));
}

/** `{"id","result"}`; `id` is JSON already. */
export function resultFrame(id: string, result: unknown): Frame {
  const json = wireJson(result ?? {});
  return typeof json === "string" ? new Frame(`{"id":${id},"result":${json}}`) : rawResultFrame(id, json);
}

/** The same for a result that is JSON already. */
export function rawResultFrame(id: string, result: readonly Buffer[]): Frame {
  return new Frame([Buffer.from(`{"id":${id},"result":`), ...result, Buffer.from("}")]);
}

/** The JSON of a long object apart, for frames that have it in them; undefined for a short one, which costs nothing to write again. */
export function writtenApart(value: object): Written | undefined {
  const json = isLong(value) ? wireJson(value) : "";
  return typeof json === "string" ? undefined : new Map([[value, json]]);
}
