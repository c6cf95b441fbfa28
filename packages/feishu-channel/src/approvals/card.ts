import { buttonsOf, type InteractionField, type InteractionPayload, planInteraction, renderFallback } from "@foldcast/protocol-core/interaction";
import { type Locale, previewText } from "@foldcast/protocol-core/tools";
import type { CardDocument } from "../platform/port.ts";
import { maskMail } from "../card/index.ts";
import { plainInline, plainText } from "../card/markdown/inline.ts";
import { codeBlock } from "../card/markdown/code.ts";
import { CHANNEL_TEXTS } from "../channel/texts.ts";

/** What a Feishu card can do. */
const CAPABILITIES = { interactiveButtons: true, forms: true, messageUpdate: true, markdownCards: true } as const;
const MAX_OPTIONS = 50;
/** Characters of a button that others stand beside. */
const SHORT_LABEL = 12;
const BODY_LIMITS = { chars: 6_000, lines: 120 };

export interface CardView {
  readonly key: string;
  readonly payload: InteractionPayload;
  readonly locale: Locale;
  /** In words; null while it waits. */
  readonly settled: { readonly outcome: string; readonly by: string | null } | null;
  readonly expiresInMinutes: number | null;
}

/** The value of a button: exactly these three. */
function valueOf(key: string, actionId: string, actionValue: string): Readonly<Record<string, string>> {
  return { interaction_id: key, action_id: actionId, action_value: actionValue };
}

/** An interaction as a card of its own; settled, it has no buttons and says what became of it. */
export function interactionCard({ key, payload, locale, settled, expiresInMinutes }: CardView): CardDocument {
  const texts = CHANNEL_TEXTS[locale];
  const elements: object[] = [...bodyElements(payload)];
  if (settled === null) {
    elements.push(...(planInteraction(payload, CAPABILITIES).widgets === "form" ? [formElement(key, payload, locale)] : buttonElements(key, payload)));
    if (expiresInMinutes !== null) elements.push({ tag: "markdown", content: payload.kind === "approval" ? texts.expires(expiresInMinutes) : texts.goodFor(expiresInMinutes), text_size: "notation" });
  } else {
    elements.push(...payload.fields.map((field) => ({ tag: "markdown", content: `**${plainInline(field.label)}**` })));
    const who = settled.by === null ? "" : ` · ${texts.settledBy(settled.by)}`;
    elements.push({ tag: "markdown", content: plainInline(`${settled.outcome}${who}`) });
  }
  const title = payload.title ?? (settled !== null ? settled.outcome : payload.kind === "approval" ? texts.waitsForApproval : texts.waitsFor);
  const card = {
    schema: "2.0" as const,
    config: { update_multi: true, enable_forward_interaction: false, summary: { content: title } },
    header: { title: { tag: "plain_text", content: previewText(title.replaceAll(/\s+/g, " "), { chars: 80, lines: 1 }).text }, template: settled !== null ? "grey" : payload.kind === "command" ? "blue" : "orange" },
    body: { elements },
  };
  return card;
}

/** The same as a message of text, where Feishu takes no card: with the line to send for each choice. */
export function interactionText(key: string, payload: InteractionPayload, locale: Locale): string {
  if (payload.kind !== "command") return plainText(renderFallback({ ...payload, interactionId: key }, locale));
  // What the channel itself puts up stands for commands, which are typed as they are.
  return plainText([payload.title ?? "", payload.body, ...payload.actions.map(({ label, value }) => `${label}: ${value}`)].filter((line) => line !== "").join("\n"));
}

/** Without addresses of people. What comes back from a button or a form stays as it is. */
export function maskedPayload(payload: InteractionPayload): InteractionPayload {
  const hide = (text: string | null): string | null => (text === null ? null : maskMail(text));
  return {
    ...payload, title: hide(payload.title), body: maskMail(payload.body), actions: payload.actions.map((action) => ({ ...action, label: maskMail(action.label) })),
    fields: payload.fields.map((field) => ({ ...field, label: maskMail(field.label), description: hide(field.description), options: field.options.map((option) => ({ ...option, label: maskMail(option.label) })) })),
  };
}

function bodyElements({ body, kind }: InteractionPayload): object[] {
  if (body.trim() === "") return [];
  if (kind === "command") return [{ tag: "markdown", content: body.split("\n").map((line) => `- ${plainInline(line)}`).join("\n") }];
  const { text, limit } = previewText(body, BODY_LIMITS);
  // Commands, folders and diffs: shown as they are, obeyed by nobody.
  const elements: object[] = [{ tag: "markdown", content: codeBlock(text, null) }];
  if (limit !== null) elements.push({ tag: "markdown", content: "…", text_size: "notation" });
  return elements;
}

