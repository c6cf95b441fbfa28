import { ErrorCode, WireError } from "@foldcast/protocol-core/wire";

/** What Codex 0.171 refuses while it ends: what would begin work, or take it apart. Reads go on, and answers to open requests. */
const REFUSED: ReadonlySet<string> = new Set([
  "thread/start", "thread/resume", "thread/fork", "thread/revert", "thread/rollback", "thread/archive", "thread/compact/start", "thread/shellCommand",
  "thread/queue/start", "turn/start", "turn/steer", "review/start",
]);

/** Its refusal; null for what is still served then. */
export function drainingRefusal(method: string): WireError | null {
  if (!REFUSED.has(method)) return null;
  return new WireError(ErrorCode.invalidRequest, "Server is draining; retry after reconnecting", { reason: "serverShuttingDown" });
}
