/** Kept on an item: 1 MiB of UTF-8, half of it from the head, half from the tail. */
export const OUTPUT_CAP_BYTES = 1_048_576;

/** Bytes that the text takes in UTF-8; a lone surrogate counts as its three-byte replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHighSurrogate(unit) && isLowSurrogate(text, i + 1)) {
      bytes += 2;
      i += 1;
    } else bytes += 2;
  }
  return bytes;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000;
}

/** Bytes of the code point at `at`, and how many units it takes. */
function codePointWidth(text: string, at: number): { units: 1 | 2; bytes: number } {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return { units: 1, bytes: 1 };
  if (unit < 0x800) return { units: 1, bytes: 2 };
  if (isHighSurrogate(unit) && isLowSurrogate(text, at + 1)) return { units: 2, bytes: 4 };
  return { units: 1, bytes: 3 };
}

/** Longest prefix of at most `bytes` UTF-8 bytes; never splits a surrogate pair. */
function prefixWithin(text: string, bytes: number): string {
  let used = 0;
  let at = 0;
  while (at < text.length) {
    const width = codePointWidth(text, at);
    used += width.bytes;
    if (used > bytes) break;
    at += width.units;
  }
  return text.slice(0, at);
}

/** Longest suffix of at most `bytes` UTF-8 bytes; never splits a surrogate pair. */
function suffixWithin(text: string, bytes: number): string {
  let used = 0;
  let at = text.length;
  while (at > 0) {
    const start = at >= 2 && isLowSurrogate(text, at - 1) && isHighSurrogate(text.charCodeAt(at - 2)) ? at - 2 : at - 1;
    used += codePointWidth(text, start).bytes;
    if (used > bytes) break;
    at = start;
  }
  return text.slice(at);
}

/**
 * Text that grows by pieces and keeps a bounded head and tail. What it keeps depends on the whole text only, never
 * on how it was cut into pieces, so that live and history give the same.
 */
export class CappedText {
  readonly #half: number;
  #head = "";
  #headBytes = 0;
  /** Everything after the head while it fits, else at least the last `half` bytes. */
  #tail: { text: string; bytes: number }[] = [];
  #tailBytes = 0;
  #first = 0;
  #dropped = 0;
  #carry = "";
  /** True as soon as anything was appended, blank or not. */
  touched = false;

  constructor(cap = OUTPUT_CAP_BYTES) {
    this.#half = Math.floor(cap / 2);
  }

  append(piece: string): void {
    this.touched = true;
    let rest = this.#carry + piece;
    // Half of a surrogate pair waits for its other half: counted apart they would take other bytes than together.
    this.#carry = isHighSurrogate(rest.charCodeAt(rest.length - 1)) ? rest.slice(-1) : "";
    if (this.#carry !== "") rest = rest.slice(0, -1);
    this.#keep(rest);
  }

  #keep(piece: string): void {
    let rest = piece;
    if (this.#tail.length === 0 && this.#headBytes < this.#half) {
      const bytes = utf8Length(rest);
      if (this.#headBytes + bytes <= this.#half) {
        this.#head += rest;
        this.#headBytes += bytes;
        return;
      }
      const fits = prefixWithin(rest, this.#half - this.#headBytes);
      this.#head += fits;
      this.#headBytes = this.#half;
      rest = rest.slice(fits.length);
    }
    if (rest === "") return;
    const bytes = utf8Length(rest);
    this.#tail.push({ text: rest, bytes });
    this.#tailBytes += bytes;
    // A piece goes only when what follows it fills the tail alone: the kept suffix stays independent of piece borders.
    for (let oldest = this.#tail[this.#first]; oldest !== undefined && this.#tailBytes - oldest.bytes >= this.#half; oldest = this.#tail[this.#first]) {
      this.#tailBytes -= oldest.bytes;
      this.#dropped += oldest.bytes;
      this.#first += 1;
    }
    if (this.#first > 64 && this.#first * 2 > this.#tail.length) {
      this.#tail = this.#tail.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The kept text; where something is missing, one line between head and tail says how much. */
  finish(): { text: string; truncated: boolean } {
    this.#keep(this.#carry);
    this.#carry = "";
    const tail = this.#tail.slice(this.#first).map((piece) => piece.text).join("");
    if (this.#dropped === 0 && this.#tailBytes <= this.#half) return { text: this.#head + tail, truncated: false };
    const kept = suffixWithin(tail, this.#half);
    const omitted = this.#dropped + this.#tailBytes - utf8Length(kept);
    return { text: `${this.#head}\n[… ${omitted} bytes omitted …]\n${kept}`, truncated: true };
  }
}

/** The same cut for a text that is there at once. */
export function capText(text: string, cap = OUTPUT_CAP_BYTES): { text: string; truncated: boolean } {
  if (text.length * 3 <= cap || utf8Length(text) <= cap) return { text, truncated: false };
  const capped = new CappedText(cap);
  capped.append(text);
  return capped.finish();
}
