import type { HarnessError } from "@foldcast/protocol-core/harness";
import { filledString, objectOf } from "@foldcast/adapter-kit";
import { type SessionRecord } from "./record.ts";

/** Error codes of the wire without data (Codex 0.171); a rollout writes them with underscores. */
const CODES: ReadonlySet<string> = new Set([
  "contextWindowExceeded", "sessionBudgetExceeded", "usageLimitExceeded", "rateLimitExceeded", "flexUnavailable", "serverOverloaded",
  "modelNotFound", "policyCapacityUnavailable", "cyberPolicy", "bioPolicy", "misalignmentPolicyViolation", "tooManyDenials",
  "internalServerError", "unauthorized", "badRequest", "threadRollbackFailed", "sandboxError", "inferenceHookDenied", "other",
]);
/** Errors of a request, which leave the turn as it is. */
const NOT_OF_THE_TURN: ReadonlySet<string> = new Set(["thread_rollback_failed", "active_turn_not_steerable"]);

/** The error of an ended turn or of an `error` event: `{message, codex_error_info}`. Null where there is none. */
export function errorOf(value: unknown): HarnessError | null {
  const record = objectOf(value);
  const message = filledString(value) ?? filledString(record["message"]);
  if (message === null) return null;
  return { message, code: codeOf(record["codex_error_info"]) };
}

/** False for an error that says nothing about how the turn ended. */
export function endsTurn(payload: SessionRecord): boolean {
  return !NOT_OF_THE_TURN.has(nameOf(payload["codex_error_info"]));
}

function codeOf(info: unknown): string | Record<string, unknown> {
  const name = camelCase(nameOf(info));
  if (typeof info === "string") return CODES.has(name) ? name : "other";
  const data = objectOf(info)[nameOf(info)];
  if (data === undefined || name === "") return "other";
  return { [name]: Object.fromEntries(Object.entries(objectOf(data)).map(([key, value]) => [camelCase(key), value])) };
}

function nameOf(info: unknown): string {
  return typeof info === "string" ? info : (Object.keys(objectOf(info))[0] ?? "");
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
