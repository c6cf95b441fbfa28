import type { InteractionAnswer, InteractionRequest, QuestionSpec } from "@foldcast/protocol-core/harness";
import { readElicitationSchema } from "@foldcast/protocol-core/interaction";
import { isJsonObject } from "@foldcast/protocol-core/wire";
import { editsOf } from "../history/edits.ts";
import { filledString, objectOf, stringOf } from "@foldcast/adapter-kit";
import type { OpenCall } from "../history/turn-reader.ts";
import type { Frame, ProgramRequest } from "../program/frame.ts";

/** A question of the program as a person gets it, and their answer as the program gets it. */
export interface Ask {
  interaction: InteractionRequest;
  reply: (answer: InteractionAnswer) => Frame;
}

type Approval = Extract<InteractionRequest, { kind: "approval" }>;

const COMMAND_TOOLS: ReadonlySet<string> = new Set(["Bash", "PowerShell"]);
const DECLINED = "The user declined this.";
const SKIPPED = "The user did not answer.";

/** Null for a request that no person can answer. `calls` are those of the running turn, by id. */
export function askOf({ id, subtype, request }: ProgramRequest, calls: ReadonlyMap<string, OpenCall>): Ask | null {
  if (subtype === "elicitation") return elicitationAsk(id, request);
  if (subtype !== "can_use_tool") return null;
  const name = filledString(request["tool_name"]) ?? "tool";
  const input = objectOf(request["input"]);
  const callId = filledString(request["tool_use_id"]);
  // A call of a sub-agent is none of this turn's items.
  const call = callId === null ? undefined : calls.get(callId);
  const itemId = call === undefined ? {} : { itemId: call.itemId };
  if (name === "AskUserQuestion") return questionAsk(id, itemId, input);
  const { grant, offered } = sessionGrant(request);
  const base: Approval = {
    id, kind: "approval", about: "tool", ...itemId, title: filledString(request["title"]), reason: reasonOf(request),
    offers: ["accept", ...(offered ? ["acceptForSession" as const] : []), "decline", "cancel"],
  };
  return { interaction: { ...base, ...subjectOf(name, input, calls.get(callId ?? "")) }, reply: (answer) => approvalReply(answer, input, grant) };
}

function subjectOf(name: string, input: Frame, call: OpenCall | undefined): Partial<Approval> {
  if (COMMAND_TOOLS.has(name)) return { about: "command", command: stringOf(input["command"]) };
  const edits = editsOf(name, input, undefined, "");
  if (edits !== null) return { about: "fileChange", edits };
  // The program takes the plan out of the input before it asks.
  if (name === "ExitPlanMode") return { title: "Go on with this plan?", reason: filledString(input["plan"]) ?? filledString(objectOf(call?.input)["plan"]) };
  return { title: `Use ${name}?`, reason: Object.keys(input).length === 0 ? null : JSON.stringify(input, null, 2).slice(0, 4000) };
}

function reasonOf(request: Frame): string | null {
  // May hold colours of a terminal.
  return filledString(stringOf(request["decision_reason"])?.replace(/\u001b\[[0-9;]*m/g, "").trim());
}

/**
 * What "always" means here: the rules that the program suggests, for this session only, whatever place it suggests for
 * them; so nothing is written into the user's settings or repository. Where there are rules, wider suggestions (another
 * mode, further folders) are left out.
 */
function sessionGrant(request: Frame): { grant: Frame[]; offered: boolean } {
  const list = request["permission_suggestions"];
  const suggestions = Array.isArray(list) ? list.filter(isJsonObject) : [];
  const rules = suggestions.filter((suggestion) => suggestion["type"] === "addRules");
  const grant = (rules.length > 0 ? rules : suggestions).map((suggestion) => ({ ...suggestion, destination: "session" }));
  return { grant, offered: grant.length > 0 && request["suppress_always_allow_rule"] !== true };
}

function approvalReply(answer: InteractionAnswer, input: Frame, grant: readonly Frame[]): Frame {
  const decision = answer.kind === "approval" ? answer.decision : "decline";
  const text = answer.kind === "approval" ? filledString(answer.text) : null;
  switch (decision) {
    case "accept":
      return { behavior: "allow", updatedInput: input };
    case "acceptForSession":
      return { behavior: "allow", updatedInput: input, updatedPermissions: grant };
    case "decline":
      return { behavior: "deny", message: text ?? DECLINED };
    case "cancel":
      return { behavior: "deny", message: text ?? DECLINED, interrupt: true };
  }
}

function questionAsk(id: string, itemId: { itemId?: string }, input: Frame): Ask {
  const asked = (Array.isArray(input["questions"]) ? input["questions"] : []).filter(isJsonObject);
  const questions = asked.map((question, index): QuestionSpec => ({
    id: `q${index + 1}`,
    header: filledString(question["header"]),
    question: stringOf(question["question"]) ?? "",
    multiSelect: question["multiSelect"] === true,
    allowOther: true,
    options: (Array.isArray(question["options"]) ? question["options"] : []).filter(isJsonObject)
      .map((option) => ({ label: stringOf(option["label"]) ?? "", description: filledString(option["description"]) })),
  }));
  return {
    interaction: { id, kind: "question", ...itemId, questions },
    reply: (answer) => {
      const given = answer.kind === "question" ? answer.answers : {};
      // The program knows its questions by their text.
      const answers = Object.fromEntries(questions.flatMap((question) => {
        const chosen = given[question.id] ?? [];
        return chosen.length === 0 ? [] : [[question.question, chosen.join(", ")]];
      }));
      return Object.keys(answers).length === 0 ? { behavior: "deny", message: SKIPPED } : { behavior: "allow", updatedInput: { ...input, answers } };
    },
  };
}

/** An MCP server's own question, which the program passes on with MCP's own answers. */
function elicitationAsk(id: string, request: Frame): Ask | null {
  const base = { id, kind: "elicitation", server: filledString(request["mcp_server_name"]) ?? "", message: stringOf(request["message"]) ?? "" } as const;
  const reply = (answer: InteractionAnswer): Frame => (answer.kind !== "elicitation" ? NOBODY_ASKED : { action: answer.action, ...(answer.content === undefined ? {} : { content: answer.content }) });
  if (request["mode"] === "url") {
    const url = filledString(request["url"]);
    return url === null ? null : { interaction: { ...base, mode: "url", url, elicitationId: filledString(request["elicitation_id"]) ?? "" }, reply };
  }
  const schema = readElicitationSchema(request["requested_schema"] ?? {});
  return schema === null ? null : { interaction: { ...base, mode: "form", schema }, reply };
}

const NOBODY_ASKED: Frame = { action: "cancel" };

/** What the program gets for a question that cannot be put to anybody; null where it is told so as an error. */
export function answerOfNobody(subtype: string): Frame | null {
  if (subtype === "elicitation") return NOBODY_ASKED;
  return subtype === "can_use_tool" ? { behavior: "deny", message: DECLINED } : null;
}
