import type { AgentRequest, ElicitationContent, InteractionAnswer } from "../harness/index.ts";
import { isJsonObject } from "../wire/index.ts";
import type { ApprovalDecision } from "../wire/index.ts";
import { readField } from "./elicitation.ts";
import { chooseAction } from "./fallback.ts";
import type { InteractionEvent, InteractionField, InteractionPayload } from "./model.ts";
import { payloadOf } from "./payload.ts";

/** Answers to some questions of a form: question id → labels or text. */
export type FormAnswers = Readonly<Record<string, readonly string[]>>;

/** What a typed text or an event does: it settles, it answers one question of several, or it fits nothing. */
export type TypedAnswer =
  | { kind: "answer"; answer: InteractionAnswer }
  | { kind: "partial"; answers: FormAnswers; open: readonly string[] }
  | { kind: "unreadable"; expected: string };

/**
 * The decision in what the harness offers: an offered narrower one in place of a wider one that it does not offer, never
 * the other way round. Where nothing fits, `decline`: adapters take it whatever they offer.
 */
export function withinOffers(decision: ApprovalDecision, offers: readonly ApprovalDecision[]): ApprovalDecision {
  if (offers.includes(decision)) return decision;
  if (decision === "acceptForSession" && offers.includes("accept")) return "accept";
  return !offers.includes("decline") && offers.includes("cancel") ? "cancel" : "decline";
}

/** An answer that permits nothing and chooses nothing. `text` tells the harness why. */
export function refusal(request: AgentRequest, text?: string): InteractionAnswer {
  if (request.kind === "question") return { kind: "question", answers: {} };
  if (request.kind === "elicitation") return { kind: "elicitation", action: "decline" };
  const decision = withinOffers("decline", request.offers);
  return text === undefined || text === "" ? { kind: "approval", decision } : { kind: "approval", decision, text };
}

/**
 * What a person typed as the answer: for an approval a number, `approve`, `deny` (with words for the agent behind it)
 * or `always`; for a form an option's number, its label or free text, for the first question that is open, or with
 * `<question>=` in front for any; an elicitation also takes `submit` and `deny`.
 */
export function readTyped(request: AgentRequest, typed: string, before: FormAnswers = {}): TypedAnswer {
  const payload = payloadOf(request, { interactionId: "", expiresAt: null, changes: [] });
  if (payload.kind === "approval") return readDecision(request, payload, typed);
  const { fields } = payload;
  const named = fields.find(({ id }) => typed.trimStart().startsWith(`${id}=`));
  if (named !== undefined) return readFieldText(request, payload, named, typed.trimStart().slice(named.id.length + 1), before);
  const action = request.kind === "elicitation" ? chooseAction({ actions: payload.actions }, /^\s*\d+\s*$/.test(typed) ? "" : typed) : null;
  if (action === "deny") return { kind: "answer", answer: refusal(request) };
  if (action === "submit") return submit(request, payload, before);
  const field = fields.find(({ id }) => !Object.hasOwn(before, id)) ?? fields[0];
  return field === undefined ? unreadable(fields) : readFieldText(request, payload, field, typed, before);
}

/**
 * What an event answers. `actionId` names a field of the form, whose answer `actionValue` is (a JSON list for several
 * choices); or it is `submit` with all fields as a JSON object; or the action's value counts as if it were typed.
 */
