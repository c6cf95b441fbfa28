import { ListenError } from "../rpc/listen-error.ts";
import { UsageError } from "./usage-error.ts";

/** The exit code for an address that cannot be listened on. */
export function refused(error: unknown, stderr: NodeJS.WritableStream): number {
  if (!(error instanceof ListenError)) throw error;
  if (error.code === "needsToken") throw new UsageError(error.message);
  stderr.write(`foldcast: ${error.message}${error.code === "portTaken" ? "; choose another with --port N, or --port 0 for any free one" : ""}\n`);
  return error.code === "portTaken" ? 3 : 1;
}
