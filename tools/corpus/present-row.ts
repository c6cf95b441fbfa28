import {
  detailOf, interpretCall, interpretResult, NO_RESULT, presentTool, previewInput, ruleOf, type CallResult, type ToolCallDetail,
} from "@foldcast/protocol-core/tools";
import type { ItemOutcome } from "@foldcast/protocol-core/harness";
import { z } from "zod";
import { toolMapOf } from "./tool-maps.ts";

const rowSchema = z.object({
  harness: z.string(),
  name: z.string(),
  input: z.unknown(),
  output: z.unknown().optional(),
  status: z.string().optional(),
  cwd: z.string().optional(),
  locale: z.string().optional(),
});

export interface PresentedRow {
  kind: string;
  canonicalName: string | null;
  title: string;
  evidence: unknown;
  /** What of the call's input a card may show. */
  limits: { chars: number; lines: number; shownChars: number; totalChars: number; shownLines: number; totalLines: number; limit: string | null };
}

/** One row of a presentation file; null when it is none. */
export function presentRow(value: unknown): PresentedRow | null {
  const parsed = rowSchema.safeParse(value);
  if (!parsed.success) return null;
  const { harness, name, input, output, status, cwd = "/", locale } = parsed.data;
  const outcome = outcomeOf(status ?? "completed");
  const detail = presentCall({ harness, name, input, cwd, outcome, result: resultOf(output) });
  return {
    kind: detail.kind,
    canonicalName: detail.canonicalName,
    title: presentTool(detail, cwd).title(locale?.startsWith("en") === true ? "en" : "zh"),
    evidence: detail.evidence,
    limits: limitsOf(detail),
  };
}

export interface PresentCall {
  harness: string;
  name: string;
  input: unknown;
  cwd: string;
  outcome: ItemOutcome | null;
  result: Partial<CallResult>;
}

/** The detail of a call as the named harness makes it. */
export function presentCall({ harness, name, input, cwd, outcome, result }: PresentCall): ToolCallDetail {
  const reading = interpretCall({ name, input, rule: ruleOf(toolMapOf(harness) ?? {}, name), cwd });
  const read = outcome === null ? null : interpretResult(reading, { ...NO_RESULT, ...result, outcome });
  return detailOf({ callId: "call", rawName: name, rawInput: input }, reading, outcome, read);
}

function resultOf(output: unknown): Partial<CallResult> {
  if (output === undefined || output === null) return {};
  if (typeof output === "string") return { output };
  const parts = Array.isArray(output) ? (output as unknown[]) : [];
  const texts = parts.flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []));
  if (texts.length > 0) return { output: texts.join(""), content: texts.map((text) => ({ type: "inputText", text })) };
  if (!isObject(output)) return { structured: output };
  const text = [output["output"], output["stdout"], output["content"], output["text"]].find((entry) => typeof entry === "string");
  const exitCode = [output["exitCode"], output["exit_code"]].find((entry) => typeof entry === "number");
  const durationMs = output["durationMs"];
  return {
    structured: output,
    ...(typeof text === "string" ? { output: text } : {}),
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Status words of the wire and of harnesses; null = not ended. */
function outcomeOf(status: string): ItemOutcome | null {
  switch (status.toLowerCase().replaceAll(/[_ -]/g, "")) {
    case "inprogress":
    case "running":
    case "pending":
    case "started":
      return null;
    case "failed":
    case "error":
    case "failure":
      return { status: "failed" };
    case "declined":
    case "rejected":
    case "denied":
      return { status: "declined" };
    case "cancelled":
    case "canceled":
    case "interrupted":
    case "aborted":
      return { status: "cancelled" };
    default:
      return { status: "succeeded" };
  }
}

function limitsOf(detail: ToolCallDetail): PresentedRow["limits"] {
  const { limits, blocks } = previewInput(detail);
  const sum = (pick: (block: (typeof blocks)[number]) => number): number => blocks.reduce((total, block) => total + pick(block), 0);
  return {
    ...limits,
    shownChars: sum(({ preview }) => preview.shownChars),
    totalChars: sum(({ preview }) => preview.totalChars),
    shownLines: sum(({ preview }) => preview.shownLines),
    totalLines: sum(({ preview }) => preview.totalLines),
    limit: blocks.find(({ preview }) => preview.limit !== null)?.preview.limit ?? null,
  };
}
