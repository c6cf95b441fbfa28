import type { InteractionPayload, Locale } from "./model.ts";

const COMMAND = "/_interaction";
const WORDS: Record<Locale, { confirm: string; choose: string; reply: string; answer: string }> = {
  zh: { confirm: "需要确认：", choose: "可选操作：", reply: "回复：", answer: "<回答>" },
  en: { confirm: "Confirmation needed:", choose: "Choices:", reply: "Reply with:", answer: "<answer>" },
};

/** The block that any text channel can show: the question, numbered choices, and the line to send for each. */
export function renderFallback(payload: InteractionPayload, locale: Locale): string {
  const words = WORDS[locale];
  const parts = [payload.title ?? words.confirm, payload.body];
  for (const field of payload.fields) {
    parts.push([field.label, ...field.options.map((option, i) => `${i + 1}. ${option.label}`)].join("\n"));
  }
  if (payload.actions.length > 0) parts.push([words.choose, ...payload.actions.map((action, i) => `${i + 1}. ${action.label}`)].join("\n"));
  const lines = [
    ...payload.fields.map((field) => `${COMMAND} ${payload.interactionId} ${payload.fields.length > 1 ? `${field.id}=` : ""}${field.options[0]?.value ?? words.answer}`),
    ...payload.actions.map((action) => `${COMMAND} ${payload.interactionId} ${action.value}`),
  ];
  parts.push([words.reply, ...lines].join("\n"));
  return parts.filter((part) => part !== "").join("\n\n");
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

/** What a person typed (a number, a value or a label; case does not matter) → the action's value; null if it is none. */
export function chooseAction(payload: InteractionPayload, typed: string): string | null {
  const text = typed.trim().toLowerCase();
  const byNumber = /^\d+$/.test(text) ? payload.actions[Number(text) - 1] : undefined;
  const action = byNumber ?? payload.actions.find((candidate) => candidate.value.toLowerCase() === text || candidate.label.toLowerCase() === text);
  return action?.value ?? null;
}
