import type { HarnessError } from "@foldcast/protocol-core/harness";
import type { ChildExit } from "../child.ts";
import { filledString, objectOf } from "../json.ts";
import { withoutSecrets } from "../secrets.ts";

const STDERR_LINES = 8;
export const AUTH_REQUIRED = -32000;

/** An agent's answer that it cannot, or the end of the agent, as a client shows it. */
export function errorOf(error: unknown): HarnessError {
  const code = codeOf(error);
  const data = error instanceof Error && "data" in error ? error.data : undefined;
  const told = objectOf(data);
  const status = Number(told["http_status"] ?? told["statusCode"] ?? told["status"] ?? code ?? 0);
  return { message: messageOf(error), code: wireCode(code, status), details: detailsOf(data) };
}

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const data = error instanceof Error && "data" in error ? objectOf(error.data) : {};
  // "Internal error" alone helps nobody: agents put their words into the data (Qwen, Grok).
  const inner = filledString(data["details"]) ?? filledString(data["message"]) ?? filledString(data["errorName"]);
  return inner === null || message.includes(inner) ? message : `${message}: ${inner}`;
}

export function codeOf(error: unknown): number | null {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : null;
}

/** As native Codex 0.171 names the same failures. */
function wireCode(code: number | null, status: number): string | Record<string, unknown> {
  if (code === AUTH_REQUIRED || status === 401 || status === 403) return { httpConnectionFailed: { httpStatusCode: status === 403 ? 403 : 401 } };
  if (status === 429) return { responseTooManyFailedAttempts: { httpStatusCode: 429 } };
  return status >= 500 && status < 600 ? "internalServerError" : "other";
}

function detailsOf(data: unknown): string | null {
  if (data === undefined || data === null) return null;
  return typeof data === "string" ? data : JSON.stringify(data).slice(0, 2000);
}

/** How a program ended and its last words, secrets removed. `name` as in "Kimi Code". */
export function exitError(name: string, exit: ChildExit, env: Readonly<Record<string, string | undefined>>): HarnessError {
  const how = exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`;
  const lines = withoutSecrets(exit.stderr, env).split("\n").map((line) => line.trimEnd()).filter((line) => line !== "");
  const last = lines.slice(-STDERR_LINES).join("\n");
  return { message: `${name} ended unexpectedly (${how})${last === "" ? "." : `: ${lines.at(-1)!}`}`, details: last === "" ? null : last };
}