function buttonElements(key: string, payload: InteractionPayload): object[] {
  const questions = payload.fields.map((field) => ({ tag: "markdown", content: fieldText(field) }));
  const buttons = buttonsOf(payload).map(({ label, actionId, actionValue, style }) => ({
    tag: "button",
    text: { tag: "plain_text", content: previewText(label, { chars: 95, lines: 1 }).text },
    type: style,
    behaviors: [{ type: "callback", value: valueOf(key, actionId, actionValue) }],
  }));
  if (buttons.length === 0) return questions;
  // Long ones, such as titles of threads, one below the other.
  if (buttons.length > 4 && buttons.some(({ text }) => text.content.length > SHORT_LABEL)) return [...questions, ...buttons];
  return [...questions, { tag: "column_set", flex_mode: "flow", horizontal_spacing: "8px", columns: buttons.map((button) => ({ tag: "column", width: "auto", elements: [button] })) }];
}

function fieldText({ label, description }: InteractionField): string {
  return [`**${plainInline(label)}**`, ...(description === null ? [] : [plainInline(description)])].join("\n\n");
}

/** Form inputs are named by their place: ids of questions may hold anything. `f` chooses, `t` is written. */
function formElement(key: string, payload: InteractionPayload, locale: Locale): object {
  const texts = CHANNEL_TEXTS[locale];
  const elements = payload.fields.flatMap((field, index) => fieldElements(field, index, locale));
  const buttons = formActions(payload, texts.submit).map(({ id, label, value, style }, index) => ({
    tag: "button",
    name: `b${index}`,
    form_action_type: "submit",
    text: { tag: "plain_text", content: previewText(label, { chars: 95, lines: 1 }).text },
    type: style,
    behaviors: [{ type: "callback", value: valueOf(key, id, value) }],
  }));
  return { tag: "form", name: "form", elements: [...elements, ...buttons] };
}

function formActions({ actions }: InteractionPayload, submit: string): InteractionPayload["actions"] {
  return actions.length > 0 ? actions : [{ id: "submit", label: submit, value: "submit", style: "primary" }];
}

/** Whether the card has a button of this value; any other was made by somebody else. */
export function hasButton(payload: InteractionPayload, actionId: string, actionValue: string): boolean {
  if (planInteraction(payload, CAPABILITIES).widgets === "form") return formActions(payload, "").some(({ id, value }) => id === actionId && value === actionValue);
  return buttonsOf(payload).some((button) => button.actionId === actionId && button.actionValue === actionValue);
}

function fieldElements(field: InteractionField, index: number, locale: Locale): object[] {
  const texts = CHANNEL_TEXTS[locale];
  const elements: object[] = [{ tag: "markdown", content: fieldText(field) }];
  const options = field.options.slice(0, MAX_OPTIONS).map(({ label, value }) => ({ text: { tag: "plain_text", content: previewText(label, { chars: 95, lines: 1 }).text }, value }));
  const initial = field.default?.[0];
  if (options.length > 0) {
    elements.push({ tag: field.multiple ? "multi_select_static" : "select_static", name: `f${index}`, placeholder: { tag: "plain_text", content: texts.choose }, options, ...(!field.multiple && initial !== undefined ? { initial_option: initial } : {}) });
  }
  if (field.freeText || options.length === 0) {
    elements.push({ tag: "input", name: `t${index}`, placeholder: { tag: "plain_text", content: options.length > 0 ? texts.other : texts.write }, max_length: 1000, ...(options.length === 0 && initial !== undefined ? { default_value: initial } : {}) });
  }
  return elements;
}

/** The form's answers by question id; what is written goes before what is chosen. */
export function formAnswers(payload: InteractionPayload, values: Readonly<Record<string, unknown>>): Record<string, string | string[]> {
  const answers: Record<string, string | string[]> = {};
  for (const [index, field] of payload.fields.entries()) {
    const written = values[`t${index}`];
    const chosen = values[`f${index}`];
    if (typeof written === "string" && written.trim() !== "") answers[field.id] = written.trim();
    else if (Array.isArray(chosen) && chosen.length > 0) answers[field.id] = chosen.map(String);
    else if (typeof chosen === "string" && chosen !== "") answers[field.id] = chosen;
  }
  return answers;
}
