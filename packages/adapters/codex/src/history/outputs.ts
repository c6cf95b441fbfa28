import type { ItemOutcome, ItemResult } from "@foldcast/protocol-core/harness";
import { readExecOutput } from "@foldcast/protocol-core/tools";
import type { ToolContentItem } from "@foldcast/protocol-core/wire";
import { filledString, objectOf, objectsOf, stringOf } from "@foldcast/adapter-kit";
import { type SessionRecord } from "./record.ts";
import { isOmitted, omittedImage } from "./user-input.ts";

/** A call's output as text, and in parts where it has several. */
export interface CallOutput {
  text: string | null;
  content: ToolContentItem[] | null;
  success: boolean | null;
}

/** Of `function_call_output.output`: a text, a list of parts, or an object around one of them. */
export function readOutput(output: unknown): CallOutput {
  if (typeof output === "string") return { text: output, content: null, success: null };
  if (Array.isArray(output)) return { text: null, content: output.map(objectOf).map(contentPart), success: null };
  if (output === null || output === undefined) return { text: null, content: null, success: null };
  const record = objectOf(output);
  const inner = record["content"] ?? record["content_items"] ?? record["body"];
  const success = typeof record["success"] === "boolean" ? record["success"] : null;
  if (typeof inner === "string" || Array.isArray(inner)) return { ...readOutput(inner), success };
  return { text: JSON.stringify(output), content: null, success };
}

function contentPart(part: SessionRecord): ToolContentItem {
  const text = stringOf(part["text"]);
  if (text !== null) return { type: "inputText", text };
  const url = filledString(part["image_url"]) ?? filledString(part["imageUrl"]);
  if (url === null) return { type: "inputText", text: JSON.stringify(part) };
  return isOmitted(url) ? { type: "inputText", text: omittedImage(url) } : { type: "inputImage", imageUrl: url };
}

const ABORTED = /^(?:Wall time: [\d.]+ seconds\n)?(?:aborted(?: by user)?(?: after [\d.]+s)?|.*\baborted by user after [\d.]+s)\s*$/;
const REFUSED = /^(?:Script error:\n)?(?:.{0,100}\b)?rejected by (?:the )?user\b/;
/** How Codex begins its own answer to a call that did not run (0.42 to 0.171). */
const FAILED = /^(?:apply_patch verification failed|failed to parse function arguments|unsupported (?:custom tool )?call|exec_command failed|write_stdin failed|execution error|tool call error|tool call failed|unknown tool|Unknown process id|unable to locate image|image path `)/i;

const NOT_RUN = /^(?:unsupported (?:custom tool )?call|unknown tool|failed to parse function arguments|exec pragma )/i;

/** How a call ended, by what it gave. A program that ran says so before anything else. */
export function outcomeOf({ text, content, success }: CallOutput, isProgram: boolean): ItemOutcome {
  const words = (text ?? content?.map((part) => (part.type === "inputText" ? part.text : "")).at(-1) ?? "").trim();
  const head = words.slice(0, 400);
  if (ABORTED.test(head)) return { status: "cancelled" };
  if (REFUSED.test(head)) return { status: "declined" };
  const hasNotBegun = isProgram && !SCRIPT.test(text ?? (content?.[0]?.type === "inputText" ? content[0].text : ""));
  if (success === false || hasNotBegun || FAILED.test(head)) return head === "" ? { status: "failed" } : { status: "failed", message: head };
  return { status: "succeeded" };
}

/** The call did not run at all: nothing that it asked for happened. */
export function hasNotRun({ text }: CallOutput): boolean {
  return text !== null && NOT_RUN.test(text);
}

/** The result of a call, read by the tools layer, which knows its transport's lines. */
export function resultOf({ text, content }: CallOutput): ItemResult {
  return { ...(text === null ? {} : { output: text }), ...(content === null ? {} : { content }) };
}

/**
 * What a call and the waits for it gave together, in the form of one output: the lines of the transport are those of the
 * last part, the texts stand one after the other.
 */
export function joinOutputs(outputs: readonly unknown[]): CallOutput {
  if (outputs.length < 2) return readOutput(outputs[0]);
  const read = outputs.map((output) => readExecOutput(output));
  const last = read.at(-1)!;
  const text = read.map((each) => each.text).join("");
  const isProgram = outputs.some((output) => SCRIPT.test(stringOf(output) ?? stringOf(objectsOf(output)[0]?.["text"]) ?? ""));
  const seconds = (read.reduce((sum, each) => sum + (each.durationMs ?? 0), 0) / 1000).toFixed(1);
  const images = read.flatMap((each) => each.images ?? []).map((imageUrl): ToolContentItem => ({ type: "inputImage", imageUrl }));
  if (isProgram) {
    const state = last.state === "failed" ? "failed" : last.state === "running" ? `running with cell ID ${last.backgroundId ?? "?"}` : "completed";
    const parts: ToolContentItem[] = [{ type: "inputText", text: `Script ${state}\nWall time ${seconds} seconds\nOutput:\n` }];
    if (text !== "") parts.push({ type: "inputText", text });
    if (last.error !== null) parts.push({ type: "inputText", text: `Script error:\n${last.error}` });
    return { text: null, content: [...parts, ...images], success: null };
  }
  const state = last.backgroundId === null ? (last.exitCode === null ? "" : `Process exited with code ${last.exitCode}\n`) : `Process running with session ID ${last.backgroundId}\n`;
  return { text: `Wall time: ${seconds} seconds\n${state}Output:\n${text}`, content: null, success: null };
}

const SCRIPT = /^Script (?:completed|failed|terminated|running)\b/;
