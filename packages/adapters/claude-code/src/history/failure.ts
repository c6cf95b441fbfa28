import type { HarnessError } from "@foldcast/protocol-core/harness";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import { blocksOf, messageOf, type SessionRecord } from "./record.ts";

/**
 * What a line says about the failure of its turn; null when it says none. An API error is written as a message of the
 * model `<synthetic>`, a refusal (2.1.3xx) as such a message with the stop reason `refusal`.
 */
export function failureOf(record: SessionRecord): HarnessError | null {
  const message = messageOf(record);
  if (record["isApiErrorMessage"] !== true && message["stop_reason"] !== "refusal") return null;
  const text = blocksOf(message["content"]).map((block) => stringOf(block["text"]) ?? "").join("\n").trim();
  const kind = filledString(record["error"]) ?? filledString(record["apiErrorType"]);
  return {
    message: text !== "" ? text : (kind ?? "The model gave no answer."),
    code: codeOf(record["apiErrorStatus"], text),
    details: kind,
  };
}

/** As native Codex 0.171 names the same failures of its model. */
function codeOf(recorded: unknown, text: string): string | Record<string, unknown> {
  const status = typeof recorded === "number" ? recorded : Number(/^API Error: (\d{3})\b/.exec(text)?.[1] ?? "0");
  if (status === 401 || status === 403) return { httpConnectionFailed: { httpStatusCode: status } };
  if (status === 429) return { responseTooManyFailedAttempts: { httpStatusCode: status } };
  if (status >= 500 && status < 600) return "internalServerError";
  return "other";
}

/** A `system` line of subtype `api_error`: a try that failed and was repeated. */
export function retryOf(record: SessionRecord): HarnessError {
  const error = objectOf(record["error"]);
  const inner = objectOf(objectOf(error["error"])["error"]);
  const message = filledString(inner["message"]) ?? filledString(objectOf(error["error"])["message"]) ?? filledString(error["message"])
    ?? filledString(record["error"]) ?? filledString(record["content"]) ?? "The request to the model failed.";
  const status = error["status"];
  return { message, code: codeOf(status, ""), details: filledString(inner["type"]) ?? filledString(error["type"]) };
}

/** `attachment max_turns_reached`, in the words of the live result of 2.1.332. */
export function turnLimitFailure(record: SessionRecord): HarnessError {
  const limit = objectOf(record["attachment"])["maxTurns"];
  return { message: typeof limit === "number" ? `Reached maximum number of turns (${limit})` : "Reached maximum number of turns" };
}

/** The same as the running program tells it: `system/api_retry` (2.1.332). */
export function liveRetryOf(frame: SessionRecord): HarnessError {
  const status = frame["error_status"];
  const kind = filledString(frame["error"]);
  const what = typeof status === "number" ? `The request to the model failed (${status}${kind === null ? "" : `, ${kind}`}).` : "The request to the model failed.";
  return { message: what, code: codeOf(status, ""), details: kind };
}
