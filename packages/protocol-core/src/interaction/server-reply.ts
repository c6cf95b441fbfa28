import type { InteractionAnswer, InteractionRequest } from "../harness/index.ts";
import { isJsonObject } from "../wire/index.ts";
import type { ApprovalDecision, JsonValue, ServerRequestMethod, ServerRequestReply } from "../wire/index.ts";
import { refusal, withinOffers } from "./answer.ts";
import { APPROVAL_OPTIONS, APPROVAL_QUESTION } from "./server-request.ts";

/** What a client's result says. `empty` = it chose nothing: Desktop sends that by itself when nobody is there. */
export type ServerReplyReading =
  | { kind: "answer"; answer: InteractionAnswer; interrupt: boolean }
  | { kind: "empty" }
  | { kind: "unreadable" };

const UNREADABLE: ServerReplyReading = { kind: "unreadable" };
const approval = (decision: ApprovalDecision, interrupt = false, text?: string): ServerReplyReading =>
  ({ kind: "answer", answer: { kind: "approval", decision, ...(text === undefined ? {} : { text }) }, interrupt });

/** Reads the result of a client to a request of ours. Each kind of request has its own shape. */
export function fromServerReply(method: ServerRequestMethod, request: InteractionRequest, result: unknown): ServerReplyReading {
  if (!isJsonObject(result)) return UNREADABLE;
  if (method === "item/tool/requestUserInput") return fromAnswers(request, result["answers"]);
  if (request.kind !== "approval") return UNREADABLE;
  if (method === "item/permissions/requestApproval") return fromGrant(request.offers, result);
  switch (result["decision"]) {
    case "accept":
    case "acceptForSession":
      return approval(withinOffers(result["decision"], request.offers));
    case "decline":
      return approval(withinOffers("decline", request.offers));
    case "cancel":
      // Codex's own meaning of it: declined, and the turn ends.
      return approval(withinOffers("cancel", request.offers), true);
    default:
      return UNREADABLE;
  }
}

/** What is granted is granted whole, or not at all: a harness knows no half of a permission. */
function fromGrant(offers: readonly ApprovalDecision[], { permissions, scope }: Readonly<Record<string, unknown>>): ServerReplyReading {
  if (!isJsonObject(permissions) || (scope !== undefined && scope !== "turn" && scope !== "session")) return UNREADABLE;
  const granted = isJsonObject(permissions["network"]) || isJsonObject(permissions["fileSystem"]);
  return approval(withinOffers(granted ? (scope === "session" ? "acceptForSession" : "accept") : "decline", offers));
}

function fromAnswers(request: InteractionRequest, given: unknown): ServerReplyReading {
  if (!isJsonObject(given)) return UNREADABLE;
  const answers: Record<string, readonly string[]> = {};
  for (const [id, answer] of Object.entries(given)) {
    if (answer === null || answer === undefined) continue;
    const values: unknown = isJsonObject(answer) ? answer["answers"] : undefined;
    if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) return UNREADABLE;
    if (values.length > 0) answers[id] = values;
  }
  if (Object.keys(answers).length === 0) return { kind: "empty" };
  if (request.kind === "question") return { kind: "answer", answer: { kind: "question", answers }, interrupt: false };
  const values = answers[APPROVAL_QUESTION] ?? [];
  const option = APPROVAL_OPTIONS.find(({ label }) => values.includes(label));
  if (option !== undefined && option.decision !== "decline") return approval(withinOffers(option.decision, request.offers));
  // Anything else than a yes is a no, and its words are for the agent. The TUI marks added words with a prefix.
  const words = values.filter((value) => value !== option?.label).map((value) => value.replace(/^user_note:\s*/, "")).join("\n");
  return { kind: "answer", answer: refusal(request, words), interrupt: false };
}

/** The result that a client sends for this answer. The text of a refusal has no place in it. */
export function toServerReply(method: ServerRequestMethod, params: unknown, answer: InteractionAnswer): ServerRequestReply {
  const members: Readonly<Record<string, unknown>> = isJsonObject(params) ? params : {};
  if (answer.kind === "question") return { answers: Object.fromEntries(Object.entries(answer.answers).map(([id, values]) => [id, { answers: [...values] }])) };
  const { decision } = answer;
  if (method === "item/tool/requestUserInput") {
    const label = APPROVAL_OPTIONS.find((option) => option.decision === decision)?.label ?? "Deny";
    return { answers: { [APPROVAL_QUESTION]: { answers: answer.text === undefined ? [label] : [label, answer.text] } } };
  }
  if (method !== "item/permissions/requestApproval") return { decision };
  const yes = decision === "accept" || decision === "acceptForSession";
  const asked = isJsonObject(members["permissions"]) ? members["permissions"] : {};
  const permissions = yes ? Object.fromEntries(Object.entries(asked).filter(([, value]) => value != null)) : {};
  return { permissions: permissions as Record<string, JsonValue>, scope: decision === "acceptForSession" ? "session" : "turn" };
}
