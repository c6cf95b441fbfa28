/** A result with something to do once its frame is queued: notifications that must come after the response. */
export class Reply {
  readonly result: unknown;
  readonly after: (() => void) | null;

  constructor(result: unknown, after: (() => void) | null = null) {
    this.result = result;
    this.after = after;
  }
}