export function readEvent(request: AgentRequest, event: Pick<InteractionEvent, "actionId" | "actionValue" | "metadata">, before: FormAnswers = {}): TypedAnswer {
  const payload = payloadOf(request, { interactionId: "", expiresAt: null, changes: [] });
  const field = payload.fields.find(({ id }) => id === event.actionId);
  if (field !== undefined) {
    const list = field.multiple ? parseJson(event.actionValue) : null;
    return Array.isArray(list) ? take(request, payload, field, chosenList(field, list.map(String)), before) : readFieldText(request, payload, field, event.actionValue, before);
  }
  const whole = event.actionId === "submit" ? parseJson(event.actionValue) : null;
  if (!isJsonObject(whole)) {
    const { text } = event.metadata;
    return readTyped(request, text === undefined || text === "" ? event.actionValue : `${event.actionValue} ${text}`, before);
  }
  let answers = before;
  for (const one of payload.fields) {
    const given: unknown = Object.hasOwn(whole, one.id) ? whole[one.id] : undefined;
    if (given == null || given === "" || (Array.isArray(given) && given.length === 0)) continue;
    const values = Array.isArray(given) ? chosenList(one, given.map(String)) : isScalar(given) ? chosen(one, String(given)) : null;
    if (values === null || !fits(request, one, values)) return unreadable([one]);
    answers = { ...answers, [one.id]: values };
  }
  return submit(request, payload, answers);
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function readDecision(request: AgentRequest, payload: InteractionPayload, typed: string): TypedAnswer {
  const expected = payload.actions.map(({ value }) => value).join(", ");
  const yes = (decision: "accept" | "acceptForSession"): TypedAnswer =>
    ({ kind: "answer", answer: request.kind === "elicitation" ? { kind: "elicitation", action: "accept", ...(request.mode === "form" ? { content: {} } : {}) } : { kind: "approval", decision } });
  const [word = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(typed)?.slice(1) ?? [];
  switch (chooseAction(payload, typed)) {
    case "approve":
      return yes("accept");
    case "always":
      return yes("acceptForSession");
    case "deny":
      return { kind: "answer", answer: refusal(request) };
    default:
      return chooseAction(payload, word) === "deny" ? { kind: "answer", answer: refusal(request, rest.trim()) } : { kind: "unreadable", expected };
  }
}

function readFieldText(request: AgentRequest, payload: InteractionPayload, field: InteractionField, text: string, before: FormAnswers): TypedAnswer {
  return take(request, payload, field, chosen(field, text.trim()), before);
}

function take(request: AgentRequest, payload: InteractionPayload, field: InteractionField, values: readonly string[] | null, before: FormAnswers): TypedAnswer {
  if (values === null || !fits(request, field, values)) return unreadable([field], payload.fields.length > 1);
  const answers = { ...before, [field.id]: values };
  const open = payload.fields.map(({ id }) => id).filter((id) => !Object.hasOwn(answers, id));
  return open.length === 0 ? submit(request, payload, answers) : { kind: "partial", answers, open };
}

/** All that was answered, with the form's own defaults for the rest. */
function submit(request: AgentRequest, { fields }: InteractionPayload, answers: FormAnswers): TypedAnswer {
  if (request.kind === "question") return { kind: "answer", answer: { kind: "question", answers } };
  if (request.kind !== "elicitation" || request.mode !== "form") return { kind: "unreadable", expected: "" };
  let content: ElicitationContent = {};
  for (const field of fields) {
    const values = Object.hasOwn(answers, field.id) ? answers[field.id]! : field.default;
    const value = values === null ? null : readField(request.schema.properties[field.id]!, values);
    if (value !== null) content = { ...content, [field.id]: value };
    else if (field.required) return unreadable([field], fields.length > 1);
  }
  return { kind: "answer", answer: { kind: "elicitation", action: "accept", content } };
}

function fits(request: AgentRequest, field: InteractionField, values: readonly string[]): boolean {
  return request.kind !== "elicitation" || request.mode !== "form" || readField(request.schema.properties[field.id]!, values) !== null;
}

function chosen(field: InteractionField, text: string): readonly string[] | null {
  if (text === "") return null;
  const whole = optionOf(field, text);
  if (whole !== null) return [whole];
  if (field.multiple) {
    const parts = chosenList(field, text.split(",").map((part) => part.trim()));
    if (parts !== null) return parts;
  }
  return field.freeText ? [text] : null;
}

function chosenList(field: InteractionField, parts: readonly string[]): readonly string[] | null {
  const values = parts.map((part) => optionOf(field, part));
  if (values.every((value) => value !== null)) return values;
  return field.freeText && field.multiple ? parts : null;
}

/** The option's own words go before its number: a choice may be called 2. */
function optionOf({ options }: InteractionField, text: string): string | null {
  const found = options.find(({ value }) => value === text) ?? options.find(({ label, value }) => [label, value].some((word) => word.toLowerCase() === text.toLowerCase()))
    ?? (/^\d+$/.test(text) ? options[Number(text) - 1] : undefined);
  return found?.value ?? null;
}

function unreadable(fields: readonly InteractionField[], named = fields.length > 1): TypedAnswer {
  const expected = fields.map(({ id, type, options, freeText }) => {
    const free = type === "number" ? "a number" : type === "integer" ? "a whole number" : "a text";
    const choices = [...options.map(({ label }) => label), ...(freeText ? [free] : [])].join(", ");
    return named ? `${id}=<${choices}>` : choices;
  }).join(" or ");
  return { kind: "unreadable", expected };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
