/** Wrong usage: the message says what is wrong; the command line adds where help is, and exits with 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}
