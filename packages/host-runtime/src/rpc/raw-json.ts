/** A result that is JSON already: it goes out as it is, numbers beyond 2^53 and the order of members included. */
export class RawJson {
  /** Its bytes, cut anywhere: a large result is put together once, in its frame. */
  readonly parts: readonly Buffer[];

  constructor(bytes: Buffer | readonly Buffer[]) {
    this.parts = Buffer.isBuffer(bytes) ? [bytes] : bytes;
  }
}
