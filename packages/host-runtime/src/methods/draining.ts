import { ErrorCode, WireError } from "@foldcast/protocol-core/wire";

/** What would begin work that the end of this process breaks off again. Reads go on, and answers to open requests. */
const BEGINS_WORK: ReadonlySet<string> = new Set([
  "thread/start", "thread/resume", "thread/fork", "thread/revert", "thread/rollback", "thread/compact/start", "thread/shellCommand",
  "thread/queue/start", "turn/start", "turn/steer", "review/start",
]);

/** Codex 0.171's refusal while it ends after SIGTERM; null for what is still served then. */
export function drainingRefusal(method: string): WireError | null {
  if (!BEGINS_WORK.has(method)) return null;
  return new WireError(ErrorCode.invalidRequest, "Server is draining; retry after reconnecting", method === "turn/start" ? { reason: "serverShuttingDown" } : undefined);
}
