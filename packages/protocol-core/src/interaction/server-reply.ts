import type { AgentRequest, InteractionAnswer } from "../harness/index.ts";
import { isJsonObject } from "../wire/index.ts";
import type { ApprovalDecision, JsonValue, PermissionsApprovalParams, ServerRequestMethod, ServerRequestReply } from "../wire/index.ts";
import { refusal, withinOffers } from "./answer.ts";
import { readContent } from "./elicitation.ts";
import { APPROVAL_OPTIONS, APPROVAL_QUESTION, toWirePermissions } from "./server-request.ts";

/** What a client's result says. `empty` = it chose nothing: Desktop sends that by itself when nobody is there. */
export type ServerReplyReading =
  /** `narrowed`: the client chose what is not on offer, and this is what it comes to. */
  | { kind: "answer"; answer: InteractionAnswer; interrupt: boolean; narrowed?: true }
  | { kind: "empty" }
  | { kind: "unreadable" };

const UNREADABLE: ServerReplyReading = { kind: "unreadable" };
const isNo = (decision: ApprovalDecision): boolean => decision === "decline" || decision === "cancel";

/**
 * The decision in what the harness offers. Stock dialogs for file changes and permissions list more than that (Codex
 * 0.171: "don't ask again for these files" stands in every one), since the wire has no list for them.
 */
function decided(chosen: ApprovalDecision, offers: readonly ApprovalDecision[], interrupt = false): ServerReplyReading {
  const decision = withinOffers(chosen, offers);
  return { kind: "answer", answer: { kind: "approval", decision }, interrupt, ...(decision === chosen || (isNo(decision) && isNo(chosen)) ? {} : { narrowed: true }) };
}

/** Reads the result of a client to a request of ours. Each kind of request has its own shape. */
export function fromServerReply(method: ServerRequestMethod, request: AgentRequest, result: unknown): ServerReplyReading {
  if (!isJsonObject(result)) return UNREADABLE;
  if (method === "item/tool/requestUserInput") return fromAnswers(request, result["answers"]);
  if (method === "mcpServer/elicitation/request") return fromElicitation(request, result);
  if (request.kind !== "approval") return UNREADABLE;
  if (method === "item/permissions/requestApproval") return fromGrant(request, result);
  switch (result["decision"]) {
    case "accept":
    case "acceptForSession":
      return decided(result["decision"], request.offers);
    case "decline":
      return decided("decline", request.offers);
    case "cancel":
      // Codex's own meaning of it: declined, and the turn ends.
      return decided("cancel", request.offers, true);
    default:
      return UNREADABLE;
  }
}

/**
 * What is granted is granted whole, or not at all: a harness knows no half of a permission. A grant that leaves out
 * part of what was asked for is therefore a no.
 */
function fromGrant(request: Extract<AgentRequest, { kind: "approval" }>, { permissions, scope, strictAutoReview }: Readonly<Record<string, unknown>>): ServerReplyReading {
  if (!isJsonObject(permissions) || (scope !== undefined && scope !== "turn" && scope !== "session")) return UNREADABLE;
  // Granted under a condition that no harness here can keep (an entry of the 0.171 TUI): without it, it would be more than was granted.
  if (strictAutoReview === true) return { kind: "answer", answer: refusal(request), interrupt: false, narrowed: true };
  const granted = coversAll(toWirePermissions(request.permissions ?? { write: request.edits?.map(({ path }) => path) ?? [] }), permissions);
  return decided(granted ? (scope === "session" ? "acceptForSession" : "accept") : "decline", request.offers);
}

function coversAll(asked: PermissionsApprovalParams["permissions"], { network, fileSystem }: Readonly<Record<string, unknown>>): boolean {
  if (asked.network !== null && (!isJsonObject(network) || network["enabled"] === false)) return false;
  if (asked.network?.enabled === true && isJsonObject(network) && network["enabled"] !== true) return false;
  if (asked.fileSystem === null) return true;
  if (!isJsonObject(fileSystem)) return false;
  const entries: unknown[] = Array.isArray(fileSystem["entries"]) ? fileSystem["entries"] : [];
  const may = (access: "read" | "write", path: string): boolean => {
    const list: unknown = fileSystem[access];
    return (Array.isArray(list) && list.includes(path))
      || entries.some((entry) => isJsonObject(entry) && entry["access"] === access && isJsonObject(entry["path"]) && entry["path"]["path"] === path);
  };
  return (asked.fileSystem.write ?? []).every((path) => may("write", path)) && (asked.fileSystem.read ?? []).every((path) => may("read", path) || may("write", path));
}

function fromElicitation(request: AgentRequest, { action, content }: Readonly<Record<string, unknown>>): ServerReplyReading {
  if (request.kind !== "elicitation") return UNREADABLE;
  const answer = (given: InteractionAnswer): ServerReplyReading => ({ kind: "answer", answer: given, interrupt: false });
  // `cancel` is MCP's own here: nobody decided. It does not end the turn.
  if (action === "decline" || action === "cancel") return answer({ kind: "elicitation", action });
  if (action !== "accept") return UNREADABLE;
  if (request.mode === "url") return answer({ kind: "elicitation", action });
  const read = readContent(request.schema, content);
  // Measured on the 0.171 TUI: a form of several types has no fields there, only a yes, and comes back without content.
  if (read === null && content == null) return { kind: "empty" };
  return read === null ? UNREADABLE : answer({ kind: "elicitation", action, content: read });
}

function fromAnswers(request: AgentRequest, given: unknown): ServerReplyReading {
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
  if (request.kind !== "approval") return UNREADABLE;
  const values = answers[APPROVAL_QUESTION] ?? [];
  const option = APPROVAL_OPTIONS.find(({ label }) => values.includes(label));
  if (option !== undefined && option.decision !== "decline") return decided(option.decision, request.offers);
  // Anything else than a yes is a no, and its words are for the agent. The TUI marks added words with a prefix.
  const words = values.filter((value) => value !== option?.label).map((value) => value.replace(/^user_note:\s*/, "")).join("\n");
  return { kind: "answer", answer: refusal(request, words), interrupt: false };
}

/** The result that a client sends for this answer. The text of a refusal has no place in it. */
export function toServerReply(method: ServerRequestMethod, params: unknown, answer: InteractionAnswer): ServerRequestReply {
  const members: Readonly<Record<string, unknown>> = isJsonObject(params) ? params : {};
  if (answer.kind === "question") return { answers: Object.fromEntries(Object.entries(answer.answers).map(([id, values]) => [id, { answers: [...values] }])) };
  if (answer.kind === "elicitation") return { action: answer.action, content: answer.content ?? null };
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
