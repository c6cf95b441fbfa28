import type { HarnessError } from "@foldcast/protocol-core/harness";
import { filledString, type JsonRecord, finiteNumber, objectOf } from "@foldcast/adapter-kit";

/** The error of `turn.ended` (Kimi Code 2.1.0: `{code, message, name, details{statusCode}}`). */
export function failureOf(value: unknown): HarnessError {
  const error = objectOf(value);
  const code = filledString(error["code"]);
  return {
    message: filledString(error["message"]) ?? filledString(value) ?? code ?? "The model gave no answer.",
    code: codeOf(finiteNumber(objectOf(error["details"])["statusCode"])),
    details: code ?? filledString(error["name"]),
  };
}

/** `turn.step.interrupted` with the reason `error`: `[provider.auth_error] 401 …`. */
export function failureOfText(text: string | null): HarnessError {
  const [, code, message] = /^\[([\w.]+)\] ([^]*)$/.exec(text ?? "") ?? [];
  const status = Number(/^(\d{3})\b/.exec(message ?? text ?? "")?.[1] ?? "0");
  return { message: message ?? text ?? "The step failed.", code: codeOf(status), details: code ?? null };
}

/** `turn.step.retrying`. */
export function retryOf(record: JsonRecord): HarnessError {
  return {
    message: filledString(record["errorMessage"]) ?? "The request to the model failed.",
    code: codeOf(finiteNumber(record["statusCode"])),
    details: filledString(record["errorName"]),
  };
}

/** As native Codex 0.171 names the same failures of its model. */
function codeOf(status: number | null): string | Record<string, unknown> {
  if (status === null) return "other";
  if (status === 401 || status === 403) return { httpConnectionFailed: { httpStatusCode: status } };
  if (status === 429) return { responseTooManyFailedAttempts: { httpStatusCode: status } };
  return status >= 500 && status < 600 ? "internalServerError" : "other";
}
