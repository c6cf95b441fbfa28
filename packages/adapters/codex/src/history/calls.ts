import type { ItemOutcome, TurnOutcome } from "@foldcast/protocol-core/harness";
import { interpretCall, readExecOutput, ruleOf } from "@foldcast/protocol-core/tools";
import type { ToolContentItem } from "@foldcast/protocol-core/wire";
import { tools } from "../tools.ts";
import { agentAction, childrenOfCall } from "./agents.ts";
import { nativeItem, qualifiedName } from "./native-items.ts";
import { type CallOutput, hasNotRun, joinOutputs, outcomeOf, resultOf } from "./outputs.ts";
import { filledString, objectsOf, parseRecord, stringOf } from "@foldcast/adapter-kit";
import { type SessionRecord } from "./record.ts";
import type { BuiltItem, CallSlot } from "./slots.ts";

/** A tool map that knows no tool: a call that did not run is shown with its name, and is not what it asked for. */
const NO_MAP = "-";

/** The tool that a call is for, by the name that the tool map has for it. */
export function callName(payload: SessionRecord): string {
  const name = stringOf(payload["name"]) ?? stringOf(payload["type"]) ?? "tool";
  const namespace = filledString(payload["namespace"]);
  const qualified = qualifiedName(namespace, name);
  return ruleOf(tools, qualified) === undefined && namespace?.startsWith("mcp__") !== true && Object.hasOwn(tools, name) ? name : qualified;
}

/** Arguments are JSON text; a patch and a program are plain text. */
export function callInput(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  return parseRecord(value) ?? value;
}

/**
 * The item of a call; null for one that shows nothing. `asItIs`: it is shown by its name, and not as what it asked for,
 * because that did not happen.
 */
export function callItem(slot: CallSlot, turn: TurnOutcome, cwd: string, asItIs = false): BuiltItem | null {
  if (slot.native !== null) return nativeItem(slot.id, slot.native);
  const outputs = [...slot.outputs, ...slot.continuations.flatMap((each) => each.outputs)];
  const output = withoutWrapper(slot.name, joinOutputs(outputs));
  const outcome = outputs.length === 0 ? endOfOpenCall(turn) : outcomeOf(output, isProgram(slot.name));
  if (asItIs || isVoid(slot, output, outcome, cwd)) return genericCall(slot, output, outcome);
  const action = agentAction(slot.name);
  const children = action === null ? [] : childrenOfCall(action, slot.input, output.text, outcome);
  return {
    item: { kind: "tool", id: slot.id, name: slot.name, input: slot.input },
    outcome,
    result: { ...resultOf(output), ...(children.length === 0 ? {} : { children }) },
  };
}

/** Without its rule, nobody takes the lines of the transport off its output. */
function genericCall({ id, name, input }: CallSlot, output: CallOutput, outcome: ItemOutcome): BuiltItem {
  const { text, error, state, durationMs } = readExecOutput(output.content?.map(transportPart) ?? output.text);
  return {
    item: { kind: "tool", id, name, input, map: NO_MAP },
    outcome: state === "failed" && outcome.status === "succeeded" ? { status: "failed", ...(error === null ? {} : { message: error }) } : outcome,
    result: { output: [text, error ?? ""].filter((part) => part !== "").join("\n"), durationMs },
  };
}

function transportPart(part: ToolContentItem): SessionRecord {
  return part.type === "inputText" ? { text: part.text } : part.type === "inputImage" ? { image_url: part.imageUrl } : {};
}

/** A code-mode program: the model's one tool, which calls the others (0.147 and later). */
export function isProgram(name: string): boolean {
  return ruleOf(tools, name)?.options?.["program"] !== undefined;
}

/** Nobody knows what became of it. */
function endOfOpenCall(turn: TurnOutcome): ItemOutcome {
  return turn.status === "failed" ? { status: "failed" } : { status: "cancelled" };
}

/** Items that are done as soon as they are there, so that a call that failed must not become one. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set(["plan", "image", "webSearch"]);

/** Whether showing what the call asked for would say that it happened. */
function isVoid({ name, input }: CallSlot, output: CallOutput, outcome: ItemOutcome, cwd: string): boolean {
  if (hasNotRun(output)) return true;
  if (outcome.status === "succeeded" && readExecOutput(output.content?.map(transportPart) ?? output.text).state !== "failed") return false;
  return WITHOUT_STATUS.has(interpretCall({ name, input, rule: ruleOf(tools, name), cwd }).as.item);
}

/** What an MCP server gave is a list of parts, written as JSON text (to about 0.6x). */
function withoutWrapper(name: string, output: CallOutput): CallOutput {
  if (output.text === null || !name.includes("__") || !/^[[{]/.test(output.text)) return output;
  const record = parseRecord(`{"content":${output.text}}`) ?? {};
  const parts = objectsOf(Array.isArray(record["content"]) ? record["content"] : objectsOf([record["content"]])[0]?.["content"]);
  const texts = parts.flatMap((part) => (part["type"] === "text" ? (stringOf(part["text"]) ?? []) : []));
  return parts.length === 0 || texts.length !== parts.length ? output : { ...output, text: texts.join("\n") };
}
