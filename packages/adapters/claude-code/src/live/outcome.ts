import type { HarnessError, TurnOutcome } from "@foldcast/protocol-core/harness";
import { filledString, stringOf } from "@foldcast/adapter-kit";
import type { Frame } from "../program/frame.ts";

const WORDS: Readonly<Record<string, string>> = {
  error_max_turns: "Reached maximum number of turns",
  error_max_budget_usd: "Reached the limit of the budget",
  error_max_structured_output_retries: "No answer in the wanted form was given",
};

/**
 * How a turn ended, by its `result` frame (2.1.332). API errors come as `success` with `is_error`; what a record of the
 * turn said about the failure is in better words, and is what the file says.
 */
export function outcomeOf(result: Frame, failure: HarnessError | null, cancelAsked: boolean): TurnOutcome {
  const reason = stringOf(result["terminal_reason"]) ?? "";
  const subtype = stringOf(result["subtype"]) ?? "";
  if (reason.startsWith("aborted_")) return { status: "cancelled" };
  if (result["is_error"] !== true && subtype === "success") return { status: "succeeded" };
  // Older versions give no reason.
  if (cancelAsked && reason === "" && subtype === "error_during_execution") return { status: "cancelled" };
  return { status: "failed", error: failure ?? { message: messageOf(result, subtype) } };
}

function messageOf(result: Frame, subtype: string): string {
  const errors = Array.isArray(result["errors"]) ? result["errors"].filter((text) => typeof text === "string" && !text.startsWith("[ede_diagnostic]")) : [];
  return filledString(result["result"]) ?? filledString(errors.join("\n")) ?? WORDS[subtype] ?? "The turn failed.";
}
