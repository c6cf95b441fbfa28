import type { QuestionSpec } from "@foldcast/protocol-core/harness";
import { type JsonRecord, filledString, objectOf, objectsOf, stringOf } from "../json.ts";
import type { AcpAsk } from "./permissions.ts";

const YES = "Yes";
const NO = "No";
const CANCELLED = { action: "cancel" };

/** An `elicitation/create` of the mode `form` (protocol v1, unstable): every property of its schema is a question. Null for another mode. */
export function elicitationAsk(id: string, params: JsonRecord, itemId: string | null): AcpAsk | null {
  const schema = objectOf(params["requestedSchema"]);
  const properties = Object.entries(objectOf(schema["properties"])).map(([name, property]) => ({ name, property: objectOf(property) }));
  if (params["mode"] !== "form" || properties.length === 0) return null;
  const lines = (stringOf(params["message"]) ?? "").split("\n");
  const questions = properties.map(({ name, property }, index): QuestionSpec => {
    const title = filledString(property["title"]);
    // Where there is a line for each question, it is the question; the property's title is its short name.
    const line = lines.length === properties.length ? filledString(lines[index]) : properties.length === 1 ? filledString(params["message"]) : null;
    const options = optionsOf(property);
    return {
      id: name, question: line ?? title ?? name, header: line === null || line === title ? null : title,
      multiSelect: property["type"] === "array", allowOther: options.length === 0, options,
    };
  });
  return {
    interaction: { id, kind: "question", ...(itemId === null ? {} : { itemId }), questions },
    reply(answer) {
      const content: Record<string, unknown> = {};
      for (const { name, property } of properties) {
        const value = valueOf(property, answer.kind === "question" ? (answer.answers[name] ?? []) : []);
        if (value !== undefined) content[name] = value;
      }
      return Object.keys(content).length === 0 ? { action: "decline" } : { action: "accept", content };
    },
    withdrawn: CANCELLED,
    declines: () => false,
  };
}

function choicesOf(property: JsonRecord): JsonRecord[] | null {
  const source = property["type"] === "array" ? objectOf(property["items"]) : property;
  if (Array.isArray(source["enum"])) {
    const names = Array.isArray(source["enumNames"]) ? (source["enumNames"] as unknown[]) : [];
    return (source["enum"] as unknown[]).flatMap((value, index) => (typeof value === "string" ? [{ const: value, title: names[index] }] : []));
  }
  const list = source["oneOf"] ?? source["anyOf"];
  return Array.isArray(list) ? objectsOf(list) : null;
}

function optionsOf(property: JsonRecord): { label: string; description?: string | null }[] {
  if (property["type"] === "boolean") return [{ label: YES }, { label: NO }];
  return (choicesOf(property) ?? []).flatMap((choice) => {
    const value = stringOf(choice["const"]);
    return value === null ? [] : [{ label: filledString(choice["title"]) ?? value, description: filledString(choice["description"]) }];
  });
}

function valueOf(property: JsonRecord, answers: readonly string[]): unknown {
  const [first] = answers;
  if (first === undefined) return undefined;
  const choices = choicesOf(property);
  const native = (label: string): string => stringOf(choices?.find((choice) => (filledString(choice["title"]) ?? choice["const"]) === label)?.["const"]) ?? label;
  switch (property["type"]) {
    case "array":
      return answers.map(native);
    case "boolean":
      return first === YES || first === "true";
    case "number":
    case "integer":
      return Number.isFinite(Number(first)) ? Number(first) : undefined;
    default:
      return native(first);
  }
}

