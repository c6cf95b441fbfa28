/** A result that is JSON already: it goes out as it is, numbers beyond 2^53 and the order of members included. */
export class RawJson {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}
