import type { InteractionAnswer, InteractionRequest } from "../harness/index.ts";
import type { ApprovalDecision } from "../wire/index.ts";
import { chooseAction } from "./fallback.ts";
import type { InteractionField } from "./model.ts";
import { payloadOf } from "./payload.ts";

/** Answers to some questions of a form: question id → labels or text. */
export type FormAnswers = Readonly<Record<string, readonly string[]>>;

/** What a typed text does: it settles, it answers one question of several, or it fits nothing. */
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
export function refusal(request: InteractionRequest, text?: string): InteractionAnswer {
  if (request.kind === "question") return { kind: "question", answers: {} };
  const decision = withinOffers("decline", request.offers);
  return text === undefined || text === "" ? { kind: "approval", decision } : { kind: "approval", decision, text };
}

/**
 * What a person typed as the answer: for an approval a number, `approve`, `deny` (with words for the agent behind it)
 * or `always`; for a form an option's number, its label or free text, with `<question>=` in front where there are several.
 */
export function readTyped(request: InteractionRequest, typed: string, before: FormAnswers = {}): TypedAnswer {
  const payload = payloadOf(request, "", null);
  if (request.kind === "approval") {
    const expected = payload.actions.map(({ value }) => value).join(", ");
    const value = chooseAction(payload, typed);
    if (value === "approve") return { kind: "answer", answer: { kind: "approval", decision: "accept" } };
    if (value === "always") return { kind: "answer", answer: { kind: "approval", decision: "acceptForSession" } };
    const [word = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(typed)?.slice(1) ?? [];
    if (value === "deny") return { kind: "answer", answer: refusal(request) };
    return chooseAction(payload, word) === "deny" ? { kind: "answer", answer: refusal(request, rest.trim()) } : { kind: "unreadable", expected };
  }
  const field = fieldOf(payload.fields, typed, before);
  const values = field === null ? null : chosen(field.field, field.text);
  if (field === null || values === null) return { kind: "unreadable", expected: expectedOf(field === null ? payload.fields : [field.field]) };
  const answers = { ...before, [field.field.id]: values };
  const open = payload.fields.map(({ id }) => id).filter((id) => answers[id] === undefined);
  return open.length === 0 ? { kind: "answer", answer: { kind: "question", answers } } : { kind: "partial", answers, open };
}

function fieldOf(fields: readonly InteractionField[], typed: string, before: FormAnswers): { field: InteractionField; text: string } | null {
  const [only] = fields;
  for (const field of fields) {
    if (typed.startsWith(`${field.id}=`)) return { field, text: typed.slice(field.id.length + 1).trim() };
  }
  // A bare answer goes to the one question that is left.
  const left = fields.filter(({ id }) => before[id] === undefined);
  const field = fields.length === 1 ? only : left.length === 1 ? left[0] : undefined;
  return field === undefined ? null : { field, text: typed.trim() };
}

function chosen(field: InteractionField, text: string): readonly string[] | null {
  if (text === "") return null;
  const option = (part: string): string | undefined => {
    const byNumber = /^\d+$/.test(part) ? field.options[Number(part) - 1] : undefined;
    return (byNumber ?? field.options.find(({ label, value }) => label.toLowerCase() === part.toLowerCase() || value === part))?.value;
  };
  const whole = option(text);
  if (whole !== undefined) return [whole];
  if (field.multiple) {
    const parts = text.split(",").map((part) => option(part.trim()));
    if (parts.every((part) => part !== undefined)) return parts;
  }
  return field.freeText ? [text] : null;
}

function expectedOf(fields: readonly InteractionField[]): string {
  return fields.map(({ id, options, freeText }) => {
    const choices = [...options.map(({ label }) => label), ...(freeText ? ["a text"] : [])].join(", ");
    return fields.length > 1 ? `${id}=<${choices}>` : choices;
  }).join(" or ");
}
