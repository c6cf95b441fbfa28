/** Thrown by `listen`; the command line turns it into an exit code. */
export class ListenError extends Error {
  readonly code: "portTaken" | "needsToken" | "failed";
  constructor(code: ListenError["code"], message: string) {
    super(message);
    this.name = "ListenError";
    this.code = code;
  }
}
