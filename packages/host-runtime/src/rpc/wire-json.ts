/** Texts of more units than this altogether are encoded piece by piece: as one string they would be in memory several times. */
const LONG = 128 * 1024;
const SLICE = 32 * 1024;
const PIECE_BYTES = 1024 * 1024;
const NONE = Buffer.alloc(0);
const ESCAPES = /\\(?:\\|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2})/gi;

/**
 * JSON without halves of characters, which the readers of stock clients take for no JSON at all: the whole frame would be
 * lost. `JSON.stringify` writes them as escapes; each becomes the replacement character.
 */
export function readableJson(json: string): string {
  if (!json.includes("\\ud") && !json.includes("\\uD")) return json;
  return json.replace(ESCAPES, (escape) => (escape.length === 6 ? "\ufffd" : escape));
}

/** Parts of values whose JSON is there already, in UTF-8. */
export type Written = ReadonlyMap<object, readonly Buffer[]>;

/** True for a value whose texts have more units than this altogether; by default those that are better encoded piece by piece. */
export function isLong(value: unknown, units = LONG): boolean {
  return unitsLeft(value, units) < 0;
}

/**
 * A value as the JSON that clients get: a string, or the pieces of its UTF-8 where it is long. The value is plain data;
 * what stands in `written` is taken from there.
 */
export function wireJson(value: unknown, written?: Written): string | Buffer[] {
  if (!isLong(value)) return readableJson(JSON.stringify(value));
  const pieces = new Pieces(written);
  pieces.value(value);
  return pieces.end();
}

/** How many of so many units the texts in a value leave; below 0 as soon as they are used up. */
function unitsLeft(value: unknown, units: number): number {
  if (typeof value === "string") return units - value.length;
  if (typeof value !== "object" || value === null) return units;
  let left = units;
  if (Array.isArray(value)) {
    for (const member of value as readonly unknown[]) {
      left = unitsLeft(member, left);
      if (left < 0) break;
    }
    return left;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    left = unitsLeft(members[key], left);
    if (left < 0) break;
  }
  return left;
}

/** Writes long values. Numbers and short texts between the long ones are put together. */
class Pieces {
  readonly #written: Written | undefined;
  readonly #done: Buffer[] = [];
  #piece = NONE;
  #used = 0;
  #waiting = "";

  constructor(written: Written | undefined) {
    this.#written = written;
  }

  value(value: unknown): void {
    if (!isLong(value)) this.#json(JSON.stringify(value));
    else if (typeof value === "string") this.#text(value);
    else if (Array.isArray(value)) this.#list(value);
    else this.#object(value as Readonly<Record<string, unknown>>);
  }

  end(): Buffer[] {
    this.#close();
    return this.#done;
  }

  #list(list: readonly unknown[]): void {
    list.forEach((element, at) => {
      this.#json(at === 0 ? "[" : ",");
      this.value(element === undefined ? null : element);
    });
    this.#json("]");
  }

  #object(members: Readonly<Record<string, unknown>>): void {
    const known = this.#written?.get(members);
    if (known !== undefined) {
      this.#close();
      for (const part of known) this.#done.push(part);
      return;
    }
    let before = "{";
    for (const key in members) {
      const member = members[key];
      // As `JSON.stringify` has it.
      if (member === undefined) continue;
      this.#json(`${before}${JSON.stringify(key)}:`);
      this.value(member);
      before = ",";
    }
    this.#json("}");
  }

  #text(text: string): void {
    this.#json('"');
    let at = 0;
    while (at < text.length) {
      let end = Math.min(at + SLICE, text.length);
      // Both halves of a character go together.
      if (text.codePointAt(end - 1)! > 0xffff) end += 1;
      this.#json(JSON.stringify(text.slice(at, end)).slice(1, -1), text.length - end);
      at = end;
    }
    this.#json('"');
  }

  /** `more`: so many units of text come behind it. */
  #json(json: string, more = 0): void {
    this.#waiting += json;
    if (this.#waiting.length >= SLICE) this.#encode(more);
  }

  #encode(more: number): void {
    const json = readableJson(this.#waiting);
    this.#waiting = "";
    const length = Buffer.byteLength(json);
    if (this.#used + length > this.#piece.length) {
      this.#closePiece();
      this.#piece = Buffer.allocUnsafeSlow(Math.max(length, Math.min(PIECE_BYTES, length + more)));
    }
    this.#used += this.#piece.write(json, this.#used);
  }

  #close(): void {
    if (this.#waiting !== "") this.#encode(0);
    this.#closePiece();
  }

  #closePiece(): void {
    if (this.#used > 0) this.#done.push(this.#piece.subarray(0, this.#used));
    this.#piece = NONE;
    this.#used = 0;
  }
}
