import type { InteractionField, InteractionKind, InteractionPayload, Locale } from "./model.ts";

const COMMAND = "/_interaction";
type Words = Record<"choose" | "reply" | "answer" | "optional" | "default", string> & { head: Record<InteractionKind, string> };
const WORDS: Record<Locale, Words> = {
  zh: {
    head: { approval: "需要确认：", formSubmit: "需要回答：", quickReply: "", command: "" },
    choose: "可选操作：", reply: "回复：", answer: "<回答>", optional: "可选", default: "默认",
  },
  en: {
    head: { approval: "Confirmation needed:", formSubmit: "Answer needed:", quickReply: "", command: "" },
    choose: "Choices:", reply: "Reply with:", answer: "<answer>", optional: "optional", default: "default",
  },
};

/** The block that any text channel can show: the question, numbered choices, and the line to send for each. */
export function renderFallback(payload: InteractionPayload, locale: Locale): string {
  const words = WORDS[locale];
  const { interactionId, fields, actions } = payload;
  const parts = [payload.title ?? words.head[payload.kind], payload.body, ...fields.map((field) => renderField(field, locale))];
  // In a form a number is an option of its question.
  if (fields.length === 0 && actions.length > 0) parts.push([words.choose, ...actions.map((action, i) => `${i + 1}. ${action.label}`)].join("\n"));
  const lines = [
    ...fields.flatMap((field) => (fields.length === 1 ? answersOf(field, words.answer) : [`${field.id}=${field.options[0]?.value ?? words.answer}`])),
    ...actions.map(({ value }) => value),
  ];
  if (lines.length > 0) parts.push([words.reply, ...lines.map((line) => `${COMMAND} ${interactionId} ${line}`)].join("\n"));
  return parts.filter((part) => part !== "").join("\n\n");
}

/** All that may be answered to the only question. */
function answersOf({ options, freeText }: InteractionField, text: string): string[] {
  return [...options.map(({ value }) => value), ...(freeText ? [text] : [])];
}

/** One question of a form with its numbered options. */
export function renderField(field: InteractionField, locale: Locale): string {
  const words = WORDS[locale];
  const notes = [...(field.required ? [] : [words.optional]), ...(field.default === null ? [] : [`${words.default}: ${field.default.join(", ")}`])];
  const label = `${field.label}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
  return [label, ...(field.description === null ? [] : [field.description]), ...field.options.map((option, i) => `${i + 1}. ${option.label}`)].join("\n");
}

export interface InteractionCommand {
  interactionId: string;
  /** All that stands after the id, trimmed; may be empty. */
  value: string;
}

/** `/_interaction <id> <value>`; null for any other text. Such a text must never reach a model. */
export function parseInteractionCommand(text: string): InteractionCommand | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith(COMMAND)) return null;
  const rest = trimmed.slice(COMMAND.length);
  if (rest !== "" && !/^\s/.test(rest)) return null;
  const [, interactionId = "", value = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  return { interactionId, value };
}

/** What a person typed (a value, a label or a number; case does not matter) → the action's value; null if it is none. */
export function chooseAction({ actions }: Pick<InteractionPayload, "actions">, typed: string): string | null {
  const text = typed.trim().toLowerCase();
  const action = actions.find(({ value, label }) => value.toLowerCase() === text || label.toLowerCase() === text) ?? (/^\d+$/.test(text) ? actions[Number(text) - 1] : undefined);
  return action?.value ?? null;
}
